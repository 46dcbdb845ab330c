'use strict';
/* The C library through koffi: where it is, the functions of prototypes.js, errors. Handles are integers below 2^53,
 * which numbers of JavaScript hold. */
const fs = require('fs');
const path = require('path');
const koffi = require('koffi');
const MXNetError = require('./error.js');
const prototypes = require('./prototypes.js');

/** Where the library is: MXLITE_LIBRARY, the build folder of a source tree, or the system's search path. */
function find() {
  const name = {win32: 'mxlite.dll', darwin: 'libmxlite.dylib'}[process.platform] || 'libmxlite.so';
  const built = path.join(__dirname, '..', '..', 'build', name);
  return process.env.MXLITE_LIBRARY || (fs.existsSync(built) ? built : name);
}

/** Opens it. */
function open(file) {
  try {
    return koffi.load(file);
  } catch (problem) {
    throw new Error(`mxlite: cannot open ${file}: make lib builds it, MXLITE_LIBRARY names it`, {cause: problem});
  }
}

const lib = open(find());
koffi.alias('handle', 'uint64_t');
const C = {};
for (const prototype of prototypes) C[/(\w+)\(/.exec(prototype)[1]] = lib.func(prototype);

/** Throws the library's message unless the status is 0. */
function check(status) {
  if (status !== 0) throw new MXNetError(C.MXGetLastError());
}

/** `count` things of a type at a pointer that the library lent. */
function list(pointer, type, count) {
  return count > 0 ? Array.from(koffi.decode(pointer, koffi.array(type, count))) : [];
}

/** A text at a pointer. */
const text = (pointer) => koffi.decode(pointer, 'char', -1);

/** Handles as what a pointer to them may point to. */
const handles = (numbers) => BigUint64Array.from(numbers, BigInt);

module.exports = {C, MXNetError, check, list, text, handles};
