-- Trains a two-layer network on handwritten digits, as examples/digits.c does:  luajit digits.lua [digits.u8]
local mx = require "mxlite"
local op, record = mx.op, mx.autograd.record
local PIXELS, CLASSES, IMAGES, TRAIN, HIDDEN, BATCH, EPOCHS = 64, 10, 1797, 1437, 128, 32, 20

local function rows(bytes, first, last)
  local x, y = {}, {}
  for i = first, last do
    local at = i * (PIXELS + 1)
    for k = 1, PIXELS do x[#x + 1] = bytes:byte(at + k) / 16 end
    y[#y + 1] = bytes:byte(at + PIXELS + 1)
  end
  return { images = mx.array(x, { last - first + 1, PIXELS }), digits = mx.array(y) }
end

-- He's initial weights (He et al. 2015): normal with variance 2 / inputs; biases zero.
local function network()
  local net = { weights = {}, momenta = {} }
  for _, size in ipairs { { HIDDEN, PIXELS }, { CLASSES, HIDDEN } } do
    net.weights[#net.weights + 1] = op._random_normal { shape = size, scale = math.sqrt(2 / size[2]) }
    net.weights[#net.weights + 1] = op._zeros { shape = { size[1] } }
  end
  for i, weight in ipairs(net.weights) do
    weight:attach_grad()
    net.momenta[i] = op.zeros_like(weight)
  end
  return net
end

local function scores(net, x)
  local w = net.weights
  local inner = op.relu(op.FullyConnected(x, w[1], w[2], { num_hidden = HIDDEN }))
  return op.FullyConnected(inner, w[3], w[4], { num_hidden = CLASSES })
end

-- Mean of -log(probability of the right digit).
local function cross_entropy(score, digits)
  return -op.mean(op.pick(op.log_softmax(score), digits))
end

local function shuffled()
  local drawn, order = op._random_uniform({ shape = { TRAIN } }):totable(), {}
  for i = 1, TRAIN do order[i] = i - 1 end
  for i = TRAIN, 2, -1 do -- Fisher and Yates
    local k = math.min(i, math.floor(drawn[i] * i) + 1)
    order[i], order[k] = order[k], order[i]
  end
  return order
end

local function train_epoch(net, data, rate)
  local order, total = shuffled(), 0
  for first = 1, TRAIN, BATCH do
    local chosen = mx.array { unpack(order, first, math.min(first + BATCH - 1, TRAIN)) }
    local x, y = op.take(data.images, chosen), op.take(data.digits, chosen)
    local loss = record(function() return cross_entropy(scores(net, x), y) end)
    loss:backward()
    for i, weight in ipairs(net.weights) do
      op.sgd_mom_update(weight, weight:grad(), net.momenta[i],
        { lr = rate, momentum = 0.9, wd = 1e-4, out = weight })
    end
    total = total + loss:item() * chosen:shape()[1]
  end
  return total / TRAIN
end

local file = assert(io.open(arg[1] or "examples/data/digits.u8", "rb"))
local bytes = file:read "*a"
assert(#bytes == IMAGES * (PIXELS + 1), "the file of digits has another length")
local training, held = rows(bytes, 0, TRAIN - 1), rows(bytes, TRAIN, IMAGES - 1)
mx.seed(1)
local net, accuracy = network(), 0
print "epoch   training loss   held-out loss   held-out accuracy   seconds"
for epoch = 1, EPOCHS do
  local begin = os.clock()
  local loss = train_epoch(net, training, epoch <= EPOCHS / 2 and 0.2 or 0.02)
  local score = scores(net, held.images)
  accuracy = op.mean(op._equal(op.argmax(score, { axis = 1 }), held.digits)):item()
  print(("%5d %15.4f %15.4f %19.3f %9.3f"):format(epoch, loss, cross_entropy(score, held.digits):item(), accuracy,
    os.clock() - begin))
end
print(("held-out accuracy %.3f"):format(accuracy))
os.exit(accuracy >= 0.97 and 0 or 1)
