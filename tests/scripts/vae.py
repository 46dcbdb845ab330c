"""A variational autoencoder of images."""

import mxnet as mx
import numpy as np
from common import Log, Seeded, squares
from mxnet import autograd, gluon
from mxnet.gluon import nn

images, _, _ = squares(1600, 21)
data = images.reshape(1600, -1).astype("float32") / 255
random = np.random.RandomState(5)


class VAE(gluon.HybridBlock):
    def __init__(self, hidden, latent, outputs, **kwargs):
        super().__init__(**kwargs)
        self.latent = latent
        with self.name_scope():
            self.encoder = nn.HybridSequential(prefix="encoder_")
            self.encoder.add(nn.Dense(hidden, activation="tanh"), nn.Dense(latent * 2))
            self.decoder = nn.HybridSequential(prefix="decoder_")
            self.decoder.add(nn.Dense(hidden, activation="tanh"), nn.Dense(outputs, activation="sigmoid"))

    def hybrid_forward(self, F, x, noise):
        code = self.encoder(x)
        mean, log_variance = F.split(code, axis=1, num_outputs=2)
        z = mean + F.exp(0.5 * log_variance) * noise
        y = self.decoder(z)
        divergence = -0.5 * F.sum(1 + log_variance - mean * mean - F.exp(log_variance), axis=1)
        fit = -F.sum(x * F.log(y + 1e-6) + (1 - x) * F.log(1 - y + 1e-6), axis=1)
        return divergence + fit


net = VAE(200, 8, data.shape[1])
net.initialize(Seeded(0.05))
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.002})
log = Log()
going, i = True, 0
while going:
    x = mx.nd.array(data[i * 64 % 1536 : i * 64 % 1536 + 64])
    noise = mx.nd.array(random.normal(0, 1, (64, 8)))
    with autograd.record():
        loss = net(x, noise)
    loss.backward()
    trainer.step(64)
    going, i = log.step(loss), i + 1
log.done()
