"""Element-wise functions are as accurate as docs/accuracy.md says, at the vector level in force; none is forgotten.

float32: drawn floats and edges against exact.c, float64: the arguments of hard.npz with the values that mpmath gave.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from _table import invoke_text, to_nd
from cases import operators

import mxlite as mx
from mxlite.ndarray._operators import Operator

ACCURACY = Path(__file__).resolve().parents[2] / "accuracy"
sys.path.insert(0, str(ACCURACY))

from functions import FUNCTIONS, ONCE, OTHERS, WITHOUT_ROUNDING, Function  # noqa: E402
from make_page import PAGE, RESULTS, render  # noqa: E402
from measure import Exact, Worst, compare64, compute, compute_also, edges, floats, pairs, values64  # noqa: E402
from reductions import REDUCTIONS, Reduction, error  # noqa: E402

pytestmark = pytest.mark.one_binding

COUNT = 200_000
#: References are rounded too: to doubles, and to 1/65000 of a float64's last place.
SLACK = 2e-5

functions = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name.replace(" ", "_"))


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Exact:
    """exact.c, compiled."""
    if sys.platform == "win32":
        pytest.skip("the references are in C, of a system with cc")
    assert shutil.which("cc"), "the references are in C, and there is no cc"
    return Exact.build(tmp_path_factory.mktemp("accuracy"))


@pytest.fixture(scope="module")
def table() -> dict[str, np.ndarray]:
    """The float64 arguments and their values."""
    with np.load(ACCURACY / "hard.npz") as file:
        return dict(file)


def _check(function: Function, worst: Worst, bar: float) -> None:
    assert worst.wrong == 0, f"{function.name}{worst.wrong_at}: NaN, an infinity or the sign of a zero is wrong"
    assert worst.error <= bar + SLACK, f"{function.name}{worst.at} is {worst.error:.3f} places off, at most {bar}"


@functions
def test_float32(function: Function, exact: Exact) -> None:
    arrays = pairs(function, 1, COUNT, np.float32) if function.inputs == 2 else [floats(1, COUNT)]
    got = compute("mxlite", function, arrays)
    assert got.dtype == np.float32
    _check(function, exact.compare(function, arrays, exact.values(function, arrays), got), function.bar[0])


@functions
def test_float64(function: Function, table: dict[str, np.ndarray]) -> None:
    arrays = [table[f"{function.key}/{name}"] for name in "xy"[: function.inputs]]
    got = compute("mxlite", function, arrays)
    assert got.dtype == np.float64
    _check(function, compare64(function, arrays, *values64(table, function), got), function.bar[1])


@functions
def test_other_names_give_the_same(function: Function) -> None:
    for dtype in (np.float32, np.float64):
        arrays = pairs(function, 2, 4000, dtype)[: function.inputs]
        wanted = compute("mxlite", function, arrays)
        for op, got in compute_also(function, arrays).items():
            np.testing.assert_array_equal(got.view(np.uint8), wanted.view(np.uint8), err_msg=op)


# ---- the measure itself ----

SQUARE = next(function for function in FUNCTIONS if function.name == "square")
X = np.array([0, 1, 2, 3, 1e30, 1e-30, np.nan, np.inf] * 512, np.float32)
#: A place in X, and a result that is wrong there.
WRONG = ((0, -0.0), (1, np.nan), (1, np.inf), (4, 3e38), (4, -np.inf), (5, -0.0), (6, 1.0), (7, 1.0), (7, np.nan))


def _squares(exact: Exact) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(over="ignore"):
        return exact.values(SQUARE, [X]), X * X


@pytest.mark.parametrize(("place", "bad"), WRONG)
def test_wrong_results_are_seen(exact: Exact, place: int, bad: float) -> None:
    values, got = _squares(exact)
    assert exact.compare(SQUARE, [X], values, got).wrong == 0
    got[place + 3200] = bad
    assert exact.compare(SQUARE, [X], values, got).wrong == 1
    large = got.astype(np.float64)
    with np.errstate(over="ignore"):
        near = values.astype(np.float32).astype(np.float64)
    assert compare64(SQUARE, [X], near, np.zeros(X.size), large).wrong == 1


@pytest.mark.parametrize("places", [1, 2, 5])
def test_errors_have_their_size(exact: Exact, places: int) -> None:
    values, got = _squares(exact)
    got[3 + 3200] += np.float32(places * 2.0**-20)
    worst = exact.compare(SQUARE, [X], values, got)
    assert (worst.error, worst.at, worst.wrong) == (places, (3.0,), 0)
    large = np.full(5, 9.0)
    large[2] += places * 2.0**-49
    worst = compare64(SQUARE, [np.full(5, 3.0)], np.full(5, 9.0), np.full(5, 0.25), large)
    assert (worst.error, worst.at, worst.wrong) == (places - 0.25, (3.0,), 0)


def test_infinity_is_next_to_the_largest(exact: Exact) -> None:
    x = np.array([np.sqrt(np.finfo(np.float32).max)], np.float32)
    values = exact.values(SQUARE, [x])
    short = (2.0**128 - values[0]) / 2.0**104
    worst = exact.compare(SQUARE, [x], values, np.array([np.inf], np.float32))
    assert (worst.error, worst.wrong) == (short, 0) and short > 1


# ---- reductions ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reduction", REDUCTIONS, ids=lambda reduction: reduction.name.replace(" ", "_"))
def test_reductions(reduction: Reduction, dtype: type) -> None:
    most = reduction.most[0 if dtype == np.float32 else 1]
    assert error("mxlite", reduction, dtype) <= most


def test_a_sum_of_ones_is_exact() -> None:
    count = (1 << 24) + 12346  # one by one, the sum would stay at 2^24
    assert mx.nd.sum(mx.nd.ones(count)).asscalar() == count


# ---- no function is forgotten ----


def _trial(op: str, arrays: list[np.ndarray]) -> np.ndarray:
    given = {"Activation": {"act_type": "tanh"}, "clip": {"a_min": "-1", "a_max": "1"}, "Cast": {"dtype": "float32"}}
    return invoke_text(op, [to_nd(array) for array in arrays], given.get(op, {}))[0].asnumpy()


def _is_elementwise(op: str, inputs: int) -> bool:
    """Whether it makes of arrays an array of floats, each element of the elements at its place."""
    x = np.array([0.3, -0.7, 1.9, 2.6, -3.2, 0.11], np.float32)
    y = np.array([1.3, 0.7, 2.1, -0.6, 3.3, 0.9], np.float32)
    arrays = [x, y][:inputs]
    try:
        whole = _trial(op, arrays)
        turned = _trial(op, [array[::-1].copy() for array in arrays])
        single = [_trial(op, [array[i : i + 1].copy() for array in arrays]) for i in range(x.size)]
    except mx.MXNetError:
        return False
    if whole.shape != x.shape or whole.dtype.kind != "f" or any(each.shape != (1,) for each in single):
        return False
    return np.array_equal(turned, whole[::-1], equal_nan=True) and np.array_equal(
        np.concatenate(single), whole, equal_nan=True
    )


def test_no_function_is_forgotten() -> None:
    drawn = {op for op in operators() if op.startswith(("_random_", "_sample_")) and "_pdf_" not in op}
    # A name of NumPy's arrays computes what another operator does.
    others = {op for op in operators() if op.startswith("_np")}
    found = {op for op in operators() - drawn - others for inputs in (1, 2) if _is_elementwise(op, inputs)}
    known = {op for function in FUNCTIONS for op in (function.op, *function.also) if not op.startswith("_mxl_")}
    assert found == known | OTHERS | {name.split()[0] for name in WITHOUT_ROUNDING}


@pytest.mark.parametrize("op", ["Activation", "LeakyReLU"])
def test_no_kind_is_forgotten(op: str) -> None:
    text = next(row[1] for row in Operator(op).params if row[0] == "act_type")
    kinds = {kind.strip(" '") for kind in text[text.index("{") + 1 : text.index("}")].split(",")}
    measured = {function.params["act_type"] for function in FUNCTIONS if function.op == op}
    assert kinds == measured | ({"relu"} if op == "Activation" else set())


def test_bars() -> None:
    """What the issue allows, and no function more than its kind."""
    polygamma = {f"polygamma {order}": math.factorial(order) * 2 ** (order + 1) for order in (2, 3, 4, 10)}
    special = {"erfinv", "gamma", "gammaln", "digamma", "trigamma"} | set(polygamma)
    for function in FUNCTIONS:
        assert function.bar == ((8, 8) if function.name in special else ONCE if function.bar == ONCE else (2, 4))
    del polygamma["polygamma 3"]  # it has no zeros
    least = {"gammaln": 1, "digamma": 4, "hard_sigmoid": 0.5, **polygamma}
    assert {function.name: function.least for function in FUNCTIONS if function.least} == least


@pytest.mark.parametrize("name", sorted(WITHOUT_ROUNDING))
def test_nothing_is_rounded(name: str) -> None:
    """Each result is one of the arguments, perhaps with another sign, or a whole number."""
    x = edges(np.float32)
    x = x[np.isfinite(x)]
    given = {"Activation relu": {"act_type": "relu"}, "clip": {"a_min": "-2", "a_max": "0.5"}}
    given["Cast"] = {"dtype": "float32"}
    tried = 0
    for inputs in (1, 2):
        arrays = [to_nd(array) for array in (x, np.roll(x, 7))[:inputs]]
        try:
            got = invoke_text(name.split()[0], arrays, given.get(name, {}))[0].asnumpy()
        except mx.MXNetError:
            continue
        kept = np.isin(np.abs(got), np.abs(x)) | (got == np.rint(got))
        assert got.size and kept.all(), got[~kept]
        tried += 1
    assert tried


# ---- docs/accuracy.md ----


def test_the_page_is_what_was_measured() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(json.loads(RESULTS.read_text(encoding="utf-8")))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@functions
def test_what_was_measured_is_within_its_bar(function: Function, dtype: str) -> None:
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))[dtype][function.name]
    bar = function.bar[0 if dtype == "float32" else 1]
    own = {who: row for who, row in rows.items() if who.startswith("mxlite")}
    assert own
    for who, row in own.items():
        assert row["wrong"] == 0, f"{who}: {function.name}{row['wrong_at']} is wrong"
        assert row["error"] <= bar + SLACK, f"{who}: {function.name}{row['at']} is {row['error']} places off"
