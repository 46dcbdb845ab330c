-- mxlite for LuaJIT. The C header is read as it stands (`cc -E`) by ffi.cdef; operators are looked up when first named.
--     local mx = require "mxlite"
-- MXLITE_LIBRARY and MXLITE_INCLUDE say where library and headers are; without them pkg-config does.
local ffi = require "ffi"

local function output_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "*a"
  pipe:close()
  return (text:gsub("%s+$", ""))
end

local function place(variable, option)
  local value = os.getenv(variable) or output_of("pkg-config --variable=" .. option .. " mxlite 2>/dev/null")
  if value == "" then error("mxlite: set " .. variable .. ", or PKG_CONFIG_PATH for mxlite.pc", 0) end
  return value
end

ffi.cdef(output_of("echo '#include <mxlite/mxlite.h>' | ${CC:-cc} -E -P -DMXL_API= -I'"
  .. place("MXLITE_INCLUDE", "includedir") .. "' -"))
local C = ffi.load(place("MXLITE_LIBRARY", "library"))

local mx = { C = C, op = {}, autograd = {} }
local NDArray, metatable = {}, {}
mx.NDArray = NDArray

local function check(status)
  if status ~= 0 then error(ffi.string(C.MXGetLastError()), 0) end
end

-- ---- arrays: a cdata of one handle, whose finaliser gives the handle back once ----

local Array = ffi.metatype("struct { NDArrayHandle handle; }", metatable)

local function adopt(handle)
  if handle == nil then check(-1) end
  return Array(handle)
end

function metatable:__gc()
  C.MXNDArrayFree(self.handle) -- NULL is allowed
  self.handle = nil
end

local names = { [0] = "float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool" }
local types = { float32 = "float", float64 = "double", uint8 = "uint8_t", int32 = "int32_t", int8 = "int8_t",
  int64 = "int64_t", bool = "bool" }
local codes = {}
for code, name in pairs(names) do codes[name] = code end

local function count_of(shape)
  local count = 1
  for _, extent in ipairs(shape) do count = count * extent end
  return count
end

