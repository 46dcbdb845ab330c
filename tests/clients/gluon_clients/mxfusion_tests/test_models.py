"""MXFusion's models on data: regressions, Gaussian processes, Bayesian networks, their files (make test-clients)."""

from __future__ import annotations

import os

import mxfusion as mf
import mxnet as mx
import numpy as np
import pytest
from mxfusion.components.distributions import Gamma, GaussianProcess, Normal
from mxfusion.components.distributions.gp import kernels
from mxfusion.components.functions import MXFusionGluonFunction, operators
from mxfusion.components.variables import PositiveTransformation, Variable
from mxfusion.inference import (
    MAP,
    BatchInferenceLoop,
    ForwardSamplingAlgorithm,
    GradBasedInference,
    Inference,
    MinibatchInferenceLoop,
    ModulePredictionAlgorithm,
    ScoreFunctionInference,
    StochasticVariationalInference,
    TransferInference,
    VariationalPosteriorForwardSampling,
    create_Gaussian_meanfield,
)
from mxfusion.modules.gp_modules import GPRegression, SparseGPRegression, SVGPRegression
from mxfusion.util.customop import broadcast_to_w_samples, make_diagonal
from mxnet.gluon import nn

X = np.random.RandomState(0).rand(10, 3)
Y = np.random.RandomState(1).rand(10, 2)
NEW = np.random.RandomState(2).rand(4, 3)
SCALES = np.array([0.5, 1.0, 2.0])


def double(values) -> mx.nd.NDArray:
    return mx.nd.array(values, dtype="float64")


# ---- kernels, operators, functions ----


def distances(x, other) -> np.ndarray:
    return np.sqrt((((x[:, None] - other[None]) / SCALES) ** 2).sum(-1))


KERNELS = {
    "RBF": lambda r: np.exp(-0.5 * r**2),
    "Matern12": lambda r: np.exp(-r),
    "Matern32": lambda r: (1 + 3**0.5 * r) * np.exp(-(3**0.5) * r),
    "Matern52": lambda r: (1 + 5**0.5 * r + 5 / 3 * r**2) * np.exp(-(5**0.5) * r),
}


def evaluated(kernel, x, other=None, **parameters) -> np.ndarray:
    given = {f"{kernel.name}_{name}": double(value)[None] for name, value in parameters.items()}
    return kernel.K(mx.nd, double(x)[None], None if other is None else double(other)[None], **given).asnumpy()[0]


@pytest.mark.parametrize("name", KERNELS)
def test_stationary_kernel(name) -> None:
    kernel = getattr(kernels, name)(3, ARD=True, dtype="float64")
    exact = 2.0 * KERNELS[name](distances(X, NEW))
    np.testing.assert_allclose(evaluated(kernel, X, NEW, lengthscale=SCALES, variance=[2.0]), exact, rtol=1e-5)
    own = evaluated(kernel, X, lengthscale=SCALES, variance=[2.0])
    np.testing.assert_allclose(own, 2.0 * KERNELS[name](distances(X, X)), rtol=1e-3, atol=1e-5)


def test_other_kernels() -> None:
    linear = kernels.Linear(3, ARD=True, dtype="float64")
    np.testing.assert_allclose(evaluated(linear, X, NEW, variances=SCALES), (X * SCALES) @ NEW.T, rtol=1e-6)
    np.testing.assert_allclose(evaluated(kernels.Bias(3, dtype="float64"), X, NEW, variance=[2.0]), 2.0)
    np.testing.assert_allclose(evaluated(kernels.White(3, dtype="float64"), X, variance=[2.0]), 2 * np.eye(10))


@pytest.mark.parametrize("how", ["add", "multiply"])
def test_kernels_together(how) -> None:
    first, second = (
        kernels.RBF(3, ARD=True, name="rbf", dtype="float64"),
        kernels.Linear(3, ARD=True, name="linear", dtype="float64"),
    )
    both = first + second if how == "add" else first * second
    names = {
        f"{both.name}_rbf_lengthscale": SCALES,
        f"{both.name}_rbf_variance": [2.0],
        f"{both.name}_linear_variances": SCALES,
    }
    found = both.K(mx.nd, double(X)[None], **{name: double(value)[None] for name, value in names.items()}).asnumpy()[0]
    parts = 2 * KERNELS["RBF"](distances(X, X)), (X * SCALES) @ X.T
    np.testing.assert_allclose(found, parts[0] + parts[1] if how == "add" else parts[0] * parts[1], rtol=1e-5)


