"""Functions of `mx.np` that are more than one operator, or whose arguments decide which operator they are.

The first parameter, `f`, is the front that they run on: `f("_npi_where", condition, x, y)` runs an operator,
`f.reshape` is a function of the table, `f.is_array` knows the arrays. So one function serves arrays and, as far as it
asks for no shape, symbols.
"""

from __future__ import annotations

import math
import operator as _operator
from typing import Any

import numpy as _numpy

from mxlite.base import needs_array as _needs_array
from mxlite.base import numpy_dtype as _numpy_dtype
from mxlite.error import MXNotImplementedError, WrongTypeError

_FLOAT32 = _numpy.float32

#: The functions of this module.
FUNCTIONS = frozenset(
    """
    append array array_split atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to clip column_stack
    concatenate delete diag_indices_from dsplit dstack empty empty_like fliplr flipud full full_like genfromtxt hsplit
    hstack insert linspace logspace may_share_memory meshgrid nonzero ones ones_like pad resize row_stack shape
    shares_memory split stack take tile unique unravel_index vsplit vstack where zeros zeros_like
    """.split()
)


def _only(name: str, argument: str, value: Any, *allowed: Any) -> None:
    """Raises NotImplementedError (and MXNetError): the argument has another value than one of these."""
    if not any(value is each or (value.__class__ is each.__class__ and value == each) for each in allowed):
        shown = " or ".join(map(repr, allowed))
        raise MXNotImplementedError(f"{name}: {argument}={value!r} is not supported; {shown} is")


def _is_number(value: Any) -> bool:
    return isinstance(value, (float, int, _numpy.generic))


def _shape(shape: Any) -> tuple[int, ...]:
    return tuple(map(_operator.index, shape)) if isinstance(shape, (tuple, list)) else (_operator.index(shape),)


# ---- new arrays ----


def array(f: Any, object: Any, dtype: Any = None, ctx: Any = None) -> Any:  # noqa: A002 - NumPy's name
    """An array with a copy of the values of a list, a number, a NumPy array or an array.

    Args:
        dtype: None: that of an array; of lists and numbers float32.
    Raises: TypeError: no array of numbers; ValueError: an array of mx.nd, of which `as_np_ndarray` is one.
    """
    return f.array_from(object, dtype, ctx)


def _filled(f: Any, name: str, operator: str, shape: Any, dtype: Any, order: Any, ctx: Any, **given: Any) -> Any:
    _only(name, "order", order, "C")
    out = given.pop("out", None)
    dtype = _FLOAT32 if dtype is None else dtype
    return f(operator, shape=_shape(shape), dtype=dtype, ctx=f.context(ctx), out=out, **given)


def zeros(f: Any, shape: Any, dtype: Any = None, order: str = "C", ctx: Any = None) -> Any:
    """An array of zeros."""
    return _filled(f, "zeros", "_npi_zeros", shape, dtype, order, ctx)


def ones(f: Any, shape: Any, dtype: Any = _FLOAT32, order: str = "C", ctx: Any = None) -> Any:
    """An array of ones."""
    return _filled(f, "ones", "_npi_ones", shape, dtype, order, ctx)


def empty(f: Any, shape: Any, dtype: Any = _FLOAT32, order: str = "C", ctx: Any = None) -> Any:
    """An array of any values: zeros."""
    return _filled(f, "empty", "_npi_zeros", shape, dtype, order, ctx)


def full(
    f: Any, shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", ctx: Any = None, out: Any = None
) -> Any:
    """An array of one number, or of an array that is broadcast to the shape."""
    if dtype is not None and _needs_array(fill_value, _numpy_dtype(dtype)):
        fill_value = f.array_from(_numpy.asarray(fill_value, _numpy.uint64), None, None)
    if f.is_array(fill_value):
        _only("full", "order", order, "C")
        made = f("_npi_broadcast_to", fill_value, shape=_shape(shape), out=None if dtype is not None else out)
        return made if dtype is None else f("_npi_cast", made, dtype=dtype, out=out)
    return _filled(f, "full", "_npi_full", shape, dtype, order, ctx, value=float(fill_value), out=out)


def full_like(
    f: Any, a: Any, fill_value: Any, dtype: Any = None, order: str = "C", ctx: Any = None, out: Any = None
) -> Any:
    """An array of one number with the shape, and unless given the dtype, of another."""
    _only("full_like", "order", order, "C")
    return f("_npi_full_like", a, fill_value=fill_value, dtype=dtype, ctx=f.context(ctx), out=out)


