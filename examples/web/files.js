/* Files that a visitor drops or chooses: which is what, and what is wrong with them. */

const SYMBOL = 'model-symbol.json',
  PARAMS = 'model-0000.params';
const MOST = 1 << 30; // bytes; the library's memory ends at 4 GB

/** Reads the two files of a model. A missing one is taken from `kept`, what was read before.
 * @param {File[]} files @param {{json?: string, params?: Uint8Array}} kept
 * @returns {Promise<{name: string, json: ?string, params: ?Uint8Array}>} fails with a line for the visitor */
export async function readModel(files, kept) {
  const found = {name: '', json: null, params: null};
  for (const file of files) {
    const kind = /\.json$/i.test(file.name) ? 'json' : /\.params$/i.test(file.name) ? 'params' : null;
    if (!kind) throw new Error(`${file.name} is not a file of a model: those are called like ${SYMBOL} and ${PARAMS}.`);
    if (found[kind] !== null)
      throw new Error(`There are two ${kind === 'json' ? '.json' : '.params'} files; one model has one of them.`);
    if (file.size === 0) throw new Error(`${file.name} is empty.`);
    if (file.size > MOST)
      throw new Error(`${file.name} is too large for a browser: ${Math.round(file.size / 1e6)} MB.`);
    const bytes = await bytesOf(file);
    found[kind] = kind === 'json' ? new TextDecoder().decode(bytes) : bytes;
    if (kind === 'json') found.name = file.name.replace(/(-symbol)?\.json$/i, '');
    else found.name = found.name || file.name;
  }
  if (found.json !== null) checkSymbol(files, found.json);
  else if (!kept.json) return found;
  return {name: found.json ? found.name : kept.name, json: found.json ?? kept.json, params: found.params};
}

async function bytesOf(file) {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} could not be read.`);
  }
}

function checkSymbol(files, text) {
  const {name} = files.find((file) => /\.json$/i.test(file.name));
  let json = null;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`${name} is damaged: it is not JSON.`);
  }
  if (!json || !Array.isArray(json.nodes)) throw new Error(`${name} is not a network: it has no list of nodes.`);
}

/** A picture as values of 0 to 1. @param {File} file @param {number[]} shape (..., channels, height, width) or (..., n)
 * @returns {Promise<Float32Array>} the first picture of a batch is filled, the others too */
export async function readPicture(file, shape) {
  let bitmap = null;
  const {channels, height, width, copies} = pictureShape(shape);
  try {
    bitmap = await createImageBitmap(file, {resizeWidth: width, resizeHeight: height, resizeQuality: 'high'});
  } catch {
    throw new Error(`${file.name} is not a picture that this browser can read.`);
  }
  const context = new OffscreenCanvas(width, height).getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const {data} = context.getImageData(0, 0, width, height),
    size = width * height,
    values = new Float32Array(size * channels * copies);
  for (let i = 0; i < size; i++) {
    const [red, green, blue] = [data[4 * i], data[4 * i + 1], data[4 * i + 2]].map((value) => value / 255);
    const each = channels === 3 ? [red, green, blue] : [0.299 * red + 0.587 * green + 0.114 * blue];
    for (let copy = 0; copy < copies; copy++)
      each.forEach((value, c) => {
        values[(copy * channels + c) * size + i] = value;
      });
  }
  return values;
}

/** How an input's shape holds pictures: (N, C, H, W) with one or three channels, or (N, H W) of a square. */
export function pictureShape(shape) {
  const [copies] = shape;
  if (shape.length === 4 && [1, 3].includes(shape[1]))
    return {copies, channels: shape[1], height: shape[2], width: shape[3]};
  const size = shape.slice(1).reduce((product, extent) => product * extent, 1),
    side = Math.round(Math.sqrt(size));
  if (shape.length === 3) return {copies, channels: 1, height: shape[1], width: shape[2]};
  if (shape.length === 2 && side * side === size) return {copies, channels: 1, height: side, width: side};
  throw new Error(`The shape ${shape.join(' × ')} is not that of a picture: 1 × 3 × 224 × 224, or 1 × 64, would be.`);
}