@pytest.mark.parametrize(
    "name,values,exact",
    [
        ("add", (X, Y[:, :1]), X + Y[:, :1]),
        ("subtract", (X, X * 2), -X),
        ("multiply", (X, X), X * X),
        ("divide", (X, X + 1), X / (X + 1)),
        ("power", (X, X), X**X),
        ("square", (X,), X * X),
        ("exp", (X,), np.exp(X)),
        ("log", (X,), np.log(X)),
        ("sum", (X,), X.sum()),
        ("mean", (X,), X.mean()),
        ("prod", (X,), X.prod()),
        ("dot", (X, NEW.T), X @ NEW.T),
        ("transpose", (X,), X.T),
    ],
)
def test_operator(name, values, exact) -> None:
    result = getattr(operators, name)(*(Variable(shape=each.shape) for each in values))
    factor = result.factor
    pairs = zip(factor.inputs, values)
    variables = {variable.uuid: double(value)[None] for (_, variable), value in pairs}
    found = factor.eval(mx.nd, variables=variables, always_return_tuple=True)[0].asnumpy()
    np.testing.assert_allclose(found.reshape(np.shape(exact)), exact, rtol=1e-6)


def test_custom_operators() -> None:
    x = double(Y)
    x.attach_grad()
    with mx.autograd.record():
        made = make_diagonal(mx.nd, x)
        wide = broadcast_to_w_samples(mx.nd, x[None], (5, 10, 2))
        (made * 3).sum().backward(retain_graph=True)
    np.testing.assert_array_equal(made.asnumpy(), [np.diag(row) for row in Y])
    np.testing.assert_array_equal(wide.asnumpy(), [Y] * 5)
    np.testing.assert_array_equal(x.grad.asnumpy(), 3)


def network(outputs: int = 1, dtype: str = "float64") -> nn.HybridSequential:
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(8, activation="tanh", in_units=3, dtype=dtype))
        net.add(nn.Dense(outputs, in_units=8, dtype=dtype))
    net.initialize(mx.init.Xavier(magnitude=3))
    return net


def test_gluon_function() -> None:
    net = network()
    function = MXFusionGluonFunction(net, num_outputs=1)
    result = function(Variable(shape=(10, 3)))
    assert (
        sorted(function.parameters) == ["net_dense0_bias", "net_dense0_weight", "net_dense1_bias", "net_dense1_weight"]
        and len(result.factor.inputs) == 5
    )


# ---- inference ----


def gaussian() -> mf.Model:
    model = mf.Model()
    model.mu = Variable()
    model.s = Variable(transformation=PositiveTransformation())
    model.Y = Normal.define_variable(mean=model.mu, variance=model.s, shape=(100,))
    return model


DATA = np.random.RandomState(3).randn(100) * 2 + 3


@pytest.mark.parametrize("optimizer", ["adam", "rmsprop"])
def test_maximum_likelihood(optimizer) -> None:
    model = gaussian()
    inference = GradBasedInference(MAP(model=model, observed=[model.Y]), BatchInferenceLoop())
    inference.run(Y=mx.nd.array(DATA), learning_rate=0.05, max_iter=1500, optimizer=optimizer)
    assert abs(inference.params[model.mu].asscalar() - DATA.mean()) < 0.06
    assert abs(inference.params[model.s].asscalar() - DATA.var()) < 0.3