def zeros_like(f: Any, a: Any, dtype: Any = None, order: str = "C", ctx: Any = None, out: Any = None) -> Any:
    """An array of zeros with the shape, and unless given the dtype, of another."""
    return full_like(f, a, 0, dtype, order, ctx, out)


def ones_like(f: Any, a: Any, dtype: Any = None, order: str = "C", ctx: Any = None, out: Any = None) -> Any:
    """An array of ones with the shape, and unless given the dtype, of another."""
    return full_like(f, a, 1, dtype, order, ctx, out)


def empty_like(
    f: Any, prototype: Any, dtype: Any = None, order: str = "C", subok: bool = False, shape: Any = None
) -> Any:
    """An array of any values (zeros) with the shape, and unless given the dtype, of another."""
    _only("empty_like", "subok", subok, False)
    _only("empty_like", "shape", shape, None)
    return full_like(f, prototype, 0, dtype, order)


def _space(f: Any, name: str, start: Any, stop: Any, num: Any, dtype: Any, axis: int, ctx: Any, **given: Any) -> Any:
    for argument, value in (("start", start), ("stop", stop)):
        if not _is_number(value):
            raise MXNotImplementedError(f"{name[5:]}: {argument} must be a number, got {type(value).__name__}")
    _only(name[5:], "axis", axis, 0)
    dtype = _FLOAT32 if dtype is None else dtype
    return f(name, start=start, stop=stop, num=_operator.index(num), dtype=dtype, ctx=f.context(ctx), **given)


def linspace(
    f: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    ctx: Any = None,
) -> Any:
    """Numbers from `start` to `stop`, evenly spaced; without `endpoint` the last one is before `stop`."""
    made = _space(f, "_npi_linspace", start, stop, num, dtype, axis, ctx, endpoint=endpoint)
    steps = num - 1 if endpoint else num
    return (made, (stop - start) / steps if steps else math.nan) if retstep else made


def logspace(
    f: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: Any = None,
    axis: int = 0,
    ctx: Any = None,
) -> Any:
    """Powers of `base`, whose exponents go from `start` to `stop`, evenly spaced."""
    return _space(f, "_npi_logspace", start, stop, num, dtype, axis, ctx, endpoint=endpoint, base=base)


def genfromtxt(f: Any, *args: Any, **kwargs: Any) -> Any:
    """The numbers of a text file, as numpy.genfromtxt reads them; float64 unless `dtype` says otherwise."""
    return f.array_from(_numpy.genfromtxt(*args, **kwargs), None, None)


# ---- joined and divided ----


def _list_of(name: str, arrays: Any) -> list[Any]:
    if isinstance(arrays, (list, tuple)) or hasattr(arrays, "__iter__"):
        return list(arrays)
    raise WrongTypeError(f"{name}: takes a list of arrays, got {type(arrays).__name__}")


def concatenate(f: Any, seq: Any, axis: int | None = 0, out: Any = None) -> Any:
    """Arrays one after another along an axis; None: their elements."""
    return f("_npi_concatenate", *_list_of("concatenate", seq), axis=axis, out=out)


def append(f: Any, arr: Any, values: Any, axis: int | None = None) -> Any:
    """An array, and values after it along an axis; None: their elements."""
    return f("_npi_concatenate", arr, values, axis=axis)


def stack(f: Any, arrays: Any, axis: int = 0, out: Any = None) -> Any:
    """Arrays beside each other along a new axis."""
    return f("_npi_stack", *_list_of("stack", arrays), axis=axis, out=out)


def vstack(f: Any, arrays: Any, out: Any = None) -> Any:
    """Arrays below each other; vectors are rows."""
    return f("_npi_vstack", *_list_of("vstack", arrays), out=out)


def row_stack(f: Any, arrays: Any) -> Any:
    """Arrays below each other; vectors are rows."""
    return f("_npi_vstack", *_list_of("row_stack", arrays))


def hstack(f: Any, arrays: Any) -> Any:
    """Arrays side by side along the second axis; vectors along their own."""
    return f("_npi_hstack", *_list_of("hstack", arrays))


