/* The C library in WebAssembly: calls its exports by prototypes.js, as koffi does for Node.js. Arguments that are
 * pointers are copied to the module's stack (large ones: to its heap) for the call, and copied back where they are
 * results. */
import MXNetError from './error.js';

const ON_STACK = 16384; // bytes of an argument; a larger one goes to the heap
const encoder = new TextEncoder(), decoder = new TextDecoder();
/** Bytes and typed array of what pointers may point to; pointers and handles are integers of 32 bits. */
const KINDS = {
  'int': [4, 'Int32Array'], 'uint32_t': [4, 'Uint32Array'], 'size_t': [4, 'Uint32Array'], 'handle': [4, 'Uint32Array'],
  'void *': [4, 'Uint32Array'], 'char *': [4, 'Uint32Array'], 'int64_t': [8, 'BigInt64Array'],
  'uint64_t': [8, 'BigUint64Array'],
};

/** What front.js asks for, over a module's instance. */
export function libraryOf(exports, prototypes) {
  const {memory, __stack_pointer: stack, malloc, free} = exports;
  let views = {buffer: null};

  /** Typed arrays over the module's memory. When it grows, its buffer is another one, and the arrays are made anew. */
  function view() {
    if (views.buffer !== memory.buffer) {
      const buffer = memory.buffer;
      views = {buffer};
      for (const kind of [Uint8Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array])
        views[kind.name] = new kind(buffer);
    }
    return views;
  }

  function text(pointer) {
    const bytes = view().Uint8Array;
    return pointer === 0 ? null : decoder.decode(bytes.slice(pointer, bytes.indexOf(0, pointer)));
  }

  function list(pointer, type, count) {
    if (count === 0) return [];
    const [size, array] = KINDS[type], first = pointer / size;
    const found = Array.from(view()[array].subarray(first, first + count));
    return type === 'char *' ? found.map(text) : found;
  }

  /* Room for the arguments of the calls that run, innermost last. */
  function room(bytes, owned) {
    const size = (bytes + 15) & ~15;
    if (size <= ON_STACK && stack.value - size >= half) return (stack.value -= size);
    const at = malloc(size) >>> 0;
    if (at === 0) throw new MXNetError(`out of memory: ${bytes} bytes for an argument`);
    owned.push(at);
    return at;
  }

  function putBytes(bytes, end, owned) {
    const at = room(bytes.length + end, owned), to = view().Uint8Array;
    to.set(bytes, at);
    if (end) to[at + bytes.length] = 0;
    return at;
  }
  const putText = (value, owned) => putBytes(encoder.encode(value), 1, owned);

  function putList(type, values, owned) {
    const [size, array] = KINDS[type], at = room(Math.max(1, values.length) * size, owned), to = view()[array];
    const wide = size === 8;
    for (let i = 0; i < values.length; i++) to[at / size + i] = wide ? BigInt(values[i]) : Number(values[i]);
    return at;
  }

  function takeList(type, at, into) {
    const [size, array] = KINDS[type], from = view()[array];
    for (let i = 0; i < into.length; i++) into[i] = from[at / size + i];
    if (type === 'void *') into.forEach((each, i) => { into[i] = each || null; });
  }

  /** What an argument does before and after a call, by its declaration. */
  function argument(declaration) {
    const back = /_Out_|_Inout_/.test(declaration), into = /_Inout_/.test(declaration);
    const [, base, stars] = /(?:_\w+_ )?(?:const )?(\w+) (\**)\w+$/.exec(declaration);
    if (stars === '') return {put: /64_t/.test(base) ? (value) => BigInt(value) : (value) => value};
    if (base === 'char') {
      const putTexts = (values, owned) => putList('char *', values.map((each) => putText(each, owned)), owned);
      return {put: stars === '*' ? putText : putTexts};
    }
    if (base === 'void' && stars === '*') { // a typed array
      const bytesOf = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      if (!back) return {put: (value, owned) => putBytes(bytesOf(value), 0, owned)};
      return {put: (value, owned) => room(value.byteLength, owned),
        take: (at, value) => bytesOf(value).set(view().Uint8Array.subarray(at, at + value.byteLength))};
    }
    const type = base === 'void' ? 'void *' : base;
    const pointers = (values, owned) =>
      values.map((each) => (ArrayBuffer.isView(each) ? putList('handle', each, owned) : each || 0));
    const put = (value, owned) => (back && !into ? room(value.length * KINDS[type][0], owned)
      : putList(type, type === 'void *' ? pointers(value, owned) : value, owned));
    return back ? {put, take: (at, value) => takeList(type, at, value)} : {put};
  }

  function functionOf(prototype) {
    const [, result, name, declared] = /^(.*?)(\w+)\((.*)\)$/.exec(prototype), call = exports[name];
    const given = declared === '' ? [] : declared.split(', ').map(argument);
    if (!call) throw new Error(`mxlite: the module has no ${name}`);
    return (...values) => {
      const before = stack.value, owned = [];
      try {
        const at = values.map((value, i) => (value === null ? 0 : given[i].put(value, owned)));
        const status = call(...at);
        given.forEach(({take}, i) => { if (take && values[i] !== null) take(at[i], values[i]); });
        if (result === 'handle ') return status >>> 0;
        return result === 'const char *' ? text(status >>> 0) : status;
      } catch (problem) {
        if (!(problem instanceof WebAssembly.RuntimeError)) throw problem;
        throw new MXNetError(`${name}: the module stopped: ${problem.message}`, {cause: problem});
      } finally {
        owned.forEach((each) => free(each));
        stack.value = before;
      }
    };
  }

  const C = {};
  for (const prototype of prototypes) C[/(\w+)\(/.exec(prototype)[1]] = functionOf(prototype);
  const half = stack.value / 2; // arguments take at most half of the stack: the functions need the other half
  const check = (status) => { if (status !== 0) throw new MXNetError(C.MXGetLastError()); };
  return {C, MXNetError, check, list, text, handles: (numbers) => Uint32Array.from(numbers)};
}
