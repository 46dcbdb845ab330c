-- The Lua binding's tests: values, errors, lifetimes under collection, autograd, files; then ../cases.json.
--     luajit tests.lua [cases.json]
local mx = require "mxlite"
local ffi = require "ffi"
local op, record, pause = mx.op, mx.autograd.record, mx.autograd.pause
local passed, failed = 0, 0

local function live()
  collectgarbage()
  collectgarbage()
  local count = ffi.new "int64_t[1]"
  assert(mx.C.MXLGetLiveHandles(count) == 0)
  return tonumber(count[0])
end

local function test(name, body)
  local before = live()
  local ok, why = pcall(body)
  if ok and live() ~= before then ok, why = false, live() - before .. " handles are left" end
  if ok then passed = passed + 1 else
    failed = failed + 1
    print("FAIL " .. name .. ": " .. tostring(why))
  end
end

local function same(got, wanted)
  if type(got) ~= "table" then got = got:totable() end
  local a, b = table.concat(got, " "), table.concat(wanted, " ")
  if a ~= b then error("got " .. a .. ", wanted " .. b, 2) end
end

local function fails(with, body, ...)
  local ok, message = pcall(body, ...)
  if ok or not tostring(message):find(with, 1, true) then error("got " .. tostring(message), 2) end
end

local function three() return mx.array { 1, 2, 3 } end

-- ---- arrays ----

test("from and to tables", function()
  local x = mx.array({ 1, 2, 3, 4, 5, 6 }, { 2, 3 })
  same(x, { 1, 2, 3, 4, 5, 6 })
  same(x:shape(), { 2, 3 })
  assert(x:dtype() == "float32")
end)
for dtype, value in pairs { float32 = 0.5, float64 = 0.1, int32 = -7, int64 = 2 ^ 40, uint8 = 255, int8 = -128 } do
  test(dtype, function()
    local x = mx.array({ value }, nil, dtype)
    assert(x:item() == value and x:dtype() == dtype)
  end)
end
test("bool", function() assert(op.Cast(mx.array { 2 }, { dtype = "bool" }):item() == true) end)
test("float16 is read as numbers", function() same(op.Cast(three(), { dtype = "float16" }), { 1, 2, 3 }) end)
test("an unknown dtype", function() fails("float8", mx.array, { 1 }, nil, "float8") end)
test("values for another shape", function() fails("3 values", mx.array, { 1, 2, 3 }, { 2, 2 }) end)
test("item wants one element", function() fails("item: the array has 3 elements, not 1", three().item, three()) end)

-- ---- operators ----