def dstack(f: Any, arrays: Any) -> Any:
    """Arrays behind each other along the third axis."""
    return f("_npi_dstack", *_list_of("dstack", arrays))


def column_stack(f: Any, tup: Any) -> Any:
    """Vectors as columns, and matrices, side by side."""
    return f("_npi_column_stack", *_list_of("column_stack", tup))


def _divided(f: Any, ary: Any, places: Any, axis: int, even: bool, operator: str = "_npi_split") -> list[Any]:
    """The parts of an array before, between and after places, or so many of almost one size."""
    sections, ends = 0, []
    if _is_number(places) and not f.knows_shapes:
        sections = _operator.index(places)
    elif _is_number(places):
        sections, size = _operator.index(places), ary.shape[axis]
        if sections < 1 or (even and size % sections):
            raise ValueError(f"split: an axis of size {size} does not divide into {sections} equal parts")
        each, more = divmod(size, sections)
        ends = [(each + 1) * min(i, more) + each * max(0, i - more) for i in range(1, sections)]
    else:
        ends = [_operator.index(each) for each in places]
    indices = () if sections and not f.knows_shapes else (0, *ends)
    parts = f(operator, ary, indices=indices, axis=axis, squeeze_axis=False, sections=0 if indices else sections)
    return parts if isinstance(parts, list) else [parts]