def test_parameters_in_files(tmp_path) -> None:
    model = gaussian()
    inference = GradBasedInference(MAP(model=model, observed=[model.Y]))
    inference.run(Y=mx.nd.array(DATA), learning_rate=0.1, max_iter=20)
    file = os.fspath(tmp_path / "saved.zip")
    inference.save(zip_filename=file)
    other = gaussian()
    again = GradBasedInference(MAP(model=other, observed=[other.Y]))
    again.initialize(Y=(100,))
    again.load(zip_filename=file)
    for ours, theirs in ((other.mu, model.mu), (other.s, model.s)):
        np.testing.assert_allclose(again.params[ours].asnumpy(), inference.params[theirs].asnumpy(), rtol=1e-6)


def bayesian(rows: int) -> mf.Model:
    model = mf.Model()
    model.N = Variable()
    model.f = MXFusionGluonFunction(network(dtype="float32"), num_outputs=1, broadcastable=False)
    model.x = Variable(shape=(model.N, 3))
    model.v = Variable(shape=(1,), transformation=PositiveTransformation(), initial_value=mx.nd.array([0.1]))
    model.r = model.f(model.x)
    for _, each in model.r.factor.parameters.items():
        mean, variance = (operators.broadcast_to(mx.nd.array([number]), each.shape) for number in (0.0, 1.0))
        each.set_prior(Normal(mean=mean, variance=variance))
    model.y = Normal.define_variable(
        mean=model.r, variance=operators.broadcast_to(model.v, (model.N, 1)), shape=(model.N, 1)
    )
    return model


@pytest.mark.parametrize("minibatches", [False, True])
def test_variational_network(minibatches) -> None:
    model = bayesian(10)
    observed = [model.y, model.x]
    posterior = create_Gaussian_meanfield(model=model, observed=observed)
    algorithm = StochasticVariationalInference(num_samples=3, model=model, posterior=posterior, observed=observed)
    loop = MinibatchInferenceLoop(batch_size=5, rv_scaling={model.y: 2.0}) if minibatches else BatchInferenceLoop()
    inference = GradBasedInference(algorithm, grad_loop=loop)
    data = {"y": mx.nd.array(Y[:, :1]), "x": mx.nd.array(X)}
    inference.initialize(**{name: each.shape for name, each in data.items()})
    for each in inference.inference_algorithm.posterior.variables.values():
        if each.transformation is not None and each.type.name == "PARAMETER":
            inference.params[each] = mx.nd.ones(each.shape) * 1e-4
    inference.run(max_iter=2, learning_rate=1e-2, **data)
    inference.run(max_iter=40, learning_rate=1e-2, **data)
    forward = VariationalPosteriorForwardSampling(6, [model.x], inference, [model.r])
    drawn = forward.run(x=mx.nd.array(X))[0]
    assert drawn.shape == (6, 10, 1) and np.isfinite(drawn.asnumpy()).all()


def test_score_function() -> None:
    model = mf.Model()
    model.w = Normal.define_variable(mean=mx.nd.array([0.0]), variance=mx.nd.array([1.0]), shape=(1,))
    model.y = Normal.define_variable(mean=model.w, variance=mx.nd.array([1.0]), shape=(1,))
    posterior = create_Gaussian_meanfield(model=model, observed=[model.y])
    algorithm = ScoreFunctionInference(num_samples=10, model=model, posterior=posterior, observed=[model.y])
    inference = GradBasedInference(algorithm)
    inference.run(max_iter=10, learning_rate=1e-2, y=mx.nd.array([1.0]))
    assert all(np.isfinite(each.data().asnumpy()).all() for each in inference.params.param_dict.values())


def test_forward_sampling() -> None:
    model = mf.Model()
    model.rate = Gamma.define_variable(alpha=mx.nd.array([100.0]), beta=mx.nd.array([0.02]), shape=(1,))
    model.y = Normal.define_variable(mean=model.rate, variance=mx.nd.array([0.01]), shape=(1,))
    sampling = Inference(ForwardSamplingAlgorithm(model, observed=[], num_samples=500, target_variables=[model.y]))
    drawn = sampling.run()[0].asnumpy()
    assert drawn.shape == (500, 1) and abs(drawn.mean() - 2.0) < 0.1


# ---- Gaussian processes ----


