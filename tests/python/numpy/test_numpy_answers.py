"""Programs of `mx.np` beside the answers of the real MXNet 1.9.1 (tests/reference/numpy/arrays.json.xz)."""

from __future__ import annotations

import json
import lzma
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import mxlite as mx

sys.path.insert(0, str(Path(__file__).resolve().parent))
import _programs  # noqa: E402

_REFERENCE = Path(__file__).resolve().parents[2] / "reference" / "numpy" / "arrays.json.xz"
_ANSWERS: dict[str, Any] = json.loads(lzma.decompress(_REFERENCE.read_bytes()))["answers"]

#: Programs (as regular expressions) that mxlite answers otherwise on purpose, or 1.9.1 wrongly.
_DIFFER = {
    r"np\.\w+\(2,x\)": "an array as `out` of a number: 1.9.1 does not write to it",
    r"np\.(mean|prod|product)\(np\.zeros\(\(0,3\)\).*": "of no elements: NaN and 1, as NumPy has it",
    r"np\.(copy|nan_to_num)\((x,None|i,|10,0).*": "arguments that 1.9.1 ignores",
    r"np\.(dot|matmul)\(x,x,x\)": "out is an operand: 1.9.1 reads what it has written",
    r"np\.(around|round|round_)\((x,[45]0|h,2)\)": "1.9.1 gives infinities, and refuses float16",
    r"B=x>1 ;; np\.average\(.*": "1.9.1 refuses bool",
    r"np\.reshape\(x,\(4,\),order='F'\)": "1.9.1 does not look at it",
    r"x\[i,::-1\]=x ;; x": "1.9.1 reads what it has written",
    r"np\.delete\((x,x|d,d|z,z|z,x|x\[0\],x\[1\]|x,x,1)\)": "positions out of bounds are errors",
    r"np\.diff\(x>1,2\)": "differences of bool are refused",
    r"np\.ones\(np\.zeros.*": "a shape is no array",
    r"np\.polyval\((\(2,3\),7|\[1,2\],\[3,4\])\)": "of lists, by NumPy",
    r"np\.(unravel_index\(1,5|ravel\(2|ravel\(2\.5|tile\(1,5)\)": "of numbers, by NumPy",
    r"np\.ravel\(x,None\)": "there is no such order",
    r"np\.unravel_index\(x>1,2\)": "bool is no index",
    r"np\.tensordot\((z,z|z,x|x,z)\)": "more axes than there are",
    r"np\.unique\(np\.zeros\(\(0,3\)\),axis=0\)": "the other axes stay",
    r"npx\.reshape\(x,\(-1,\),order='F'\)": "1.9.1 does not look at it",
    r"np\.linalg\.norm\(v,-?np\.inf\)": "1.9.1 lacks it",
    r"np\.histogram(2d|dd)\(.*": "the installed NumPy's dtypes",
    r"np\.nan(percentile|quantile)\(y,(30,axis=1|0\.3,axis=0,interpolation='midpoint').*": "NumPy 2's dtypes",
    r"np\.roots\(v\)|onp\.fft\.fft\(x\)": "complex numbers are NumPy's arrays",
    r"np\.array\(\(1,2\),dtype='int16'\)": "1.9.1 lacks it",
    r"np\.divmod\(2,x\)": "1.9.1 refuses it",
    r"x//2|2//x": "1.9.1 lacks it; the array API standard asks for it",
    r"onp\.\w+\.(reduce|outer|accumulate)\(.*": "1.9.1 refuses methods of ufuncs",
    r"onp\.sum\(x,where=x>1\)": "1.9.1 refuses it",
    r"onp\.(pad|fill_diagonal|exp)\((x,1|x,0|\[x,x\])\)": "1.9.1 refuses it",
    r"onp\.histogram\(x\)": "a list, as of np.histogram",
    r"autograd.* ;; o?np\.(cov|median|allclose)\(.*": "1.9.1 leaves it to NumPy, and refuses it while recording",
}

_LEFT = {*_programs.LEFT, *_programs.PROTOCOLS}


def _differs(program: str) -> bool:
    return any(re.fullmatch(pattern, program) for pattern in _DIFFER)


def _is_same(mine: Any, theirs: Any) -> bool:
    if isinstance(theirs, str) and theirs in ("inf", "-inf", "nan"):
        return mine == theirs
    if isinstance(theirs, (float, int)) and not isinstance(theirs, bool):
        return isinstance(mine, (float, int)) and math.isclose(mine, theirs, rel_tol=2e-4, abs_tol=2e-6)
    if isinstance(theirs, list):
        return isinstance(mine, list) and len(mine) == len(theirs) and all(map(_is_same, mine, theirs))
    return mine == theirs


def _problem(program: str) -> str | None:
    theirs = _ANSWERS[program]
    try:
        mine = json.loads(json.dumps(_programs.run(program, mx)))
    except Exception as error:
        return None if isinstance(theirs, dict) else f"{program}: {type(error).__name__}: {error}; 1.9.1: {theirs}"
    if isinstance(theirs, dict):
        return f"{program}: {mine}; 1.9.1: {theirs['error']}"
    if program in _LEFT and theirs[0] == "number" and mine[0] == "ndarray" and mine[2] == []:
        mine = ["number", *mine[3]]  # NumPy's number is an array without axes here, which is recorded
    return None if _is_same(mine, theirs) else f"{program}: {mine}; 1.9.1: {theirs}"


@pytest.fixture(autouse=True)
def numpy_mode() -> Any:
    """What a program has set is set back."""
    yield
    mx.npx.reset_np()
    numpy.set_printoptions(precision=8)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("name", _programs.FUNCTIONS)
def test_function(name: str) -> None:
    """Calls of a function with all arguments that 1.9.1 takes."""
    programs = [each for each in _ANSWERS if each.startswith(f"np.{name}(") and each not in _LEFT]
    problems = [_problem(program) for program in programs if not _differs(program)]
    assert not list(filter(None, problems))
    assert programs


@pytest.mark.filterwarnings("ignore:.* is computed by NumPy:UserWarning")
@pytest.mark.parametrize("program", [each for each in _ANSWERS if each in _LEFT or not re.match(r"np\.\w+\(", each)])
def test_gradients_and_programs(program: str) -> None:
    """What is no call of a function alone: gradients, keys, operators, methods, printing."""
    assert _differs(program) or _problem(program) is None


def test_what_differs_is_asked_for() -> None:
    """Every row of differences is of a program that there is."""
    for pattern in _DIFFER:
        assert any(re.fullmatch(pattern, each) for each in _ANSWERS), pattern
