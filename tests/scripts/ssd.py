"""Detection: anchors, targets and detections by the MultiBox operators, two losses, a head of convolutions."""

import numpy as np
from common import Log, Seeded, squares
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

images, labels, boxes = squares(400, 48, channels=3)
x_all = nd.array(images).transpose((0, 3, 1, 2)) / 255
y_all = nd.array(np.concatenate([np.zeros((400, 1)), boxes], axis=1)).expand_dims(1)
SIZES, RATIOS, CLASSES = [0.3, 0.4], [1, 2, 0.5], 1
ANCHORS = len(SIZES) + len(RATIOS) - 1


# Smooth functions: a kink that one package crosses and the other does not, by rounding, would set losses apart.
def block(channels):
    out = nn.HybridSequential()
    for _ in range(2):
        out.add(nn.Conv2D(channels, 3, padding=1), nn.BatchNorm(in_channels=channels), nn.Activation("softrelu"))
    out.add(nn.AvgPool2D(2))
    return out


class SSD(gluon.Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.body = nn.HybridSequential()
            for channels in (16, 32, 64):
                self.body.add(block(channels))
            self.classes = nn.Conv2D(ANCHORS * (CLASSES + 1), 3, padding=1)
            self.boxes = nn.Conv2D(ANCHORS * 4, 3, padding=1)

    def forward(self, x):
        x = self.body(x)
        anchors = nd.contrib.MultiBoxPrior(x, sizes=SIZES, ratios=RATIOS)
        classes = nd.transpose(self.classes(x), (0, 2, 3, 1)).reshape((0, -1, CLASSES + 1))
        return anchors, classes, nd.flatten(nd.transpose(self.boxes(x), (0, 2, 3, 1)))


net = SSD()
net.initialize(Seeded(0.1))
net.body.hybridize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.02, "wd": 5e-4})
class_loss = gluon.loss.SoftmaxCrossEntropyLoss()
log = Log()
going, i = True, 0
while going:
    at = i * 8 % 400
    x, y = x_all[at : at + 8], y_all[at : at + 8]
    with autograd.record():
        anchors, classes, offsets = net(x)
        with autograd.pause():
            target, mask, which = nd.contrib.MultiBoxTarget(anchors, y, classes.transpose((0, 2, 1)))
        loss = class_loss(classes, which) + nd.smooth_l1((offsets - target) * mask, scalar=1.0).mean(axis=1)
    loss.backward()
    trainer.step(8)
    going, i = log.step(loss), i + 1
found = nd.contrib.MultiBoxDetection(nd.softmax(classes).transpose((0, 2, 1)), offsets, anchors, nms_threshold=0.45)
assert found.shape[2] == 6
log.done()