def exact_process(noise: float) -> tuple[float, np.ndarray, np.ndarray]:
    """The log density of Y, and mean and variance at NEW, of a process with an RBF kernel."""
    covariance = 2 * KERNELS["RBF"](distances(X, X)) + noise * np.eye(10)
    across = 2 * KERNELS["RBF"](distances(X, NEW))
    solved = np.linalg.solve(covariance, Y)
    density = -0.5 * ((Y * solved).sum() + 2 * (np.linalg.slogdet(covariance)[1] + 10 * np.log(2 * np.pi)))
    return density, across.T @ solved, 2 - (across * np.linalg.solve(covariance, across)).sum(0)


def process(kind, noise: float, **more):
    model = mf.Model()
    model.N = Variable()
    model.X = Variable(shape=(model.N, 3))
    model.noise_var = Variable(transformation=PositiveTransformation(), initial_value=double([noise]))
    kernel = kernels.RBF(input_dim=3, ARD=True, variance=double([2.0]), lengthscale=double(SCALES), dtype="float64")
    model.Y = kind.define_variable(
        X=model.X, kernel=kernel, noise_var=model.noise_var, shape=(model.N, 2), dtype="float64", **more
    )
    return model


@pytest.mark.parametrize("kind", [GPRegression, SparseGPRegression])
def test_process(kind) -> None:
    more = {} if kind is GPRegression else {"inducing_inputs": Variable(shape=(10, 3), initial_value=double(X))}
    model = process(kind, 0.1, **more)
    inference = Inference(MAP(model=model, observed=[model.X, model.Y]), dtype="float64")
    loss, _ = inference.run(X=double(X), Y=double(Y))
    density, mean, variance = exact_process(0.1)
    np.testing.assert_allclose(-loss.asscalar(), density, rtol=1e-4)
    prediction = ModulePredictionAlgorithm(model, observed=[model.X], target_variables=[model.Y])
    found = TransferInference(prediction, infr_params=inference.params, dtype=np.float64).run(X=double(NEW))[0]
    np.testing.assert_allclose(found[0].asnumpy()[0], mean, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found[1].asnumpy()[0].reshape(4, -1)[:, 0], variance, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", [GPRegression, SparseGPRegression, SVGPRegression])
def test_process_learns(kind) -> None:
    more = {} if kind is GPRegression else {"num_inducing": 5}
    model = process(kind, 0.5, **more)
    if kind is SVGPRegression:
        model.Y.factor.svgp_log_pdf.jitter = 1e-6
    elif kind is SparseGPRegression:
        model.Y.factor.sgp_log_pdf.jitter = 1e-6
    inference = GradBasedInference(MAP(model=model, observed=[model.X, model.Y]), dtype="float64")
    inference.initialize(X=double(X), Y=double(Y))
    noises = [0.5]
    for _ in range(2):
        inference.run(X=double(X), Y=double(Y), max_iter=30, learning_rate=0.05)
        noises.append(inference.params[model.noise_var].asscalar())
    assert noises[-1] < 0.5 and np.isfinite(noises).all(), noises


def test_samples_of_a_process() -> None:
    kernel = kernels.RBF(3, ARD=True, variance=2.0, lengthscale=double(SCALES), dtype="float64")
    x = Variable(shape=(10, 3))
    factor = GaussianProcess.define_variable(
        X=x, kernel=kernel + kernels.White(3, dtype="float64"), shape=(10, 2), dtype="float64"
    ).factor
    arrays = {
        factor.X: X,
        factor.add_rbf_lengthscale: SCALES,
        factor.add_rbf_variance: [2.0],
        factor.add_white_variance: [0.1],
    }
    variables = {variable.uuid: double(value)[None] for variable, value in arrays.items()}
    drawn = factor.draw_samples(F=mx.nd, variables=variables, num_samples=300).asnumpy()
    assert drawn.shape == (300, 10, 2) and abs(drawn.var() - 2.1) < 0.4
    density = factor.log_pdf(F=mx.nd, variables={**variables, factor.random_variable.uuid: double(Y)[None]})
    np.testing.assert_allclose(density.asscalar(), exact_process(0.1)[0], rtol=1e-5)
