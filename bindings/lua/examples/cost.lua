-- What `x + y` of two 4 x 4 arrays costs. Answers each line, a number of calls, with the nanoseconds of one: how
-- benchmarks/bindings.py asks. The collector frees the sums.
local mx = require "mxlite"
local ffi = require "ffi"

ffi.cdef "struct moment { long s, ns; }; int clock_gettime(int clock, struct moment *now);"
local moment = ffi.new "struct moment"
local function now()
  ffi.C.clock_gettime(1, moment)
  return tonumber(moment.s) * 1e9 + tonumber(moment.ns)
end

local ones = {}
for i = 1, 16 do ones[i] = 1 end
local x, y = mx.array(ones, { 4, 4 }), mx.array(ones, { 4, 4 })
io.stdout:setvbuf "no"
print(jit.version)
for line in io.lines() do
  local count, begin = tonumber(line), now()
  for _ = 1, count do
    local _ = x + y
  end
  print((now() - begin) / count)
end