def split(f: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """An array's parts between places of an axis, or so many equal ones."""
    return _divided(f, ary, indices_or_sections, axis, True)


def array_split(f: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """An array's parts between places of an axis, or so many of almost one size."""
    return _divided(f, ary, indices_or_sections, axis, False)


def _require_axes(f: Any, name: str, ary: Any, count: int) -> None:
    if f.knows_shapes and ary.ndim < count:
        raise ValueError(f"{name}: takes an array of {count} axes or more, got one of {ary.ndim}")


def vsplit(f: Any, ary: Any, indices_or_sections: Any) -> list[Any]:
    """split() along the first axis, of matrices."""
    _require_axes(f, "vsplit", ary, 2)
    return split(f, ary, indices_or_sections, 0)


def hsplit(f: Any, ary: Any, indices_or_sections: Any) -> list[Any]:
    """split() along the second axis; of vectors along their own."""
    _require_axes(f, "hsplit", ary, 1)
    if not f.knows_shapes:
        return _divided(f, ary, indices_or_sections, 1, True, "_npi_hsplit")
    return split(f, ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def dsplit(f: Any, ary: Any, indices_or_sections: Any) -> list[Any]:
    """split() along the third axis."""
    _require_axes(f, "dsplit", ary, 3)
    return _divided(f, ary, indices_or_sections, 2, True, "_npi_split" if f.knows_shapes else "_npi_dsplit")


def _at_least(f: Any, operator: str, arys: tuple) -> Any:
    if not arys:
        return []
    return f(operator, *arys)


def atleast_1d(f: Any, *arys: Any) -> Any:
    """Each array with one axis at least; several are a list."""
    return _at_least(f, "_np_atleast_1d", arys)


def atleast_2d(f: Any, *arys: Any) -> Any:
    """Each array with two axes at least; several are a list."""
    return _at_least(f, "_np_atleast_2d", arys)


def atleast_3d(f: Any, *arys: Any) -> Any:
    """Each array with three axes at least; several are a list."""
    return _at_least(f, "_np_atleast_3d", arys)


# ---- other shapes ----


def shape(f: Any, a: Any) -> tuple[int, ...]:
    """The sizes of all axes of an array."""
    return a.shape if f.is_array(a) else _numpy.shape(a)


def broadcast_to(f: Any, array: Any, shape: Any) -> Any:
    """An array, or a number, repeated to a shape."""
    if _is_number(array):
        return full(f, shape, array)
    return f("_npi_broadcast_to", array, shape=_shape(shape))


def broadcast_arrays(f: Any, *args: Any) -> list[Any]:
    """Arrays repeated to their common shape."""
    common = _numpy.broadcast_shapes(*(each.shape for each in args))
    return [each if each.shape == common else broadcast_to(f, each, common) for each in args]


def fliplr(f: Any, m: Any) -> Any:
    """The second axis backwards."""
    return f("_npi_flip", m, axis=1)


def flipud(f: Any, m: Any) -> Any:
    """The first axis backwards."""
    return f("_npi_flip", m, axis=0)


def tile(f: Any, A: Any, reps: Any) -> Any:  # noqa: N803 - NumPy's name
    """An array so many times along each axis."""
    if _is_number(A):
        return full(f, reps, A)
    return f("_npi_tile", A, reps=_shape(reps))


def resize(f: Any, a: Any, new_shape: Any) -> Any:
    """An array's elements in another shape, from the beginning again where they do not fill it."""
    new = _shape(new_shape)
    wanted = math.prod(new)
    if not f.knows_shapes:
        places = f("_npi_arange", start=0, stop=wanted, step=1, dtype="int64", ctx=f.context(None))
        return f.reshape(f.take(f.reshape(a, (-1,)), places, axis=0, mode="wrap"), new)
    have = math.prod(a.shape)
    if not have:
        return zeros(f, new, a.dtype)
    line = f("_npi_tile", f.reshape(a, (-1,)), reps=(-(-wanted // have),)) if wanted > have else f.reshape(a, (-1,))
    return f.reshape(f("_npi_slice", line, begin=(0,), end=(wanted,)), new) if wanted else zeros(f, new, a.dtype)


def meshgrid(f: Any, *xi: Any, **kwargs: Any) -> list[Any]:
    """Vectors as arrays of all axes together, each along its own; `indexing` "ij", or "xy": the first two exchanged.

    Args:
        sparse: axes of others have size 1.
        copy: False: arrays may share memory.
    """
    indexing, sparse = kwargs.pop("indexing", "xy"), kwargs.pop("sparse", False)
    copy = kwargs.pop("copy", True)
    if kwargs:
        raise TypeError(f"meshgrid: there is no parameter {next(iter(kwargs))!r}")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', got {indexing!r}")
    places = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        places[:2] = 1, 0
    grids = [f.reshape(x, tuple(-1 if axis == place else 1 for axis in range(len(xi)))) for x, place in zip(xi, places)]
    if not sparse:
        grids = broadcast_arrays(f, *grids)
    return [f("_np_copy", grid) for grid in grids] if copy else grids


# ---- parts ----


def take(f: Any, a: Any, indices: Any, axis: int | None = None, mode: str = "raise", out: Any = None) -> Any:
    """Elements, or parts along an axis, at indices; `mode`: indices beyond the end are errors, cut, or wrapped."""
    if mode not in ("wrap", "clip", "raise"):
        raise MXNotImplementedError(f"take: there is no mode {mode!r}; there are 'raise', 'clip' and 'wrap'")
    if axis is None:
        return f("_npi_take", f.reshape(a, (-1,)), indices, axis=0, mode=mode, out=out)
    return f("_npi_take", a, indices, axis=axis, mode=mode, out=out)


def where(f: Any, condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of x where the condition is true, of y elsewhere; without both, where it is true."""
    if x is None and y is None:
        return nonzero(f, condition)
    if x is None or y is None:
        raise ValueError("where: x and y are given both, or neither")
    if _is_number(condition):
        return (x if condition else y) if _is_number(x) or _is_number(y) else _chosen(f, condition, x, y)
    if _is_number(x):
        if _is_number(y):
            return f("_npi_where_scalar2", condition, x=float(x), y=float(y))
        return f("_npi_where_lscalar", condition, y, scalar=float(x))
    if _is_number(y):
        return f("_npi_where_rscalar", condition, x, scalar=float(y))
    return f("_npi_where", condition, x, y)


def _chosen(f: Any, condition: Any, x: Any, y: Any) -> Any:
    if not f.knows_shapes:
        return x if condition else y
    return broadcast_arrays(f, x, y)[0 if condition else 1]


def nonzero(f: Any, a: Any) -> tuple[Any, ...]:
    """Where elements are not 0: the positions along each axis."""
    if not f.knows_shapes:
        raise MXNotImplementedError("where: x and y are missing; a symbol does not know how many positions there are")
    rows = f("_np_transpose", f("_npx_nonzero", a if a.ndim else f("_np_atleast_1d", a)))
    return tuple(rows[axis] for axis in range(rows.shape[0]))


def diag_indices_from(f: Any, arr: Any) -> Any:
    """Where the elements of an array's diagonal are: the positions along each axis; of a symbol as one."""
    rows = f("_npi_diag_indices_from", arr)
    return tuple(rows[axis] for axis in range(arr.ndim)) if f.knows_shapes else rows


def unique(
    f: Any,
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> Any:
    """The different elements (or parts along an axis), in order; with positions and counts a tuple."""
    flags = {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    made = f("_npi_unique", ar, axis=axis, **flags)
    return tuple(made) if isinstance(made, list) and f.knows_shapes else made


def unravel_index(f: Any, indices: Any, shape: Any, order: str = "C") -> Any:
    """Numbers of elements as positions along each axis; of a symbol as one."""
    _only("unravel_index", "order", order, "C")
    rows = f("_unravel_index", indices, shape=_shape(shape))
    return tuple(rows[axis] for axis in range(len(_shape(shape)))) if f.knows_shapes else rows


def _obj_parameters(obj: Any) -> dict[str, Any] | None:
    """The parameters of a place in an axis: an integer or a slice; None: an array."""
    if isinstance(obj, slice):
        return {"start": obj.start, "stop": obj.stop, "step": obj.step}
    if _is_number(obj):
        return {"int_ind": _operator.index(obj)}
    return None


def _obj_array(f: Any, obj: Any) -> Any:
    return obj if f.is_array(obj) else f.array_from(list(obj), "int64", None)


def delete(f: Any, arr: Any, obj: Any, axis: int | None = None) -> Any:
    """An array without the parts at an integer, a slice, or a list or an array of integers."""
    given = _obj_parameters(obj)
    if given is not None:
        return f("_npi_delete", arr, axis=axis, **given)
    return f("_npi_delete", arr, _obj_array(f, obj), axis=axis)


def insert(f: Any, arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """An array with values before the places that an integer, a slice, or a list or an array of integers says."""
    given = _obj_parameters(obj)
    inputs = [arr]
    if _is_number(values):
        given_values = {"val": float(values)}
    else:
        inputs.append(values)
        given_values = {}
    if given is None:
        return f("_npi_insert_tensor", *inputs, _obj_array(f, obj), axis=axis, **given_values)
    name = "_npi_insert_slice" if isinstance(obj, slice) else "_npi_insert_scalar"
    return f(name, *inputs, axis=axis, **given, **given_values)


def clip(f: Any, a: Any, a_min: Any, a_max: Any, out: Any = None) -> Any:
    """Elements between two numbers, which stand for those beyond them; None: there is no bound."""
    if a_min is None and a_max is None:
        raise ValueError("clip: a_min or a_max is given, or both")
    if _is_number(a):
        return _numpy.clip(a, a_min, a_max)
    low = -math.inf if a_min is None else a_min
    return f("_npi_clip", a, a_min=low, a_max=math.inf if a_max is None else a_max, out=out)


def pad(f: Any, x: Any, pad_width: Any = None, mode: str = "constant", **kwargs: Any) -> Any:
    """An array with so many elements more before and after along each axis.

    Args:
        pad_width: a number, a pair for all axes, or a pair for each.
        constant_values, reflect_type: of the modes "constant", and "reflect" and "symmetric".
    """
    widths = _numpy.asarray(pad_width)
    if widths.dtype.kind not in "iu":
        raise TypeError(f"pad: pad_width is integers, got {pad_width!r}")
    if not f.knows_shapes and widths.ndim != 2:
        raise TypeError(
            f"pad: pad_width is a pair for each axis, whose number a symbol does not know, got {pad_width!r}"
        )
    pairs = tuple(
        tuple(map(int, pair)) for pair in _numpy.broadcast_to(widths, (x.ndim, 2) if f.knows_shapes else widths.shape)
    )
    known = {"constant": ("constant_values",), "reflect": ("reflect_type",), "symmetric": ("reflect_type",)}
    given: dict[str, Any] = {}
    for name, value in kwargs.items():
        if name not in known.get(mode, ()):
            raise MXNotImplementedError(f"pad: mode {mode!r} takes no {name}")
        given["constant_value" if name == "constant_values" else name] = value
    return f("_npi_pad", x, pad_width=pairs, mode=mode, **given)


# ---- memory ----


def may_share_memory(f: Any, a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays have memory in common; of symbols as one."""
    shared = f("_npi_share_memory", a, b)
    return bool(shared.item()) if f.knows_shapes else shared


def shares_memory(f: Any, a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays have memory in common."""
    return may_share_memory(f, a, b)
