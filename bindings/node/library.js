'use strict';
/* The C library through koffi: where it is, the functions that index.js calls, errors. Handles are integers below 2^53,
 * which numbers of JavaScript hold. */
const fs = require('fs');
const path = require('path');
const koffi = require('koffi');

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
const C = {};
for (const prototype of [
  'const char *MXGetLastError()',
  'int MXNDArrayCreateEx64(int64_t *shape, int ndim, int dev_type, int dev_id, int delay, int dtype, _Out_ uint64_t *out)',
  'int MXNDArrayFree(uint64_t handle)',
  'int MXNDArraySyncCopyFromCPU(uint64_t handle, const void *data, size_t size)',
  'int MXNDArraySyncCopyToCPU(uint64_t handle, _Out_ void *data, size_t size)',
  'int MXLNDArrayGetInfo(uint64_t handle, int room, _Out_ int64_t *shape, _Out_ int *dtype)',
  'uint64_t MXLNDArraySlice(uint64_t handle, int64_t begin, int64_t end)',
  'uint64_t MXLNDArrayReshape(uint64_t handle, int ndim, int64_t *shape, int reverse)',
  'int MXNDArrayDetach(uint64_t handle, _Out_ uint64_t *out)',
  'int MXNDArrayGetGrad(uint64_t handle, _Out_ uint64_t *out)',
  'int MXNDArraySave(const char *name, uint32_t count, uint64_t *handles, const char **keys)',
  'int MXNDArrayLoad(const char *name, _Out_ uint32_t *count, _Out_ void **handles, _Out_ uint32_t *names, _Out_ void **keys)',
  'int MXSymbolListAtomicSymbolCreators(_Out_ uint32_t *count, _Out_ void **creators)',
  'int MXSymbolGetAtomicSymbolInfo(uint64_t op, _Out_ void **name, _Out_ void **doc, _Out_ uint32_t *count, _Out_ void **names, _Out_ void **types, _Out_ void **docs, _Out_ void **variable, _Out_ void **result)',
  'int MXListAllOpNames(_Out_ uint32_t *count, _Out_ void **names)',
  'int MXLOpGetRefusal(const char *name, _Out_ void **reason)',
  'int NNGetOpHandle(const char *name, _Out_ uint64_t *op)',
  'int MXImperativeInvokeEx(uint64_t op, int inputs, uint64_t *in, _Inout_ int *outputs, _Inout_ void **out, int params, const char **keys, const char **values, _Out_ void **stypes)',
  'int MXLPrepare(const char *name, int constants, const char **keys, const char **values, int arguments, const char **names, _Out_ uint64_t *call)',
  'uint64_t MXLCall2(uint64_t call, uint64_t a, uint64_t b)',
  'uint64_t MXLCall1Float(uint64_t call, uint64_t a, double value)',
  'int MXAutogradSetIsRecording(int flag, _Out_ int *before)',
  'int MXAutogradSetIsTraining(int flag, _Out_ int *before)',
  'int MXAutogradMarkVariables(uint32_t count, uint64_t *variables, uint32_t *requests, uint64_t *gradients)',
  'int MXAutogradBackwardEx(uint32_t count, uint64_t *heads, uint64_t *head_grads, uint32_t variables, uint64_t *wanted, int retain, int create, int train, _Out_ void **grads, _Out_ void **stypes)',
  'int MXRandomSeed(int seed)',
  'int MXLGetLiveHandles(_Out_ int64_t *out)',
]) {
  const name = /(\w+)\(/.exec(prototype)[1];
  C[name] = lib.func(prototype);
}

/** What the library reports: one line that names the operator, what is wrong, and what came. */
class MXNetError extends Error {
  constructor(message) {
    super(message);
    this.name = 'MXNetError';
  }
}

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

module.exports = {C, MXNetError, check, list, text};
