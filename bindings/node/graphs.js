'use strict';
/* Saved networks (symbols with parameters) and recorded graphs, on top of front.js and for the same packages. */
function graphs({C, MXNetError, check, list, text, handles: pointerTo}, {NDArray, load, nd, pause, scope}) {
  const names = (lister, ...given) => {
    const count = [0], found = [null];
    check(lister(...given, count, found));
    return list(found[0], 'char *', count[0]);
  };
  const one = (getter, ...given) => {
    const out = [0];
    check(getter(...given, out));
    return out[0];
  };

  const finalizer = new FinalizationRegistry(({symbol, call}) => { C.MXFreeCachedOp(call); C.MXSymbolFree(symbol); });

  /** Shapes of a symbol's arguments, outputs and states, from those of some arguments; null where unknown. */
  function inferShapes(symbol, given) {
    const begins = [0], extents = [], sizes = () => [[0], [null], [null]], found = [sizes(), sizes(), sizes()];
    for (const shape of Object.values(given)) begins.push(extents.push(...shape));
    check(C.MXSymbolInferShapePartialEx64(symbol, Object.keys(given).length, Object.keys(given), begins,
      extents.length > 0 ? extents : [0], ...found.flat(), [0]));
    return found.map(([count, ndims, shapes]) => {
      const rows = list(shapes[0], 'void *', Number(count[0]));
      return list(ndims[0], 'int', Number(count[0])).map((ndim, i) => {
        const shape = ndim < 1 ? null : list(rows[i], 'int64_t', ndim).map(Number);
        return shape && shape.every((extent) => extent > 0) ? shape : null;
      });
    });
  }

  /** A saved network: a symbol and the arrays of its parameters. */
  class Model {
    #made;

    /** @param {string} symbol the text of a -symbol.json, or its file's name
     * @param {string|ArrayBuffer|Uint8Array|Object<string, NDArray>} params a .params file, its bytes, or arrays */
    constructor(symbol, params = {}) {
      const read = symbol.trimStart().startsWith('{') ? C.MXSymbolCreateFromJSON : C.MXSymbolCreateFromFile;
      const made = {symbol: one(read, symbol), call: 0};
      try {
        made.call = one(C.MXCreateCachedOpEx, made.symbol, 0, null, null);
        this.params = scope(() => this.#take(made.symbol, params)); // frees those read that are no arguments
      } catch (problem) {
        C.MXFreeCachedOp(made.call);
        C.MXSymbolFree(made.symbol);
        throw problem;
      }
      this.#made = made;
      finalizer.register(this, made, this);
    }

    /** Sets the names, and returns the parameters by the arguments' names. */
    #take(symbol, params) {
      const given = Object.getPrototypeOf(params) === Object.prototype ? params : load(params), own = {};
      if (Array.isArray(given)) throw new MXNetError('Model: the arrays of the parameters have no names');
      this.arguments = names(C.NNSymbolListInputNames, symbol, 0);
      this.outputs = names(C.MXSymbolListOutputs, symbol);
      for (const [name, value] of Object.entries(given)) {
        const bare = name.replace(/^(arg|aux):/, '');
        if (this.arguments.includes(bare)) own[bare] = value;
      }
      this.inputs = this.arguments.filter((name) => !(name in own));
      if (Object.keys(given).length > 0 && Object.keys(own).length === 0)
        throw new MXNetError(`Model: none of the parameters is one of the network's: ${this.arguments.join(', ')}`);
      return own;
    }

    get #live() {
      if (!this.#made) throw new MXNetError('Model: it has been disposed of');
      return this.#made;
    }

    /** The text of the symbol. */
    toJSON() { return text(one(C.MXSymbolSaveToJSON, this.#live.symbol)); }

    #shapes(given) {
      const shapes = {};
      for (const [name, value] of Object.entries({...this.params, ...given}))
        shapes[name] = value instanceof NDArray ? value.shape : value;
      return shapes;
    }

    /** Runs it: an array for each of `inputs`, by name. Labels, which only training reads, may be left out.
     * @returns {NDArray|NDArray[]} the output, or several; recorded within record() */
    forward(given, {train = null} = {}) {
      const {symbol, call} = this.#live, unknown = Object.keys(given).find((name) => !this.arguments.includes(name));
      if (unknown) throw new MXNetError(`forward: '${unknown}' is no input of the network: ${this.inputs.join(', ')}`);
      const labels = this.inputs.filter((name) => !(name in given)), values = {...this.params, ...given};
      const missing = labels.find((name) => !name.endsWith('label'));
      if (missing) throw new MXNetError(`forward: the input '${missing}' is missing`);
      const other = Object.keys(given).find((name) => !(given[name] instanceof NDArray));
      if (other) throw new TypeError(`forward: the input '${other}' is no NDArray, but ${typeof given[other]}`);
      const run = () => {
        const count = [0], out = [null], inputs = this.arguments.map((name) => values[name].handle);
        check(C.MXInvokeCachedOp(call, inputs.length, inputs, count, out));
        return list(out[0], 'handle', count[0]).map((handle) => new NDArray(handle));
      };
      const results = scope(() => {
        if (labels.length > 0) {
          const order = names(C.MXSymbolListArguments, symbol), [shapes] = inferShapes(symbol, this.#shapes(given));
          for (const name of labels) values[name] = nd._zeros({shape: shapes[order.indexOf(name)] || [1]});
        }
        return train === null ? run() : pause(run, {train});
      });
      return results.length === 1 ? results[0] : results;
    }

    /** The nodes, each after those that it reads: name, operator (null: a variable), attributes, inputs as [node,
     * output], and its outputs' shapes for inputs of such shapes: nodes({data: [1, 3, 32, 32]}). */
    nodes(shapes = {}) {
      const inside = one(C.MXSymbolGetInternals, this.#live.symbol);
      try {
        const outputs = names(C.MXSymbolListOutputs, inside), [, found] = inferShapes(inside, this.#shapes(shapes));
        const {nodes} = JSON.parse(text(one(C.MXSymbolSaveToJSON, inside)));
        let at = 0;
        return nodes.map(({name, op, attrs = {}, inputs}, index) => {
          const own = [], next = nodes[index + 1];
          do own.push(found[at++]);
          while (op !== 'null' && at < outputs.length && outputs[at].startsWith(`${name}_`) &&
            !(next && [next.name, `${next.name}_output`].includes(outputs[at])));
          return {
            name, operator: op === 'null' ? null : op, params: attrs,
            inputs: inputs.map((each) => each.slice(0, 2)), shapes: own,
          };
        });
      } finally {
        C.MXSymbolFree(inside);
      }
    }

    /** Frees the network and the arrays of its parameters. */
    dispose() {
      if (!this.#made) return;
      finalizer.unregister(this);
      const {symbol, call} = this.#made;
      this.#made = null;
      for (const each of Object.values(this.params)) each.dispose();
      check(C.MXFreeCachedOp(call));
      check(C.MXSymbolFree(symbol));
    }
  }

  /* ---- recorded graphs ---- */

  function infoOf(node, which, index) {
    const shape = new BigInt64Array(32), dtype = [0], ndim = C.MXLNodeGetInfo(node, which, index, 32, shape, dtype);
    if (ndim < 0) throw new MXNetError(C.MXGetLastError());
    return {shape: Array.from(shape.subarray(0, ndim), Number), dtype: NDArray.dtypes[dtype[0]] || String(dtype[0])};
  }

  function savedOf(node) {
    return Array.from({length: one(C.MXLNodeGetNumSaved, node)}, (_, index) => {
      const isOutput = [0], position = [0], bytes = [0];
      check(C.MXLNodeGetSaved(node, index, null, isOutput, position, bytes));
      return {of: isOutput[0] ? 'output' : 'input', index: position[0], bytes: Number(bytes[0]),
        ...infoOf(node, isOutput[0] ? 1 : 0, position[0])};
    });
  }

  function paramsOf(node) {
    const count = [0], keys = [null], values = [null];
    check(C.MXLNodeGetParams(node, count, keys, values));
    const texts = list(values[0], 'char *', count[0]);
    return Object.fromEntries(list(keys[0], 'char *', count[0]).map((key, i) => [key, texts[i]]));
  }

  function describeNode(node, variables) {
    const name = [null], operator = [null];
    check(C.MXLNodeGetName(node, name));
    const label = text(name[0]);
    check(C.MXLNodeGetOperator(node, operator));
    const leaf = !operator[0];
    let variable = null;
    if (leaf) {
      const array = new NDArray(one(C.MXLNodeGetVariable, node));
      variable = variables.get(String(one(C.MXLNDArrayGetId, array.handle))) || '';
      array.dispose();
    }
    return {
      name: label, operator: leaf ? null : text(operator[0]), variable,
      sequence: leaf ? -1 : Number(one(C.MXLNodeGetSequence, node)),
      released: one(C.MXLNodeIsReleased, node) === 1, params: leaf ? {} : paramsOf(node), inputs: [],
      outputs: Array.from({length: one(C.MXLNodeGetNumOutputs, node)}, (_, i) => infoOf(node, 1, i)),
      saved: leaf ? [] : savedOf(node),
    };
  }

  /** The graph that heads were recorded as, as plain data: leaves first, then calls in their order. Of each node:
   * `name`, `operator` (null: a leaf), `variable` (a leaf's name in `variables`), `params`, `inputs` ({node, output} or
   * null for a constant), `outputs` ({shape, dtype}), `saved` ({of, index, shape, dtype, bytes}), `released`.
   * @param {NDArray|NDArray[]} heads @param {Object<string, NDArray>} variables */
  function graph(heads, variables = {}) {
    const idOf = (array) => String(one(C.MXLNDArrayGetId, array.handle));
    const known = new Map(Object.entries(variables).map(([name, array]) => [idOf(array), name]));
    const seen = new Map(), nodes = [], open = [];
    const enter = (node) => { // takes over the handle
      const id = String(one(C.MXLNodeGetId, node));
      if (seen.has(id)) {
        C.MXLNodeFree(node);
      } else {
        open.push(node);
        const made = describeNode(node, known);
        seen.set(id, made);
        nodes.push(made);
      }
      return seen.get(id);
    };
    const edge = (getter, ...given) => {
      const node = [0], output = [0];
      check(getter(...given, node, output));
      return Number(node[0]) ? {node: enter(Number(node[0])), output: output[0]} : null;
    };
    try {
      for (const head of [heads].flat()) edge(C.MXLNDArrayGetEdge, head.handle);
      for (let at = 0; at < open.length; at++) {
        for (let i = 0; i < one(C.MXLNodeGetNumInputs, open[at]); i++)
          nodes[at].inputs.push(edge(C.MXLNodeGetInput, open[at], i));
      }
    } finally {
      for (const node of open) C.MXLNodeFree(node);
    }
    nodes.sort((a, b) => a.sequence - b.sequence);
    const place = new Map(nodes.map((node, i) => [node, i]));
    for (const node of nodes)
      node.inputs = node.inputs.map((each) => each && {node: place.get(each.node), output: each.output});
    return nodes;
  }

  return {Model, graph};
}

module.exports = graphs;
