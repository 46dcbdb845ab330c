/* Recorded graphs and saved networks as one kind of data, which graph_view.js draws. The workers make it. */

/** @typedef {{title: string, kind: 'operator'|'weight'|'data', shape: string, inputs: number[], about: string,
 *   facts: [string, string][]}} ViewNode
 * `inputs`: positions of the nodes that it reads, all before its own; `facts`: what the panel lists, with labels. */

/** A shape for people: 32 × 10. */
export const shapeText = (shape) =>
  !shape
    ? 'not known yet'
    : shape.length === 0
      ? 'one number'
      : shape.map((extent) => (extent > 0 ? extent.toLocaleString('en') : '?')).join(' × ');

/** @param {number} bytes */
export function bytesText(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${(bytes / 1e3).toPrecision(3)} kB` : `${(bytes / 1e6).toPrecision(3)} MB`;
}

/** What the library says of operators: a sentence, and the names of the inputs. */
function readerOf(mx) {
  const known = new Map();
  return (operator) => {
    if (!known.has(operator)) {
      const {doc, inputs} = mx.describe(operator),
        [sentence] = doc.split('\n');
      known.set(operator, {sentence, inputs: inputs.map(({name}) => name)});
    }
    return known.get(operator);
  };
}

const paramsText = (params) =>
  Object.entries(params)
    .filter(([key]) => !key.startsWith('__'))
    .map(([key, value]) => `${key} = ${value}`)
    .join(', ');

/** The nodes of mx.graph(). Constants, which have no node there, get one where an operator reads them.
 * @param {Object} mx @param {Object[]} nodes
 * @param {Object<string, string>} constants what they are, by the name that the operator has for them
 * @returns {ViewNode[]} */
export function fromRecorded(mx, nodes, constants = {}) {
  const about = readerOf(mx),
    made = [],
    places = [];
  for (const node of nodes) {
    const {operator, outputs, saved} = node,
      shape = shapeText(outputs[0].shape),
      {dtype} = outputs[0];
    if (!operator) {
      places.push(
        made.push({
          title: node.variable || 'a variable',
          kind: 'weight',
          shape,
          inputs: [],
          about: 'Weights, which training changes. Going backwards ends here: the gradient says how to change them.',
          facts: [
            ['Shape', shape],
            ['Number type', dtype],
            ['Node', node.name],
          ],
        }) - 1,
      );
      continue;
    }
    const {sentence, inputs: names} = about(operator);
    const inputs = node.inputs.map((input, i) => {
      if (input) return places[input.node];
      const kept = saved.find((each) => each.of === 'input' && each.index === i),
        size = kept ? shapeText(kept.shape) : 'not kept';
      return (
        made.push({
          title: constants[names[i]] || names[i] || 'input',
          kind: 'data',
          shape: kept ? size : '',
          inputs: [],
          about: 'Given from outside: no gradient is asked for, so nothing is recorded before it.',
          facts: [['Shape', size], ...(kept ? [['Number type', kept.dtype]] : [])],
        }) - 1
      );
    });
    const bytes = saved.reduce((sum, each) => sum + each.bytes, 0);
    const kept = saved.map((each) => {
      const which = each.of === 'input' ? names[each.index] || `input ${each.index}` : 'its result';
      return `${which} (${shapeText(each.shape)}, ${each.dtype}): ${bytesText(each.bytes)}`;
    });
    places.push(
      made.push({
        title: operator,
        kind: 'operator',
        shape,
        inputs,
        about: sentence,
        bytes,
        facts: [
          ['Operator', operator],
          ['Node', node.name],
          ['Settings', paramsText(node.params) || 'none'],
          ['Result', outputs.map((each) => `${shapeText(each.shape)}, ${each.dtype}`).join('; ')],
          ['Kept for going backwards', kept.length > 0 ? kept.join('; ') : 'nothing'],
          ['Bytes kept', bytesText(bytes)],
        ],
      }) - 1,
    );
  }
  return made;
}

/** The nodes of a Model.
 * @param {Object} mx @param {Object[]} nodes of Model.nodes() @param {Object<string, NDArray>} params its parameters
 * @returns {ViewNode[]} */
export function fromSymbol(mx, nodes, params) {
  const about = readerOf(mx);
  return nodes.map(({name, operator, params: settings, inputs, shapes}) => {
    const shape = shapeText(shapes[0]);
    if (!operator) {
      const own = params[name];
      return {
        title: name,
        kind: own ? 'weight' : 'data',
        shape,
        inputs: [],
        about: own
          ? 'A parameter: numbers that training found, read from the .params file.'
          : 'An input: it is given for each run.',
        facts: [['Name', name], ['Shape', shape], ...(own ? [['Number type', own.dtype]] : [])],
      };
    }
    return {
      title: operator,
      kind: 'operator',
      shape,
      inputs: inputs.map(([from]) => from),
      about: about(operator).sentence,
      facts: [
        ['Name', name],
        ['Operator', operator],
        ['Settings', paramsText(settings) || 'none'],
        ['Result', shapes.map((each) => shapeText(each)).join('; ')],
      ],
    };
  });
}
