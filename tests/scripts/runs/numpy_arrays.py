"""NumPy's interface of MXNet 1.6 and later."""

from mxnet import np, npx

npx.set_np()
print(np.ones(3))
