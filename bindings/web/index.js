/* mxlite in WebAssembly, for browsers and Node.js: `const mx = await load()`. The arrays, operators, gradients and
 * networks are those of the package for Node.js (front.js, graphs.js). */
import front from './front.js';
import graphs from './graphs.js';
import prototypes from './prototypes.js';
import {libraryOf} from './library.js';
import {Files, wasi} from './wasi.js';

/* A module of one function that has a vector instruction. */
const SIMD = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0,
  253, 15, 253, 98, 11);

const HAVE_SIMD = 'Chrome 91, Firefox 89, Safari 16.4 and Node.js 16.4';

/** The bytes behind an address, a file in Node.js. */
async function fetchBytes(source) {
  const url = new URL(source, globalThis.location ? globalThis.location.href : import.meta.url);
  if (url.protocol === 'file:' && globalThis.process) return (await import('node:fs/promises')).readFile(url);
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`mxlite: ${url} cannot be had: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}

/** What was compressed with gzip, as it was: a plain file server does not say that it is. */
async function plain(bytes) {
  const array = new Uint8Array(bytes.buffer || bytes, bytes.byteOffset || 0, bytes.byteLength);
  if (array[0] !== 0x1f || array[1] !== 0x8b) return array;
  try {
    return await new Response(new Blob([array]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
  } catch (problem) {
    throw new Error(`mxlite: the compressed module is damaged: ${problem.message}`, {cause: problem});
  }
}

/** Loads the library. Each call gives one of its own, with its own memory.
 * @param {string|URL|ArrayBuffer|Uint8Array|WebAssembly.Module} source mxlite.wasm: where it is, its bytes (they may be
 *   compressed with gzip), or the compiled module
 * @param {{env?: Object<string, string>}} options env: what MXLITE_... variables say */
export async function load(source = new URL('./mxlite.wasm', import.meta.url), {env = {}} = {}) {
  if (typeof WebAssembly !== 'object' || !WebAssembly.validate(SIMD))
    throw new Error(`mxlite: this browser has no WebAssembly with vectors (SIMD): ${HAVE_SIMD} have it`);
  let module = source;
  if (!(source instanceof WebAssembly.Module)) {
    const bytes = await plain(typeof source === 'string' || source instanceof URL ? await fetchBytes(source) : source);
    try {
      module = await WebAssembly.compile(bytes);
    } catch (problem) {
      throw new Error(`mxlite: this is not the module mxlite.wasm: ${problem.message}`, {cause: problem});
    }
  }
  let exports = null;
  const files = new Files(), imports = wasi(() => exports.memory, {files, env});
  ({exports} = await WebAssembly.instantiate(module, imports));
  const library = libraryOf(exports, prototypes);
  exports._initialize();
  const arrays = front(library);
  return {...arrays, ...graphs(library, arrays), files, memoryBytes: () => exports.memory.buffer.byteLength};
}
