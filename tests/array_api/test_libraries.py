"""Libraries of the array API standard take arrays of mx.np: run by `make test-array-api`, in an environment with them.

Each call answers with our array (or a Python number) where it takes one, and the values that it answers of NumPy's.
"""

from __future__ import annotations

import os
from typing import Any, Callable

os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported

import array_api_compat  # noqa: E402
import array_api_extra  # noqa: E402
import numpy  # noqa: E402
import pytest  # noqa: E402
import sklearn  # noqa: E402
from scipy import cluster, constants, integrate, ndimage, signal, special, stats  # noqa: E402
from scipy.optimize import elementwise  # noqa: E402
from sklearn import metrics, preprocessing  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.mixture import GaussianMixture  # noqa: E402

import mxlite as mx  # noqa: E402
from mxlite import array_api as xp  # noqa: E402

_rows = numpy.random.default_rng(0).normal(size=(60, 5))
_LABELS = numpy.arange(60) % 3
_ROWS = _rows + 2 * numpy.eye(5)[_LABELS]
_GUESSES = numpy.roll(_LABELS, 1) * (numpy.arange(60) % 2)
_SIZES = abs(_ROWS)


def _same(call: Callable, *arrays: numpy.ndarray) -> None:
    found, wanted = call(*map(xp.asarray, arrays)), call(*arrays)
    if isinstance(wanted, (numpy.ndarray, numpy.generic)) and not isinstance(found, (float, int)):
        assert isinstance(found, mx.np.ndarray)
    if hasattr(found, "dtype"):
        assert numpy.dtype(found.dtype).kind == numpy.asarray(wanted).dtype.kind
    numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=1e-5, atol=1e-6)


# ---- array-api-compat and array-api-extra ----


def test_compat() -> None:
    x = xp.ones((2, 3))
    assert array_api_compat.is_array_api_obj(x) and not array_api_compat.is_numpy_array(x)
    assert array_api_compat.array_namespace(x, xp.zeros(1)) is xp
    assert array_api_compat.device(x) == mx.cpu() and array_api_compat.size(x) == 6
    assert array_api_compat.to_device(x, array_api_compat.device(x)) is x
    with pytest.raises(TypeError, match="Multiple namespaces"):
        array_api_compat.array_namespace(x, numpy.ones(2))


