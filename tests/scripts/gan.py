"""Generator and discriminator with a trainer each: transposed convolutions, batch normalisation, leaky units."""

import numpy as np
from common import Log, Seeded, squares
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

images, _, _ = squares(800, 16, channels=3)
real_all = nd.array(images).transpose((0, 3, 1, 2)) / 127.5 - 1
random = np.random.RandomState(7)
BATCH = 16

generator = nn.Sequential()
with generator.name_scope():
    generator.add(nn.Dense(64 * 16), nn.HybridLambda(lambda F, x: x.reshape((0, 64, 4, 4))), nn.BatchNorm())
    generator.add(nn.Conv2DTranspose(32, 4, 2, 1), nn.BatchNorm(), nn.Activation("relu"))
    generator.add(nn.Conv2DTranspose(3, 4, 2, 1), nn.Activation("tanh"))
discriminator = nn.Sequential()
with discriminator.name_scope():
    discriminator.add(nn.Conv2D(32, 4, 2, 1, use_bias=False), nn.LeakyReLU(0.2))
    discriminator.add(nn.Conv2D(64, 4, 2, 1, use_bias=False), nn.BatchNorm(), nn.LeakyReLU(0.2))
    discriminator.add(nn.Dense(1, use_bias=False))
generator.initialize(Seeded(0.02))
discriminator.initialize(Seeded(0.02))
settings = {"learning_rate": 0.0002, "beta1": 0.5}
trainer_g = gluon.Trainer(generator.collect_params(), "adam", settings)
trainer_d = gluon.Trainer(discriminator.collect_params(), "adam", settings)
loss_of = gluon.loss.SigmoidBinaryCrossEntropyLoss()
ones, zeros = nd.ones((BATCH,)), nd.zeros((BATCH,))
log = Log()
going, i = True, 0
while going:
    real = real_all[i * BATCH % 800 : i * BATCH % 800 + BATCH]
    noise = nd.array(random.normal(0, 1, (BATCH, 20)))
    with autograd.record():
        fake = generator(noise)
        loss_d = loss_of(discriminator(real).reshape((-1,)), ones)
        loss_d = loss_d + loss_of(discriminator(fake.detach()).reshape((-1,)), zeros)
    loss_d.backward()
    trainer_d.step(BATCH)
    with autograd.record():
        loss_g = loss_of(discriminator(generator(noise)).reshape((-1,)), ones)
    loss_g.backward()
    trainer_g.step(BATCH)
    going, i = log.step(loss_d + loss_g), i + 1
log.done()
