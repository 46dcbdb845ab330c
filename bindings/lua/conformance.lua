-- The runner of ../cases.json (../README.md has its format). Returns a function: path -> passed, failed.
local mx = require "mxlite"

-- ---- JSON of the plain kind that the file has ----

local value

local function skip(text, at) return text:find("[^%s,:]", at) end

local function string_at(text, at)
  local stop = at
  repeat stop = text:find('"', stop + 1, true) until text:sub(stop - 1, stop - 1) ~= "\\"
  return text:sub(at + 1, stop - 1):gsub('\\"', '"'), stop + 1
end

function value(text, at)
  local open, found = text:sub(at, at), {}
  if open == '"' then
    local words, after = string_at(text, at)
    return words, after
  elseif open == "[" then
    at = skip(text, at + 1)
    while text:sub(at, at) ~= "]" do
      found[#found + 1], at = value(text, at)
      at = skip(text, at)
    end
    return found, at + 1
  elseif open == "{" then
    at = skip(text, at + 1)
    while text:sub(at, at) ~= "}" do
      local key, after = string_at(text, at)
      found[key], at = value(text, skip(text, after))
      at = skip(text, at)
    end
    return found, at + 1
  end
  local number = text:match("^[-+.%deE]+", at)
  return assert(tonumber(number), "cases.json: no value at " .. at), at + #number
end

-- ---- cases ----

local words = { nan = 0 / 0, inf = 1 / 0, ["-inf"] = -1 / 0 }

local function array_of(row)
  local numbers = {}
  for i, each in ipairs(row.values) do numbers[i] = words[each] or each end
  return mx.array(numbers, row.shape, row.dtype), numbers
end

local function arrays_of(rows)
  local all = {}
  for i, row in ipairs(rows) do all[i] = (array_of(row)) end
  return all
end

local function compare(what, got, row)
  if got:dtype() ~= row.dtype or table.concat(got:shape(), ",") ~= table.concat(row.shape, ",") then
    error(what .. " has another dtype or shape", 0)
  end
  local _, wanted = array_of(row)
  for i, a in ipairs(got:totable()) do
    local b = wanted[i]
    local same = a == b or (a ~= a and b ~= b)
    if not same and not (math.abs(a - b) <= row.atol + row.rtol * math.abs(b)) then
      error(what .. ": value " .. i .. " is " .. a .. ", not " .. b, 0)
    end
  end
end

local function call(row, inputs)
  local arguments = { unpack(inputs) }
  arguments[#arguments + 1] = row.params
  return { mx.op[row.op](unpack(arguments)) }
end

local function run(row)
  local inputs, train = arrays_of(row.inputs), row.train == 1
  if row.error then
    local ok, message = pcall(call, row, inputs)
    if ok then error("did not fail", 0) end
    if message ~= row.error then error("another message: " .. message, 0) end
    return
  end
  for _, each in ipairs(row.gradients or {}) do inputs[each.input + 1]:attach_grad() end
  local scope = row.gradients and mx.autograd.record or mx.autograd.pause
  local outputs = scope(function() return call(row, inputs) end, train)
  if #outputs ~= #row.outputs then error(#outputs .. " outputs", 0) end
  for i, each in ipairs(row.outputs) do compare("output " .. i, outputs[i], each) end
  if not row.gradients then return end
  mx.autograd.backward(outputs, { head_grads = arrays_of(row.heads), train = train })
  for _, each in ipairs(row.gradients) do
    compare("gradient of input " .. each.input, inputs[each.input + 1]:grad(), each)
  end
end

return function(path)
  local file = assert(io.open(path))
  local cases = value(file:read "*a", 1).cases
  file:close()
  local passed, failed = 0, 0
  for _, row in ipairs(cases) do
    local ok, why = pcall(run, row)
    if ok then
      passed = passed + 1
    else
      failed = failed + 1
      print("FAIL " .. row.id .. ": " .. tostring(why))
    end
  end
  return passed, failed
end
