"""A Gaussian process: marginal likelihood by Cholesky's decomposition, its parameters by gradients."""

import numpy as np
from common import Log
from mxnet import autograd, nd

random = np.random.RandomState(13)
points = np.sort(random.uniform(-3, 3, 80)).reshape(-1, 1)
values = np.sin(2 * points) + random.normal(0, 0.1, points.shape)
x, y = nd.array(points, dtype="float64"), nd.array(values, dtype="float64")
parameters = [nd.array([value], dtype="float64") for value in (0.0, 0.0, -1.0)]
for each in parameters:
    each.attach_grad()


def kernel(a, b, length, variance):
    distance = nd.broadcast_sub(a, b.transpose()) ** 2
    return nd.broadcast_mul(nd.exp(nd.broadcast_div(-0.5 * distance, nd.exp(length) ** 2)), nd.exp(variance))


log = Log()
going = True
eye = nd.eye(80, dtype="float64")
while going:
    with autograd.record():
        length, variance, noise = parameters
        covariance = kernel(x, x, length, variance) + nd.broadcast_mul(eye, nd.exp(noise))
        factor = nd.linalg.potrf(covariance)
        solved = nd.linalg.trsm(factor, y)
        loss = 0.5 * nd.sum(solved * solved) + nd.linalg.sumlogdiag(factor) + 40 * np.log(2 * np.pi)
    loss.backward()
    for each in parameters:
        each[:] = each - 0.005 * nd.clip(each.grad, -10, 10)
    going = log.step(loss)
log.done()
