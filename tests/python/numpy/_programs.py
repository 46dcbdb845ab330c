"""Programs of `mx.np` whose answers 1.9.1 has given (tests/reference/numpy/arrays.json.xz), and what an answer is.

A program is statements and an expression, ` ;; ` between them; `names` are what it finds. make_arrays.py runs them on
1.9.1, test_numpy_answers.py here.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy

_FOLDER = Path(__file__).resolve().parent / "programs"


def _lines(name: str) -> list[str]:
    """The lines of a file of programs; one that begins with blanks goes on with the line before it."""
    return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").replace("\n    ", " ").splitlines()


FUNCTIONS = """
    abs absolute add all amax amin any append arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax
    argmin argsort around array array_split atleast_1d atleast_2d atleast_3d average bincount bitwise_and
    bitwise_not bitwise_or bitwise_xor blackman broadcast_arrays broadcast_to cbrt ceil clip column_stack
    concatenate copy copysign cos cosh cumsum  degrees delete diag diag_indices_from diagflat diagonal diff
    divide dot dsplit dstack ediff1d einsum equal exp expand_dims expm1 eye fabs fix flip fliplr flipud floor full
    full_like greater greater_equal hamming hanning histogram hsplit hstack hypot identity indices inner insert
    invert isfinite isinf isnan isneginf isposinf lcm ldexp less less_equal linspace log log10 log1p log2
    logical_not logspace matmul max maximum may_share_memory mean meshgrid min minimum mod moveaxis multiply
    nan_to_num negative nonzero not_equal ones ones_like outer pad percentile polyval power prod product quantile
    radians ravel reciprocal remainder repeat reshape rint roll rot90 round round_ row_stack shape
    shares_memory sign sin sinh sometrue sort split sqrt square squeeze stack std subtract sum swapaxes take tan
    tanh tensordot tile trace transpose tril true_divide trunc unique unravel_index var vdot vsplit vstack where
    zeros zeros_like
""".split()

#: Arguments that every function is called with; those that 1.9.1 refuses are left out of the answers.
ARGUMENTS = _lines("arguments")

#: Expressions whose gradient by x is asked for, too.
DIFFERENTIATED = _lines("differentiated")

#: Of arrays, keys, operators, methods, printing and modes. Those that 1.9.1 refuses are refused here.
PROGRAMS = _lines("programs")

#: Of functions that 1.9.1 leaves to the installed NumPy.
LEFT = _lines("left")

#: Of NumPy's own functions of arrays, and of both kinds of arrays together.
PROTOCOLS = _lines("protocols")


def programs(group: str = "") -> list[str]:
    """All of them, or those of a group: "left", "programs", "protocols"."""
    if group:
        return {"left": LEFT, "programs": PROGRAMS, "protocols": PROTOCOLS}[group]
    calls = [f"np.{name}({arguments})" for name in FUNCTIONS for arguments in ARGUMENTS]
    recorded = "x.attach_grad() ;; autograd.set_recording(True) ;; y = {} ;; autograd.set_recording(False) ;; "
    gradients = [recorded.format(each) + "y.backward() ;; [y, x.grad]" for each in DIFFERENTIATED]
    return [*calls, *gradients, *PROGRAMS, *LEFT, *PROTOCOLS]


def names(mx: Any) -> dict[str, Any]:
    """What programs find, new for each."""
    np = mx.np
    return {
        "mx": mx,
        "np": np,
        "npx": mx.npx,
        "onp": numpy,
        "autograd": mx.autograd,
        "x": np.array([[1.0, 2.0], [3.0, 4.5]]),
        "i": np.array([1, 0], dtype="int32"),
        "j": np.array([1, 0], dtype="int64"),
        "u": np.array([1, 0], dtype="uint8"),
        "v": np.array([1.0, 2.0, 3.0]),
        "b": np.array([True, False]),
        "d": np.array([1.0, 2.0], dtype="float64"),
        "h": np.array([1.0, 2.0], dtype="float16"),
        "z": np.array(3.5),
        "n": mx.nd.array([[1, 2], [3, 4]]),
        "k": np.array([1, 0, 1], dtype="uint8"),
        "m": np.array(numpy.arange(24).reshape(2, 3, 4) ** 1.5 % 7, dtype="float64"),
        "w": np.array([1.0, 3.0, 2.0, 5.0, 4.0]),
        "s": np.array([[4.0, 1.0], [1.0, 3.0]]),
        "y": np.array([[1.0, numpy.nan, 3.0], [2.0, 5.0, numpy.nan]]),
        "n2": numpy.array([[1.0, 2.0], [3.0, 4.0]]),
    }


def run(program: str, mx: Any) -> Any:
    """The answer of a program. Raises: what it raises."""
    *statements, expression = program.split(" ;; ")
    found = names(mx)
    mx.npx.set_np()
    try:
        for statement in statements:
            exec(statement, found)
        return describe(eval(expression, found), mx)
    finally:
        mx.autograd.set_recording(False)


def describe(value: Any, mx: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [describe(each, mx) for each in value]]
    if isinstance(value, mx.nd.NDArray):
        elements = [_number(each) for each in value.asnumpy().ravel().tolist()]
        return [type(value).__name__, numpy.dtype(value.dtype).name, list(value.shape), elements]
    if isinstance(value, (numpy.generic, float, int)):
        return ["number", _number(value.item() if isinstance(value, numpy.generic) else value)]
    return [type(value).__name__, str(value)]


def _number(value: Any) -> Any:
    return value if math.isfinite(value) else str(value)