test("arithmetic of arrays", function()
  local x, y = three(), mx.array { 4, 4, 4 }
  same(((x + y) * y - x) / mx.array { 1, 2, 4 }, { 19, 11, 6.25 })
  same(-x, { -1, -2, -3 })
  same(x ^ x, { 1, 4, 27 })
  same(y % x, { 0, 0, 1 })
end)
test("arithmetic with numbers, on either side", function()
  local x = three()
  same(1 + x * 2 - 1, { 2, 4, 6 })
  same(6 / x, { 6, 3, 2 })
  same(6 - x / 2, { 5.5, 5, 4.5 })
  same(2 ^ x, { 2, 4, 8 })
  same(7 % x, { 0, 1, 1 })
end)
test("broadcasting", function()
  same(mx.array({ 1, 2 }, { 2, 1 }) + mx.array({ 10, 20 }, { 1, 2 }), { 11, 21, 12, 22 })
end)
test("parameters: numbers, booleans, shapes, words", function()
  local x = mx.array({ 1, 2, 3, 4 }, { 2, 2 })
  same(op.sum(x, { axis = 1, keepdims = true }):shape(), { 2, 1 })
  same(op.Reshape(x, { shape = { 4 } }):shape(), { 4 })
  same(op.Activation(-x, { act_type = "relu" }), { 0, 0, 0, 0 })
end)
test("a double goes through whole", function()
  assert(op._plus_scalar(mx.array({ 0 }, nil, "float64"), { scalar = 0.1 }):item() == 0.1)
end)
test("as methods", function() same(three():square(), { 1, 4, 9 }) end)
test("several results", function()
  local a, b, c = op.SliceChannel(three(), { num_outputs = 3, axis = 0 })
  assert(a:item() == 1 and b:item() == 2 and c:item() == 3)
end)
test("any number of inputs", function() same(op.add_n(three(), three(), three()), { 3, 6, 9 }) end)
test("into an array that there is", function()
  local x, y = three(), mx.array { 0, 0, 0 }
  assert(op.square(x, { out = y }) == y)
  same(y, { 1, 4, 9 })
end)
test("every operator of the library", function()
  local names = mx.operators()
  assert(#names > 300)
  for _, name in ipairs(names) do assert(op[name], name) end
end)
test("seeds", function()
  local function draw(seed)
    mx.seed(seed)
    return table.concat(op._random_uniform({ shape = { 8 } }):totable(), " ")
  end
  assert(draw(3) == draw(3) and draw(3) ~= draw(4))
end)

-- ---- errors ----

test("the library's message", function()
  local message = 'softmax: unknown parameter "axes"; did you mean "axis"? It takes axis, temperature, dtype, use_length'
  fails(message, op.softmax, three(), { axes = 1 })
end)
test("an unknown operator", function()
  fails("NNGetOpHandle: operator no_such is not registered", function() return op.no_such end)
end)
test("shapes that do not fit", function() fails("(3,)", function() return three() + mx.array { 1, 2 } end) end)
test("an input that is no array", function() fails("input 2 is no array", op.broadcast_add, three(), "x") end)
test("an operand that is neither array nor number", function()
  fails("neither array nor number", function() return three() + {} end)
  fails("neither array nor number", function() return "x" * three() end)
end)
test("after an error all goes on", function()
  fails("input 2", op.broadcast_add, three(), "x")
  same(op.broadcast_add(three(), three()), { 2, 4, 6 })
end)

-- ---- lifetimes ----

test("freed at once, and only once", function()
  local before, x = live(), three()
  x:free()
  assert(live() == before)
  x:free()
  fails("", x.shape, x)
end)
test("temporaries under the collector", function()
  collectgarbage("setpause", 1)
  local x, sum = three(), 0
  for _ = 1, 3000 do sum = sum + op.sum(op.square(x + 1) * op.negative(-x)):item() end
  collectgarbage("setpause", 200)
  assert(sum == 3000 * (4 + 18 + 48))
end)
test("what was recorded outlives its arrays", function()
  local x = three():attach_grad()
  local y = record(function() return (x * x) * x end)
  collectgarbage()
  y:backward()
  same(x:grad(), { 3, 12, 27 })
end)

-- ---- autograd ----

local function modes()
  local recording, training = ffi.new "bool[1]", ffi.new "bool[1]"
  assert(mx.C.MXAutogradIsRecording(recording) == 0 and mx.C.MXAutogradIsTraining(training) == 0)
  return (recording[0] and "recording" or "-") .. " " .. (training[0] and "training" or "-")
end

test("scopes nest, and pass results on", function()
  local a, b, c, d = record(function()
    local inner, innermost = pause(function() return modes(), record(modes, false) end)
    return inner, innermost, modes(), nil
  end)
  assert(a == "- -" and b == "recording -" and c == "recording training" and d == nil)
  assert(modes() == "- -")
end)
test("an error leaves a scope", function()
  fails("out", record, function() error("out", 0) end)
  assert(modes() == "- -")
end)
test("what is paused is a constant", function()
  local x = three():attach_grad()
  local y = record(function() return x * 2 * pause(function() return x * 3 end) end)
  y:backward()
  same(x:grad(), { 6, 12, 18 })
end)
test("detach", function()
  local x = three():attach_grad()
  record(function() return x:detach() * x end):backward()
  same(x:grad(), { 1, 2, 3 })
end)
test("gradients add up where asked", function()
  local x = three():attach_grad(true)
  for _ = 1, 2 do record(function() return x * x end):backward() end
  same(x:grad(), { 4, 8, 12 })
end)
test("head gradients", function()
  local x = three():attach_grad()
  local y = record(function() return x * x end)
  fails("as many", mx.autograd.backward, { y }, { head_grads = {} })
  y:backward { head_grads = { mx.array { 1, 10, 100 } } }
  same(x:grad(), { 2, 40, 600 })
end)
test("gradients of any order", function()
  local x = mx.array({ 0.5 }, nil, "float64"):attach_grad()
  record(function()
    local y, wanted = op.sin(x), { math.cos(0.5), -math.sin(0.5), -math.cos(0.5), math.sin(0.5), math.cos(0.5) }
    for order = 1, #wanted do
      y = mx.autograd.grad({ y }, { x }, { create_graph = true })[1]
      assert(math.abs(y:item() - wanted[order]) < 1e-12, order)
    end
  end)
end)
test("backward of what was not recorded", function()
  local x = three()
  fails("", x.backward, x)
  assert(x:grad() == nil)
end)

-- ---- files ----

test("save and load", function()
  local path = os.tmpname()
  mx.save(path, { x = three(), y = mx.array({ 1, 2, 3, 4 }, { 2, 2 }, "int32") })
  local all = mx.load(path)
  same(all.x, { 1, 2, 3 })
  same(all.y:shape(), { 2, 2 })
  assert(all.y:dtype() == "int32")
  os.remove(path)
  fails(path, mx.load, path)
end)

local cases_passed, cases_failed = require "conformance" (arg[1] or "../cases.json")
passed, failed = passed + cases_passed, failed + cases_failed
if cases_passed == 0 then failed = failed + 1 end
print(("lua: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