-- An array of numbers, given flat; shape nil: one axis of all of them; dtype nil: float32.
function mx.array(values, shape, dtype)
  shape, dtype = shape or { #values }, dtype or "float32"
  if not types[dtype] then error("mxlite: arrays cannot be made of " .. tostring(dtype), 0) end
  if #values ~= count_of(shape) then error("mxlite: " .. #values .. " values for another shape", 0) end
  local slot = ffi.new "NDArrayHandle[1]"
  check(C.MXNDArrayCreateEx64(ffi.new("int64_t[?]", #shape, shape), #shape, 1, 0, 0, codes[dtype], slot))
  local array = adopt(slot[0])
  check(C.MXNDArraySyncCopyFromCPU(array.handle, ffi.new(types[dtype] .. "[?]", #values, values), #values))
  return array
end

function NDArray:free() metatable.__gc(self) end -- at once; the collector then finds nothing

function NDArray:shape()
  local ndim, extents, shape = ffi.new "int[1]", ffi.new "const int64_t *[1]", {}
  check(C.MXNDArrayGetShapeEx64(self.handle, ndim, extents))
  for i = 1, ndim[0] do shape[i] = tonumber(extents[0][i - 1]) end
  return shape
end

function NDArray:dtype()
  local code = ffi.new "int[1]"
  check(C.MXNDArrayGetDType(self.handle, code))
  return names[code[0]]
end

-- The elements in C order, as a flat table.
function NDArray:totable()
  local dtype, count, values = self:dtype(), count_of(self:shape()), {}
  if not types[dtype] then return mx.op.Cast(self, { dtype = "float32" }):totable() end
  local room = ffi.new(types[dtype] .. "[?]", count)
  check(C.MXNDArraySyncCopyToCPU(self.handle, room, count))
  for i = 1, count do values[i] = dtype == "bool" and room[i - 1] or tonumber(room[i - 1]) end
  return values
end

function NDArray:item()
  local values = self:totable()
  if #values ~= 1 then error("item: the array has " .. #values .. " elements, not 1", 0) end
  return values[1]
end

-- ---- operators: mx.op.softmax(x, { axis = 0 }); several outputs are several results ----

local function text(value)
  if type(value) == "boolean" then return value and "True" or "False" end
  if type(value) == "number" then return ("%.17g"):format(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for i, each in ipairs(value) do parts[i] = text(each) end
  return "(" .. table.concat(parts, ",") .. (#parts == 1 and ",)" or ")")
end

-- What the collector must leave alone until a call that has only raw pointers to it is over.
local held = {}

local function finish(status)
  for i = #held, 1, -1 do held[i] = nil end
  check(status)
end

local function handles_of(arrays)
  held[#held + 1] = arrays
  local handles = ffi.new("NDArrayHandle[?]", math.max(1, #arrays))
  for i, array in ipairs(arrays) do
    if not ffi.istype(Array, array) then
      finish(0)
      error("mxlite: input " .. i .. " is no array", 0)
    end
    handles[i - 1] = array.handle
  end
  return handles, #arrays
end

local function run(op, ...)
  local inputs, params, out = { ... }, {}, nil
  if type(inputs[#inputs]) == "table" then params = table.remove(inputs) end
  local keys, values, n = {}, {}, 0
  held[1], held[2] = keys, values
  for key, value in pairs(params) do
    if key == "out" then
      out = ffi.istype(Array, value) and { value } or value
    else
      n = n + 1
      keys[n], values[n] = key, text(value)
    end
  end
  local given, count = handles_of(inputs)
  local number, slots, stypes = ffi.new("int[1]", out and #out or 0), ffi.new "NDArrayHandle *[1]", ffi.new "const int *[1]"
  local written = out and handles_of(out)
  if out then held[#held + 1], slots[0] = written, written end
  finish(C.MXImperativeInvokeEx(op, count, given, number, slots, n, ffi.new("const char *[?]", n + 1, keys),
    ffi.new("const char *[?]", n + 1, values), stypes))
  if out then return unpack(out) end
  local results = {}
  for i = 1, number[0] do results[i] = adopt(slots[0][i - 1]) end
  return unpack(results)
end

setmetatable(mx.op, { __index = function(ops, name)
  local slot = ffi.new "OpHandle[1]"
  check(C.NNGetOpHandle(name, slot))
  local op = slot[0]
  local function call(...) return run(op, ...) end
  rawset(ops, name, call)
  return call
end })

function mx.operators()
  local count, list, all = ffi.new "uint32_t[1]", ffi.new "const char **[1]", {}
  check(C.MXListAllOpNames(count, list))
  for i = 1, count[0] do all[i] = ffi.string(list[0][i - 1]) end
  return all
end

-- x:softmax { axis = 0 } is mx.op.softmax(x, { axis = 0 }).
function metatable.__index(_, name) return NDArray[name] or mx.op[name] end

-- Operators of Lua's are calls that are prepared once.
local function prepared(name, argument)
  local slot = ffi.new "MXLCallHandle[1]"
  check(C.MXLPrepare(name, 0, nil, nil, argument and 1 or 0, ffi.new("const char *[1]", { argument }), slot))
  return slot[0]
end

local function handle_of(operand)
  if not ffi.istype(Array, operand) then error("mxlite: an operand is neither array nor number", 0) end
  return operand.handle
end

local function operator(arrays, right, left)
  local both, by_right, by_left = prepared(arrays), prepared(right, "scalar"), prepared(left, "scalar")
  return function(a, b)
    if type(b) == "number" then return adopt(C.MXLCall1Float(by_right, handle_of(a), b)) end
    if type(a) == "number" then return adopt(C.MXLCall1Float(by_left, handle_of(b), a)) end
    return adopt(C.MXLCall2(both, handle_of(a), handle_of(b)))
  end
end
metatable.__add = operator("broadcast_add", "_plus_scalar", "_plus_scalar")
metatable.__sub = operator("broadcast_sub", "_minus_scalar", "_rminus_scalar")
metatable.__mul = operator("broadcast_mul", "_mul_scalar", "_mul_scalar")
metatable.__div = operator("broadcast_div", "_div_scalar", "_rdiv_scalar")
metatable.__pow = operator("broadcast_power", "_power_scalar", "_rpower_scalar")
metatable.__mod = operator("broadcast_mod", "_mod_scalar", "_rmod_scalar")
function metatable.__unm(a) return mx.op.negative(a) end

-- ---- autograd ----

local function flags(recording, training)
  local before = ffi.new "int[2]"
  check(C.MXAutogradSetIsRecording(recording and 1 or 0, before))
  check(C.MXAutogradSetIsTraining(training and 1 or 0, before + 1))
  return before[0] ~= 0, before[1] ~= 0
end

local function restored(recording, training, ok, ...)
  flags(recording, training)
  if not ok then error((...), 0) end
  return ...
end

-- Call a function while recording (or not); give what it returns; put the flags back whatever happens.
local function within(recording, training, body)
  local before, trained = flags(recording, training)
  return restored(before, trained, pcall(body))
end
function mx.autograd.record(body, train) return within(true, train ~= false, body) end
function mx.autograd.pause(body, train) return within(false, train == true, body) end

-- Makes the array a variable, its gradient zeros; add: backward adds to it.
function NDArray:attach_grad(add)
  local gradient = mx.op.zeros_like(self)
  local variable, slot = (handles_of { self }), (handles_of { gradient })
  finish(C.MXAutogradMarkVariables(1, variable, ffi.new("uint32_t[1]", add and 3 or 1), slot))
  return self
end

function NDArray:grad()
  local slot = ffi.new "NDArrayHandle[1]"
  check(C.MXNDArrayGetGrad(self.handle, slot))
  if slot[0] ~= nil then return adopt(slot[0]) end
end

function NDArray:detach()
  local slot = ffi.new "NDArrayHandle[1]"
  check(C.MXNDArrayDetach(self.handle, slot))
  return adopt(slot[0])
end

-- options: head_grads (tables of arrays as heads), retain_graph, create_graph, train (true).
-- Returns the variables' gradients as new arrays, in a table.
function mx.autograd.grad(heads, variables, options)
  options = options or {}
  local from, count = handles_of(heads)
  local to, wanted = handles_of(variables)
  local given, number, gradients, stypes = nil, count, ffi.new "NDArrayHandle *[1]", ffi.new "int *[1]"
  if options.head_grads then given, number = handles_of(options.head_grads) end
  if number ~= count then
    finish(0)
    error("backward: as many head gradients as heads are needed", 0)
  end
  local keep = (options.retain_graph or options.create_graph) and 1 or 0
  finish(C.MXAutogradBackwardEx(count, from, given, wanted, to, keep, options.create_graph and 1 or 0,
    options.train == false and 0 or 1, gradients, stypes))
  local all = {}
  for i = 1, wanted do all[i] = adopt(gradients[0][i - 1]) end
  return all
end

function mx.autograd.backward(heads, options) mx.autograd.grad(heads, {}, options) end
function NDArray:backward(options) mx.autograd.grad({ self }, {}, options) end

-- ---- files: tables of arrays by name ----

function mx.save(path, named)
  local keys, arrays = {}, {}
  for key, array in pairs(named) do
    keys[#keys + 1], arrays[#arrays + 1] = key, array
  end
  local handles, count = handles_of(arrays)
  held[#held + 1] = keys
  finish(C.MXNDArraySave(path, count, handles, ffi.new("const char *[?]", count + 1, keys)))
end

function mx.load(path)
  local count, list = ffi.new "uint32_t[2]", ffi.new "NDArrayHandle *[1]"
  local keys, all = ffi.new "const char **[1]", {}
  check(C.MXNDArrayLoad(path, count, list, count + 1, keys))
  for i = 0, count[0] - 1 do
    all[count[1] > 0 and ffi.string(keys[0][i]) or i + 1] = adopt(list[0][i])
  end
  return all
end

function mx.seed(value) check(C.MXRandomSeed(value)) end

return mx
