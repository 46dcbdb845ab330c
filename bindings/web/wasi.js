/* The system that the module sees: files in memory, the clock, the environment. These are the functions of WASI preview
 * 1 that the module imports; each returns an errno of WASI. */

const OK = 0, BADF = 8, INVAL = 28, NOENT = 44, NOSYS = 52, DIRECTORY = 3, REGULAR = 4, ROOT = 3;
const encoder = new TextEncoder(), decoder = new TextDecoder();

/** Files by name; a leading slash or ./ is no part of it. */
export class Files {
  #all = new Map();

  static #name(path) { return String(path).replace(/^(\.?\/)+/, ''); }

  /** @param {string} path @param {string|ArrayBuffer|Uint8Array} content copied */
  write(path, content) {
    const bytes = typeof content === 'string' ? encoder.encode(content) : new Uint8Array(content).slice();
    this.#all.set(Files.#name(path), {bytes, size: bytes.length});
  }

  /** The bytes of a file, as a copy. */
  read(path) {
    const file = this.#all.get(Files.#name(path));
    if (!file) throw new Error(`no file '${path}'`);
    return file.bytes.slice(0, file.size);
  }

  list() { return [...this.#all.keys()]; }
  remove(path) { return this.#all.delete(Files.#name(path)); }

  /* For wasi(), below. */
  entry(path, make = false) {
    const name = Files.#name(path);
    if (make && !this.#all.has(name)) this.#all.set(name, {bytes: new Uint8Array(0), size: 0});
    return this.#all.get(name);
  }

  move(from, to) {
    this.#all.set(Files.#name(to), this.entry(from));
    this.remove(from);
  }
}

/** Makes a file's room at least `size` bytes. */
function grow(file, size) {
  if (size > file.bytes.length) {
    const larger = new Uint8Array(Math.max(size, 2 * file.bytes.length));
    larger.set(file.bytes.subarray(0, file.size));
    file.bytes = larger;
  }
  file.size = Math.max(file.size, size);
}

/** The imports of a module. `memory()` returns its memory; it is called once the module has been made. */
export function wasi(memory, {files, env}) {
  const open = new Map([[ROOT, {kind: DIRECTORY}]]);
  const data = () => new DataView(memory().buffer), u32 = (at, value) => data().setUint32(at, value, true);
  const bytes = (at, size) => new Uint8Array(memory().buffer, at, size);
  const text = (at, size) => decoder.decode(bytes(at, size).slice());
  const variables = Object.entries(env).map(([name, value]) => encoder.encode(`${name}=${value}\0`));

  /** Calls `move(bytes of the module)` for each buffer of a list; it returns how many it moved. */
  function each(buffers, count, result, move) {
    let moved = 0;
    for (let i = 0; i < count; i++) {
      const at = data().getUint32(buffers + 8 * i, true), size = data().getUint32(buffers + 8 * i + 4, true);
      const n = move(bytes(at, size));
      moved += n;
      if (n < size) break;
    }
    u32(result, moved);
    return OK;
  }

  const system = {
    environ_sizes_get(count, size) {
      u32(count, variables.length);
      u32(size, variables.reduce((sum, each) => sum + each.length, 0));
      return OK;
    },
    environ_get(table, at) {
      for (const each of variables) {
        u32(table, at);
        bytes(at, each.length).set(each);
        table += 4;
        at += each.length;
      }
      return OK;
    },
    clock_time_get(id, precision, result) {
      const now = id === 0 ? Date.now() : performance.now();
      data().setBigUint64(result, BigInt(Math.round(now * 1e6)), true);
      return OK;
    },
    proc_exit(code) { throw new WebAssembly.RuntimeError(`exit(${code})`); },
    fd_close(fd) { return fd > ROOT && open.delete(fd) ? OK : BADF; },
    fd_prestat_get(fd, result) {
      if (fd !== ROOT) return BADF;
      u32(result, 0);
      u32(result + 4, 1);
      return OK;
    },
    fd_prestat_dir_name(fd, at, size) {
      bytes(at, size).set(encoder.encode('/').subarray(0, size));
      return OK;
    },
    fd_fdstat_get(fd, result) {
      if (!open.has(fd)) return BADF;
      bytes(result, 24).fill(0);
      bytes(result, 1)[0] = open.get(fd).kind;
      data().setBigUint64(result + 8, ~0n, true);
      data().setBigUint64(result + 16, ~0n, true);
      return OK;
    },
    fd_fdstat_set_flags: (fd) => (open.has(fd) ? OK : BADF),
    fd_read(fd, buffers, count, result) {
      const own = open.get(fd);
      if (!own || !own.file) return BADF;
      return each(buffers, count, result, (to) => {
        const {bytes: all, size} = own.file;
        const part = all.subarray(Math.min(own.at, size), Math.min(size, own.at + to.length));
        to.set(part);
        own.at += part.length;
        return part.length;
      });
    },
    fd_write(fd, buffers, count, result) {
      const own = open.get(fd);
      if (!own || !own.file) return BADF;
      return each(buffers, count, result, (from) => {
        if (own.append) own.at = own.file.size;
        grow(own.file, own.at + from.length);
        own.file.bytes.set(from, own.at);
        own.at += from.length;
        return from.length;
      });
    },
    fd_seek(fd, offset, whence, result) {
      const own = open.get(fd);
      if (!own || !own.file) return BADF;
      const at = [0, own.at, own.file.size][whence] + Number(offset);
      if (!(at >= 0)) return INVAL;
      own.at = at;
      data().setBigUint64(result, BigInt(at), true);
      return OK;
    },
    path_open(dir, follow, path, size, flags, rights, inherited, fdflags, result) {
      const name = text(path, size);
      if (name === '' || name === '.') return flags & 2 ? NOSYS : 31; // a folder
      const file = files.entry(name, (flags & 1) !== 0);
      if (!file) return NOENT;
      if (flags & 8) file.size = 0;
      let fd = ROOT + 1;
      while (open.has(fd)) fd++;
      open.set(fd, {kind: REGULAR, file, at: 0, append: (fdflags & 1) !== 0});
      u32(result, fd);
      return OK;
    },
    path_unlink_file: (dir, path, size) => (files.remove(text(path, size)) ? OK : NOENT),
    path_remove_directory: () => NOENT,
    path_rename(dir, from, fromSize, toDir, to, toSize) {
      if (!files.entry(text(from, fromSize))) return NOENT;
      files.move(text(from, fromSize), text(to, toSize));
      return OK;
    },
  };
  return {wasi_snapshot_preview1: system};
}
