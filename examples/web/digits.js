/* The handwritten digits of digits.u8, and pictures of 8 x 8 dots. */

export const PIXELS = 64;
/** Of the 1,797 digits the first 1,437 are trained on, the others are held out. */
export const TRAINED = 1437;

/** Reads digits.u8: records of 64 pixels, from 0 (white) to 16 (black), and the digit.
 * @param {Uint8Array} bytes
 * @returns {{bytes: Uint8Array, count: number, pixels: function(number): Uint8Array,
 *   digit: function(number): number}} */
export function readDigits(bytes) {
  const size = PIXELS + 1;
  if (bytes.length === 0 || bytes.length % size !== 0)
    throw new Error(`digits.u8 is damaged: ${bytes.length} bytes are not records of ${size}`);
  return {
    bytes,
    count: bytes.length / size,
    pixels: (i) => bytes.subarray(i * size, i * size + PIXELS),
    digit: (i) => bytes[i * size + PIXELS],
  };
}

/** Paints 8 x 8 dots on a canvas, in the text's colour.
 * @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} pixels from 0 to 16 */
export function paintDigit(canvas, pixels) {
  canvas.width = canvas.height = 8;
  const context = canvas.getContext('2d'),
    image = context.createImageData(8, 8);
  const ink = getComputedStyle(canvas)
    .color.match(/[\d.]+/g)
    .slice(0, 3)
    .map(Number);
  for (let i = 0; i < PIXELS; i++) image.data.set([...ink, Math.round((pixels[i] / 16) * 255)], 4 * i);
  context.putImageData(image, 0, 0);
}
