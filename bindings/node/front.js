'use strict';
/* mxlite for JavaScript: NDArray, operators by name with keyword parameters, recording, gradients, files. The packages
 * for Node.js and for WebAssembly share this file; each passes its own `library`, through which this file reaches C. It
 * has `C`, the functions of prototypes.js; `check(status)`, which throws the library's message as an MXNetError; `list`
 * and `text`, which read what a pointer points to; and `handles`, which makes what a pointer to handles points to.
 *
 * Arrays free themselves when the collector finds them; `dispose()` (or `using`) does it at once, `scope()` for all
 * that a function makes. Operators are functions of `nd`, made from the library's introspection. */
function front({C, MXNetError, check, list, text, handles: pointerTo}) {
  /* ---- dtypes: MXNet's type flags ---- */

  const DTYPES = {
    float32: {flag: 0, array: Float32Array},
    float64: {flag: 1, array: Float64Array},
    float16: {flag: 2, array: null},
    uint8: {flag: 3, array: Uint8Array},
    int32: {flag: 4, array: Int32Array},
    int8: {flag: 5, array: Int8Array},
    int64: {flag: 6, array: BigInt64Array},
    bool: {flag: 7, array: Uint8Array},
  };
  const NAMES = Object.keys(DTYPES);

  const finalizer = new FinalizationRegistry((handle) => C.MXNDArrayFree(handle));
  const scopes = []; // of each scope() that runs: the arrays that it made

  /* ---- arrays ---- */

  /** An array of the library. Make them with `array`, `zeros` and so on. */
  class NDArray {
    /** The names of dtypes, in the order of MXNet's type flags. */
    static dtypes = NAMES;
    #handle;

    /** @param {number} handle a new handle, which is this object's from now on */
    constructor(handle) {
      this.#handle = Number(handle);
      if (!this.#handle) throw new MXNetError(C.MXGetLastError());
      finalizer.register(this, this.#handle, this);
      if (scopes.length > 0) scopes[scopes.length - 1].add(this);
    }

    /** The handle, for the C API; it stays this object's. */
    get handle() {
      if (this.#handle === 0) throw new MXNetError('NDArray: it has been disposed of');
      return this.#handle;
    }

    /** Frees the array now. More than once is fine. */
    dispose() {
      if (this.#handle === 0) return;
      finalizer.unregister(this);
      for (const made of scopes) made.delete(this);
      const handle = this.#handle;
      this.#handle = 0;
      check(C.MXNDArrayFree(handle));
    }

    #info() {
      const shape = new BigInt64Array(32), dtype = [0];
      const ndim = C.MXLNDArrayGetInfo(this.handle, 32, shape, dtype);
      if (ndim < -1) throw new MXNetError(C.MXGetLastError());
      return {shape: Array.from(shape.subarray(0, Math.max(ndim, 0)), Number), dtype: NAMES[dtype[0]]};
    }

    get shape() { return this.#info().shape; }
    get dtype() { return this.#info().dtype; }
    get size() { return this.shape.reduce((size, extent) => size * extent, 1); }

    /** The values in C order, as a typed array of the dtype (float16: as float32). */
    values() {
      const {shape, dtype} = this.#info();
      if (dtype === 'float16') return this.astype('float32').values();
      const out = new DTYPES[dtype].array(shape.reduce((size, extent) => size * extent, 1));
      check(C.MXNDArraySyncCopyToCPU(this.handle, out, out.length));
      return out;
    }

    /** Nested arrays of numbers; a number where the shape is []. */
    toArray() {
      const flat = this.values(), shape = this.shape;
      let at = 0;
      const build = (axis) => axis === shape.length ? Number(flat[at++])
        : Array.from({length: shape[axis]}, () => build(axis + 1));
      return build(0);
    }

    /** The one element, as a number. */
    item() {
      const flat = this.values();
      if (flat.length !== 1) throw new RangeError(`item: the array has ${flat.length} elements, not one`);
      return Number(flat[0]);
    }

    /** Overwrites the values: as many as the array has. */
    set(values) {
      const {shape, dtype} = this.#info();
      if (dtype === 'float16') throw new TypeError('set: arrays of float16 are made by astype');
      const data = DTYPES[dtype].array.from(values), size = shape.reduce((product, extent) => product * extent, 1);
      if (data.length !== size) throw new RangeError(`set: ${data.length} values for ${size} elements`);
      check(C.MXNDArraySyncCopyFromCPU(this.handle, data, data.length));
      return this;
    }

    /** Rows [begin, end) of the first axis, sharing memory. */
    slice(begin, end = this.shape[0]) { return new NDArray(C.MXLNDArraySlice(this.handle, begin, end)); }

    /** The same memory in another shape (-1 is inferred). */
    reshape(...shape) {
      const extents = shape.flat();
      return new NDArray(C.MXLNDArrayReshape(this.handle, extents.length, extents, 0));
    }

    astype(dtype) { return nd.Cast(this, {dtype}); }

    /** The same memory without a place in the graph. */
    detach() {
      const out = [0];
      check(C.MXNDArrayDetach(this.handle, out));
      return new NDArray(out[0]);
    }

    /** Makes it a variable with a gradient of zeros. @param {'write'|'add'|'null'} request */
    attachGrad(request = 'write') {
      const requests = {null: 0, write: 1, add: 3};
      if (!(request in requests)) throw new TypeError(`attachGrad: '${request}' is none of write, add, null`);
      scope(() => {
        const zero = nd.zeros_like(this.detach());
        check(C.MXAutogradMarkVariables(1, [this.handle], [requests[request]], [zero.handle]));
      });
      return this;
    }

    /** The gradient, or null. */
    get grad() {
      const out = [0];
      check(C.MXNDArrayGetGrad(this.handle, out));
      return Number(out[0]) ? new NDArray(out[0]) : null;
    }

    /** Computes gradients into the variables this was recorded from. */
    backward(headGrad = null, {retainGraph = false, train = true} = {}) {
      backward([this], headGrad && [headGrad], {retainGraph, train});
    }

    toString() { return `NDArray ${this.dtype} (${this.shape}) ${JSON.stringify(this.toArray())}`; }
  }

  if (Symbol.dispose) NDArray.prototype[Symbol.dispose] = NDArray.prototype.dispose;

  /** A call of an operator whose parameters are read once; `argument` names the one that comes with each call. */
  function prepared(name, argument) {
    const call = [0];
    check(C.MXLPrepare(name, 0, null, null, argument ? 1 : 0, argument ? [argument] : null, call));
    return call[0];
  }

  /* a + b and so on: an array or a number on the right; rsub and rdiv: a number on the left. */
  for (const [name, arrays, scalar] of [
    ['add', 'broadcast_add', '_plus_scalar'], ['sub', 'broadcast_sub', '_minus_scalar'],
    ['mul', 'broadcast_mul', '_mul_scalar'], ['div', 'broadcast_div', '_div_scalar'],
    ['pow', 'broadcast_power', '_power_scalar'], ['rsub', null, '_rminus_scalar'], ['rdiv', null, '_rdiv_scalar'],
  ]) {
    const both = arrays && prepared(arrays), one = prepared(scalar, 'scalar');
    NDArray.prototype[name] = function operate(other) {
      if (other instanceof NDArray && arrays) return new NDArray(C.MXLCall2(both, this.handle, other.handle));
      if (typeof other !== 'number') throw new TypeError(`${name}: an NDArray or a number, got ${typeof other}`);
      return new NDArray(C.MXLCall1Float(one, this.handle, other));
    };
  }

  /* ---- making arrays ---- */

  /** Extents of nested arrays, which must not be ragged. */
  function shapeOf(value) {
    if (!Array.isArray(value) && !ArrayBuffer.isView(value)) return [];
    const inner = Array.isArray(value) && value.length > 0 ? shapeOf(value[0]) : [];
    for (const each of Array.isArray(value) ? value : []) {
      if (String(shapeOf(each)) !== String(inner)) throw new TypeError('array: rows differ in shape');
    }
    return [value.length, ...inner];
  }

  const dtypeOf = (values) => Object.keys(DTYPES).find((own) => DTYPES[own].array === values.constructor) || 'float32';

  /** A new array of nested arrays of numbers, a typed array, or a number (which gets the shape [1], as MXNet has it).
   * @param {{dtype?: string, shape?: number[]}} options dtype: by default that of a typed array, else float32 */
  function array(value, {dtype, shape} = {}) {
    const kind = dtype || (ArrayBuffer.isView(value) ? dtypeOf(value) : 'float32');
    const given = shape || shapeOf(value), extents = given.length > 0 ? given : [1];
    if (!(kind in DTYPES)) throw new TypeError(`array: unknown dtype '${kind}'`);
    if (extents.includes(0)) throw new RangeError('array: without elements; in MXNet an extent of 0 is an unknown one');
    if (kind === 'float16') return array(value, {dtype: 'float32', shape}).astype('float16');
    const out = [0], flat = ArrayBuffer.isView(value) ? value : [value].flat(Infinity);
    check(C.MXNDArrayCreateEx64(extents, extents.length, 1, 0, 0, DTYPES[kind].flag, out));
    const made = new NDArray(out[0]);
    return made.set(kind === 'int64' ? Array.from(flat, BigInt) : flat);
  }

  /** Calls fn, then disposes of all arrays that were made meanwhile, except those in its result: an array, or objects
   * and lists that hold arrays, such as a Model. */
  function scope(fn) {
    const kept = new Set(), keep = (value) => {
      if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value) || kept.has(value)) return;
      kept.add(value);
      Object.values(value).forEach(keep);
    };
    scopes.push(new Set());
    try {
      const result = fn();
      if (result instanceof Promise) throw new TypeError('scope: the function must not be async');
      keep(result);
      return result;
    } finally {
      for (const made of scopes.pop()) {
        if (!kept.has(made)) made.dispose();
        else if (scopes.length > 0) scopes[scopes.length - 1].add(made);
      }
    }
  }

  /** Seeds the generator of random operators. */
  function seed(number) { check(C.MXRandomSeed(number)); }

  /* ---- operators ---- */

  /** A parameter's value as the library reads it. */
  function written(value) {
    if (Array.isArray(value)) return `(${value.map(written).join(', ')}${value.length === 1 ? ',' : ''})`;
    if (value === null) return 'None';
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    return String(value);
  }

  /** Runs an operator: `invoke('sum', [x], {axis: 1})`. Returns an array, or several.
   * @param {NDArray|NDArray[]} out written to instead of new arrays */
  function invoke(name, inputs = [], params = {}, out = null) {
    const op = [0], count = [0], made = [null], stypes = [null], given = out && [out].flat();
    check(C.NNGetOpHandle(name, op));
    for (const each of inputs) {
      if (!(each instanceof NDArray)) throw new TypeError(`${name}: inputs are NDArrays, got ${typeof each}`);
    }
    const keys = Object.keys(params).filter((key) => params[key] !== undefined);
    if (given) {
      made[0] = pointerTo(given.map((each) => each.handle));
      count[0] = given.length;
    }
    check(C.MXImperativeInvokeEx(op[0], inputs.length, inputs.map((each) => each.handle), count, made, keys.length,
      keys, keys.map((key) => written(params[key])), stypes));
    if (given) return out;
    const results = list(made[0], 'handle', count[0]).map((handle) => new NDArray(handle));
    return results.length === 1 ? results[0] : results;
  }

  /** What introspection says of an operator: inputs, parameters and their types, and which one counts the inputs. */
  function describe(name) {
    const op = [0], doc = [null], own = [null], count = [0], names = [null], types = [null], docs = [null];
    const variable = [null], result = [null];
    check(C.NNGetOpHandle(name, op));
    check(C.MXSymbolGetAtomicSymbolInfo(op[0], own, doc, count, names, types, docs, variable, result));
    const kinds = list(types[0], 'char *', count[0]);
    const all = list(names[0], 'char *', count[0]).map((each, i) => ({name: each, type: kinds[i]}));
    return {
      name, doc: text(doc[0]), counts: text(variable[0]),
      inputs: all.filter(({type}) => /^(NDArray-or-)?Symbol/.test(type)),
      params: all.filter(({type}) => !/^(NDArray-or-)?Symbol/.test(type)),
    };
  }

  /** The function of an operator: nd.dot(a, b, {transpose_b: true}); arrays first, then an object of parameters, in
   * which `out` is an array to write to and inputs may stand by name. */
  function functionOf(name) {
    let about = null;
    return function operator(...given) {
      about = about || describe(name);
      const last = given[given.length - 1], arrays = last instanceof NDArray || last == null || Array.isArray(last);
      const named = arrays ? {} : given.pop();
      const {out = null, ...params} = named, inputs = given.flat().filter((each) => each != null);
      for (const {name: input} of about.inputs.slice(inputs.length)) {
        if (params[input] instanceof NDArray) inputs.push(params[input]);
        delete params[input];
      }
      if (about.counts && params[about.counts] === undefined) params[about.counts] = inputs.length;
      return invoke(name, inputs, params, out);
    };
  }

  /** All operators as functions. */
  const nd = {};
  /** Their names, aliases too, without those that the library lists and refuses. */
  function operatorNames() {
    const count = [0], names = [null];
    check(C.MXListAllOpNames(count, names));
    return list(names[0], 'char *', count[0]).filter((name) => {
      const reason = [null];
      check(C.MXLOpGetRefusal(name, reason));
      return reason[0] === null;
    });
  }
  for (const name of operatorNames()) nd[name] = functionOf(name);

  /* ---- autograd ---- */

  /** Calls fn with the thread's flags set (null: as they are), and puts them back however it ends. */
  function within(recording, training, fn) {
    const record = [0], train = [0];
    if (recording !== null) check(C.MXAutogradSetIsRecording(recording, record));
    if (training !== null) check(C.MXAutogradSetIsTraining(training, train));
    try {
      const result = fn();
      if (result instanceof Promise) throw new TypeError('record: fn must not be async: the flags are the thread\'s');
      return result;
    } finally {
      if (recording !== null) check(C.MXAutogradSetIsRecording(record[0], [0]));
      if (training !== null) check(C.MXAutogradSetIsTraining(train[0], [0]));
    }
  }

  /** Records what fn does, in training mode; returns its result. */
  const record = (fn, {train = true} = {}) => within(1, train ? 1 : 0, fn);
  /** Does not record what fn does, within record(). */
  const pause = (fn, {train = false} = {}) => within(0, train ? 1 : 0, fn);

  function run(heads, headGrads, variables, retain, create, train) {
    const grads = [null], stypes = [null], handles = (arrays) => arrays.map((each) => (each ? each.handle : 0));
    if (headGrads && headGrads.length !== heads.length)
      throw new RangeError(`backward: ${headGrads.length} head gradients for ${heads.length} heads`);
    check(C.MXAutogradBackwardEx(heads.length, handles(heads), headGrads && handles(headGrads), variables.length,
      variables.length ? handles(variables) : null, retain ? 1 : 0, create ? 1 : 0, train ? 1 : 0, grads, stypes));
    return list(grads[0], 'handle', variables.length).map((handle) => new NDArray(handle));
  }

  /** Gradients of several heads into their variables. */
  function backward(heads, headGrads = null, {retainGraph = false, train = true} = {}) {
    run([heads].flat(), headGrads && [headGrads].flat(), [], retainGraph, false, train);
  }

  /** Gradients of heads with respect to inputs, as new arrays; with createGraph they can be differentiated again. */
  function grad(heads, inputs, {headGrads = null, createGraph = false, retainGraph = createGraph, train = true} = {}) {
    return run([heads].flat(), headGrads && [headGrads].flat(), [inputs].flat(), retainGraph, createGraph, train);
  }

  /* ---- files ---- */

  /** Writes arrays, a list or an object of them, to a .params file. */
  function save(file, arrays) {
    const named = !Array.isArray(arrays) && !(arrays instanceof NDArray);
    const all = named ? Object.values(arrays) : [arrays].flat();
    check(C.MXNDArraySave(file, all.length, all.map((each) => each.handle), named ? Object.keys(arrays) : null));
  }

  /** Reads such a file, or its bytes: an object where the arrays have names, else a list.
   * @param {string|ArrayBuffer|Uint8Array} file */
  function load(file) {
    const count = [0], handles = [null], names = [0], keys = [null];
    if (typeof file === 'string') {
      check(C.MXNDArrayLoad(file, count, handles, names, keys));
    } else {
      const bytes = new Uint8Array(file.buffer || file, file.byteOffset || 0, file.byteLength);
      check(C.MXNDArrayLoadFromBuffer(bytes, bytes.length, count, handles, names, keys));
    }
    const arrays = list(handles[0], 'handle', count[0]).map((handle) => new NDArray(handle));
    if (names[0] === 0) return arrays;
    return Object.fromEntries(list(keys[0], 'char *', names[0]).map((name, i) => [name, arrays[i]]));
  }

  /** Arrays that are alive in the library, over all threads. */
  function liveHandles() {
    const out = [0];
    check(C.MXLGetLiveHandles(out));
    return Number(out[0]);
  }

  return {
    NDArray, MXNetError, array, scope, seed, invoke, describe, operatorNames, nd, record, pause, backward, grad, save,
    load, liveHandles,
  };
}

module.exports = front;