_EXTRA: dict[str, Callable] = {
    "argpartition": lambda f, x: x[f(x, 5)] if isinstance(x, numpy.ndarray) else xp.take(x, f(x, 5)),
    "atleast_nd": lambda f, x: f(x, ndim=3),
    "cov": lambda f, x: f(x),
    "create_diagonal": lambda f, x: f(x),
    "isclose": lambda f, x: f(x, x + 1e-9),
    "kron": lambda f, x: f(x[:2], x[:3]),
    "nan_to_num": lambda f, x: f(x / (x - x)),
    "nunique": lambda f, x: f(x),
    "pad": lambda f, x: f(x, 2),
    "setdiff1d": lambda f, x: f(x, x[:4]),
    "sinc": lambda f, x: f(x),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", _EXTRA)
def test_extra(name: str) -> None:
    def call(x: Any) -> Any:
        made = _EXTRA[name](getattr(array_api_extra, name), x)
        return made if name != "argpartition" else made[:5].sum()

    _same(call, _ROWS[:, 0].copy())


def test_extra_changes_elements() -> None:
    _same(lambda x: array_api_extra.at(x)[0, :].set(1.0), _ROWS)
    _same(lambda x: array_api_extra.at(x, (slice(0, 2),)).add(1.0, copy=True), _ROWS)
    _same(lambda x: array_api_extra.apply_where(x > 0, x, lambda y: y**0.5, fill_value=-1.0), _ROWS)


# ---- SciPy ----

_SPECIAL = {
    1: "entr erf expit gammaln i0 log_softmax logit logsumexp ndtr softmax".split(),
    2: "chdtr gammainc kl_div rel_entr xlogy".split(),
    3: ["betainc"],
}


@pytest.mark.parametrize("count, name", [(count, name) for count, names in _SPECIAL.items() for name in names])
def test_special(count: int, name: str) -> None:
    _same(lambda x: getattr(special, name)(*[x] * count), _SIZES / 8)


_STATISTICS: dict[str, Callable] = {
    **{
        name: lambda f, x: f(x)
        for name in """
        circmean differential_entropy entropy gmean gstd hmean iqr kurtosis rankdata sem skew tvar variation zscore
        """.split()
    },
    "bartlett": lambda f, x: f(x[:, 0], x[:, 1]).pvalue,
    "chisquare": lambda f, x: f(x).statistic,
    "describe": lambda f, x: f(x).variance,
    "directional_stats": lambda f, x: f(x).mean_direction,
    "jarque_bera": lambda f, x: f(x).pvalue,
    "moment": lambda f, x: f(x, order=3),
    "normaltest": lambda f, x: f(x).pvalue,
    "pearsonr": lambda f, x: f(x[:, 0], x[:, 1]).pvalue,
    "pmean": lambda f, x: f(x, 2),
    "skewtest": lambda f, x: f(x).pvalue,
    "tmean": lambda f, x: f(x, limits=(0.1, 5.0)),
    "ttest_1samp": lambda f, x: f(x, 1.0).pvalue,
    "ttest_ind": lambda f, x: f(x[:30, :], x[30:, :]).pvalue,
    "zmap": lambda f, x: f(x, x),
}


@pytest.mark.parametrize("name", _STATISTICS)
def test_statistics(name: str) -> None:
    _same(lambda x: _STATISTICS[name](getattr(stats, name), x), _SIZES)


@pytest.mark.parametrize(
    "call",
    [
        cluster.vq.whiten,
        lambda x: cluster.vq.vq(x, x[:3, :])[1],
        lambda x: constants.convert_temperature(x, "C", "K"),
        integrate.trapezoid,
        lambda x: ndimage.gaussian_filter(x, 1.0),
        signal.detrend,
    ],
)
def test_scipy(call: Callable) -> None:
    _same(call, _ROWS)


def test_roots() -> None:
    low, high = (xp.asarray([value], dtype=xp.float64) for value in (0.0, 3.0))
    found = elementwise.find_root(lambda x: x * x - 2.0, (low, high))
    assert isinstance(found.x, mx.np.ndarray) and abs(float(found.x) - 2**0.5) < 1e-9


# ---- scikit-learn ----


@pytest.fixture(autouse=True)
def dispatch() -> Any:
    """scikit-learn computes in the arrays' namespace."""
    with sklearn.config_context(array_api_dispatch=True):
        yield


_MODELS: dict[str, Callable] = {
    "discriminant": lambda x, y: LinearDiscriminantAnalysis(solver="svd").fit(x, y).predict(x),
    "discriminant, probabilities": lambda x, y: LinearDiscriminantAnalysis().fit(x, y).predict_proba(x),
    "mixture": lambda x, y: GaussianMixture(2, init_params="random_from_data", random_state=0).fit(x).predict(x),
    "ridge": lambda x, y: Ridge(solver="svd").fit(x, x[:, 0]).predict(x),
    **{
        f"components, {solver}": lambda x, y, solver=solver, more=more: PCA(
            2, svd_solver=solver, random_state=0, **more
        ).fit_transform(x)
        for solver, more in (
            ("full", {}),
            ("covariance_eigh", {}),
            ("randomized", {"power_iteration_normalizer": "QR"}),
        )
    },
    **{
        name: lambda x, y, name=name: getattr(preprocessing, name)().fit_transform(x)
        for name in "Binarizer MaxAbsScaler MinMaxScaler Normalizer PolynomialFeatures StandardScaler".split()
    },
    "labels": lambda x, y: preprocessing.LabelEncoder().fit_transform(y),
}


@pytest.mark.parametrize("name", _MODELS)
def test_models(name: str) -> None:
    _same(_MODELS[name], _ROWS, _LABELS)


@pytest.mark.parametrize("name", "accuracy_score balanced_accuracy_score confusion_matrix zero_one_loss".split())
def test_metrics_of_classes(name: str) -> None:
    _same(getattr(metrics, name), _LABELS, _GUESSES)


@pytest.mark.parametrize("name", ["f1_score", "precision_score", "recall_score"])
def test_metrics_averaged(name: str) -> None:
    _same(lambda one, two: getattr(metrics, name)(one, two, average="macro"), _LABELS, _GUESSES)


_REGRESSION = """
    d2_tweedie_score explained_variance_score max_error mean_absolute_error mean_absolute_percentage_error
    mean_squared_error mean_tweedie_deviance median_absolute_error r2_score root_mean_squared_error
""".split()


@pytest.mark.parametrize("name", _REGRESSION)
def test_metrics_of_numbers(name: str) -> None:
    _same(getattr(metrics, name), _SIZES[:, 0].copy(), _SIZES[:, 1].copy())


_PAIRS = "cosine_similarity euclidean_distances linear_kernel manhattan_distances polynomial_kernel rbf_kernel".split()


@pytest.mark.parametrize("name", _PAIRS)
def test_pairs(name: str) -> None:
    _same(getattr(metrics.pairwise, name), _ROWS, _ROWS[:4])
