"""Every place of `mx.nd` that takes a dtype takes the same spellings of it, and refuses the same ones."""

from __future__ import annotations

import sys
from typing import Any, Callable

import numpy as np
import pytest
from _table import invoke_text

import mxlite as mx
import mxlite.torch as torch
from mxlite import nd

#: What 1.9.1 takes each for.
SPELLINGS: dict[Any, str] = {
    **dict.fromkeys(("float64", "float", "double", "f8", "d", float, np.float64, np.dtype("f8")), "float64"),
    **dict.fromkeys(("float32", "single", "f4", "<f4", "=f4", "f", np.float32, np.dtype("f4")), "float32"),
    **dict.fromkeys(("float16", "half", "f2", "e", np.float16, np.dtype("half")), "float16"),
    **dict.fromkeys(("int64", "i8", "q", np.int64, np.longlong), "int64"),
    **dict.fromkeys(("int32", "i4", "i", "intc", np.int32, np.intc), "int32"),
    **dict.fromkeys(("uint8", "u1", "|u1", "B", np.uint8), "uint8"),
    **dict.fromkeys(("int8", "i1", "b", np.int8), "int8"),
    **dict.fromkeys(("bool", "?", "bool_", bool, np.bool_), "bool"),
    # C's long is 32 bits wide on Windows, and NumPy's int is C's long before NumPy 2.
    **{each: np.dtype(each).name if sys.platform == "win32" else "int64" for each in ("int", "long", "l", "int_", int)},
}

#: No dtype at all, or one that there are no arrays of. The order of bytes in ">f4" is that of another machine.
REFUSED = ("complex64", ">f4", "no", "", "float32 ", "U5", "O", "f4,f4", np.complex64)
REFUSED += (complex, str, object, np.dtype(">f4"), 0, [1], {}, torch.float32)

X = [1.5, 2]
FLOATS = "float16 float32 float64"
NUMBERS = f"{FLOATS} uint8 int8 int32 int64"
ALL = f"{NUMBERS} bool"

#: Each place, and the dtypes that it makes.
PLACES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "array": (lambda dtype: nd.array(X, dtype=dtype), ALL),
    "array of an array": (lambda dtype: nd.array(nd.array(X), dtype=dtype), ALL),
    "empty": (lambda dtype: nd.empty((2,), dtype=dtype), ALL),
    "zeros": (lambda dtype: nd.zeros((2,), dtype=dtype), ALL),
    "ones": (lambda dtype: nd.ones((2,), dtype=dtype), ALL),
    "full": (lambda dtype: nd.full((2,), 3, dtype=dtype), ALL),
    "full of a list": (lambda dtype: nd.full((2,), [3, 4], dtype=dtype), ALL),
    "arange": (lambda dtype: nd.arange(2, dtype=dtype), NUMBERS),
    "linspace": (lambda dtype: nd.linspace(0, 2, 3, dtype=dtype), NUMBERS),
    "eye": (lambda dtype: nd.eye(2, dtype=dtype), NUMBERS),
    "astype": (lambda dtype: nd.array(X).astype(dtype), ALL),
    "astype without a copy": (lambda dtype: nd.array(X).astype(dtype, copy=False), ALL),
    "cast": (lambda dtype: nd.cast(nd.array(X), dtype=dtype), ALL),
    "Cast, by position": (lambda dtype: nd.Cast(nd.array(X), dtype), ALL),
    "one_hot": (lambda dtype: nd.one_hot(nd.array(X), 3, dtype=dtype), NUMBERS),
    "one_hot, as a method": (lambda dtype: nd.array(X).one_hot(depth=3, dtype=dtype), NUMBERS),
    "topk": (lambda dtype: nd.topk(nd.array(X), dtype=dtype), f"{FLOATS} uint8 int32 int64"),
    "argsort, as a method": (lambda dtype: nd.array(X).argsort(dtype=dtype), f"{FLOATS} uint8 int32 int64"),
    "softmax": (lambda dtype: nd.softmax(nd.array(X), dtype=dtype), FLOATS),
    "norm": (lambda dtype: nd.norm(nd.array(X), out_dtype=dtype), "float32"),
    "_zeros": (lambda dtype: nd._internal._zeros(shape=(2,), dtype=dtype), ALL),
    "uniform": (lambda dtype: nd.random.uniform(shape=(2,), dtype=dtype), FLOATS),
    "normal of arrays": (lambda dtype: mx.random.normal(nd.zeros(2), nd.ones(2), dtype=dtype), FLOATS),
    "randint": (lambda dtype: mx.random.randint(0, 5, shape=(2,), dtype=dtype), "int32 int64"),
    "multinomial": (lambda dtype: nd.random.multinomial(nd.array([0.5]), dtype=dtype), f"{FLOATS} uint8 int32"),
}


@pytest.mark.parametrize("place", PLACES)
def test_spellings(place: str) -> None:
    make, made = PLACES[place]
    for spelling, name in SPELLINGS.items():
        if name in made.split():
            for _ in range(3):  # a call that comes again is remembered
                assert make(spelling).dtype is np.dtype(name).type, spelling
        else:
            with pytest.raises(mx.MXNetError):
                make(spelling)


@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_dtype(place: str) -> None:
    make, _ = PLACES[place]
    for wrong in REFUSED:
        for kind in (TypeError, mx.MXNetError):
            with pytest.raises(kind, match="there are float32, float64, float16, uint8, int32, int8, int64, bool"):
                make(wrong)


@pytest.mark.parametrize("spelling", ["double", "float", "int", "long", "f4", "<f4", "None", "Float32", ""])
def test_as_text_a_dtype_has_one_name(spelling: str) -> None:
    """As in 1.9.1: NumPy's spellings are Python's, and the library's parser knows names alone."""
    for op, inputs, strings in (
        ("_zeros", [], {"shape": "(2,)"}),
        ("Cast", [nd.array(X)], {}),
        ("_sample_multinomial", [nd.array([0.5, 0.5])], {}),
    ):
        with pytest.raises(mx.MXNetError, match="dtype"):
            invoke_text(op, inputs, {**strings, "dtype": spelling})


def test_messages() -> None:
    for wrong, message in ((">f4", "dtype >f4 is not supported"), ("float33", "'float33' is no dtype"), (0, "0 is no")):
        with pytest.raises(TypeError, match=message):
            nd.zeros(2, dtype=wrong)


@pytest.mark.parametrize("place", [place for place in PLACES if place not in ("cast", "Cast, by position")])
def test_none_is_as_not_given(place: str) -> None:
    """float64 for `arange` and `linspace`, as in 1.9.1, which takes it so in functions of operators too."""
    default = {"arange": "float64", "linspace": "float64", "randint": "int32", "multinomial": "int32"}
    assert PLACES[place][0](None).dtype is np.dtype(default.get(place, "float32")).type


def test_arrays_of_other_dtypes_become_float32() -> None:
    for dtype in (">f4", "int16", "uint32", ">i8"):
        assert nd.array(np.array([1, 2], dtype)).dtype is np.float32


def test_torch_takes_its_own() -> None:
    for wrong in ("float32", "float", np.float32, np.dtype("f4"), [1]):
        for make in (lambda: torch.zeros(2, dtype=wrong), lambda: torch.tensor([1], dtype=wrong)):  # noqa: B023
            with pytest.raises(TypeError):
                make()
    assert torch.zeros(2, dtype=float).dtype is torch.float64 and torch.zeros(2, dtype=int).dtype is torch.int64
