/* The worker that runs a visitor's model, with a library of its own: what happens here leaves the training alone. */
import {load} from './mxlite/index.js';
import {fromSymbol} from './graph_data.js';
import {serve} from './remote.js';

const TOP = 5;
let mx = null,
  model = null;

const elements = (shape) => shape.reduce((product, extent) => product * extent, 1);
const isLabel = (name) => name.endsWith('label');

/** How the operators that read an argument call it: 'weight', 'data', ... */
function rolesOf(nodes) {
  const roles = new Map();
  for (const {operator, inputs} of nodes) {
    const names = operator ? mx.describe(operator).inputs.map(({name}) => name) : [];
    inputs.forEach(([from], i) => roles.set(nodes[from].name, {operator, as: names[i] || 'data'}));
  }
  return roles;
}

/** Whether an argument is a parameter: what reads it calls it neither data nor by an operand's name. */
const isParameter = (role) =>
  Boolean(role) && /^(weight|bias|gamma|beta|moving_\w+|running_\w+|parameters|alpha)$/.test(role.as);

/** A shape to begin with for an input: from the parameters of the operator that reads it. */
function guessShape(name, nodes, params) {
  const reader = nodes.find(({operator, inputs}) => operator && inputs.some(([from]) => nodes[from].name === name));
  const stated = (nodes.find((node) => node.name === name).params.__shape__ || '').match(/\d+/g);
  if (stated && stated.every((extent) => extent > 0)) return stated.map(Number);
  const weight = reader && reader.inputs.map(([from]) => params[nodes[from].name]).find(Boolean),
    shape = weight ? weight.shape : [];
  if (shape.length === 4) {
    const channels = shape[1] * Number(reader.params.num_group || 1),
      side = channels === 3 ? 224 : 28;
    return [1, channels, side, side];
  }
  return shape.length === 2 ? [1, shape[1]] : [1, 1];
}

/** Nodes for shapes of inputs, as the page draws them. */
const draw = (opened, shapes) => fromSymbol(mx, opened.nodes(shapes), opened.params);

/** Shapes to begin with that the network takes, and its nodes for them: from the parameters, else the usual ones of
 * pictures. Where none fits, the visitor's own are needed, and the nodes show what is known without. */
function begin(opened, plain, names) {
  const guessed = names.map((name) => ({name, shape: guessShape(name, plain, opened.params)}));
  for (const usual of [null, [1, 3, 224, 224], [1, 1, 28, 28]]) {
    const inputs = usual ? names.map((name) => ({name, shape: usual})) : guessed;
    try {
      return {inputs, nodes: draw(opened, Object.fromEntries(inputs.map(({name, shape}) => [name, shape])))};
    } catch {
      /* the next */
    }
  }
  return {inputs: guessed, nodes: draw(opened, {})};
}

serve({
  /** Opens a model and makes it the one that runs. On failure the one before stays.
   * @param {string} json @param {?Uint8Array} params null: the picture only, it cannot run */
  async open(moduleUrl, json, params) {
    mx = mx || (await load(moduleUrl));
    const opened = params ? new mx.Model(json, params) : new mx.Model(json);
    try {
      const plain = opened.nodes(),
        roles = rolesOf(plain),
        free = opened.inputs.filter((name) => !isLabel(name));
      const lacking = free.filter((name) => isParameter(roles.get(name)));
      if (params && lacking.length > 0) {
        const more = lacking.length > 1 ? ` and ${lacking.length - 1} more` : '';
        throw new Error(`the parameters lack '${lacking[0]}'${more}, which the model reads`);
      }
      const {inputs, nodes} = begin(
        opened,
        plain,
        free.filter((name) => !lacking.includes(name)),
      );
      const parameters = Object.entries(opened.params).map(([name, array]) => ({
        name,
        shape: array.shape,
        dtype: array.dtype,
      }));
      if (model) model.dispose();
      model = opened;
      return {inputs, nodes, parameters, outputs: opened.outputs, complete: Boolean(params), lacking: lacking.length};
    } catch (problem) {
      opened.dispose();
      throw problem;
    }
  },

  /** Runs it. @param {Object<string, {shape: number[], kind: 'random'|'zeros'|'values', values?: Float32Array}>} given
   * @returns {{seconds: number, outputs: Object[], nodes: Object[]}} each output: name, shape, top: [{index, value}] of
   *   its first row */
  run(given) {
    for (const [name, {shape, kind, values}] of Object.entries(given)) {
      if (kind === 'values' && values.length !== elements(shape))
        throw new Error(`${name}: ${values.length} values do not fill the shape (${shape.join(', ')})`);
    }
    return mx.scope(() => {
      const nodes = draw(model, Object.fromEntries(Object.entries(given).map(([name, {shape}]) => [name, shape])));
      const inputs = Object.fromEntries(
        Object.entries(given).map(([name, {shape, kind, values}]) => [
          name,
          kind === 'values'
            ? mx.array(values, {shape})
            : kind === 'zeros'
              ? mx.nd._zeros({shape})
              : mx.nd._random_uniform({shape}),
        ]),
      );
      const begin = performance.now(),
        results = [model.forward(inputs, {train: false})].flat();
      const outputs = results.map((array, i) => {
        const {shape} = array,
          values = array.values(),
          row = shape.length > 1 ? Math.max(1, elements(shape.slice(1))) : values.length;
        const first = Array.from(values.subarray(0, row), Number);
        const top = first
          .map((value, index) => ({index, value}))
          .sort((a, b) => b.value - a.value)
          .slice(0, TOP);
        const probabilities =
          first.every((value) => value >= 0) && Math.abs(first.reduce((sum, value) => sum + value, 0) - 1) < 1e-3;
        return {name: model.outputs[i], shape, top, probabilities, values: row};
      });
      return {seconds: (performance.now() - begin) / 1000, outputs, nodes, memory: mx.memoryBytes()};
    });
  },
});
