"""Convolutions and pooling of `torch.nn.functional`, over one to three spatial dimensions.

One function serves all numbers of dimensions, with a batch and without; conv2d and the like are made of it.
"""

from __future__ import annotations

import inspect
import math
from functools import lru_cache, partial
from typing import Any, Callable

import numpy as np

from mxlite._public import defined
from mxlite.torch._calls import explain_all, prepare, require_tensor, run
from mxlite.torch._dtypes import float64
from mxlite.torch._errors import warn, wrong_argument
from mxlite.torch._make.random import uniform_of
from mxlite.torch._nodes import formula
from mxlite.torch._shape.parts import stack
from mxlite.torch._tensor import Tensor, from_values, full_of
from mxlite.torch.nn._rims import constant_pad, dropout


def sizes_of(value: Any, dims: int) -> tuple:
    """One number for each spatial dimension: of one number, or of a sequence of one or of all."""
    found = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not all(isinstance(each, (int, np.integer)) for each in found):
        raise TypeError(f"sizes of windows, steps and rims are ints or tuples of ints, not {value!r}")
    if len(found) not in (1, dims):
        raise RuntimeError(f"there is one size, or one for each of {dims} spatial dimensions, got {value}")
    return found * dims if len(found) == 1 else found


def _windows_of(name: str, dims: int, kernel_size: Any, stride: Any, padding: Any) -> tuple[tuple, tuple, tuple]:
    """Windows, steps and rims. Raises: RuntimeError: they are not positive, or a rim is more than half a window."""
    kernel, rims = sizes_of(kernel_size, dims), sizes_of(padding, dims)
    steps = kernel if stride is None or stride in ((), []) else sizes_of(stride, dims)
    if min(kernel) <= 0 or min(steps) <= 0 or min(rims) < 0 or any(rim > size // 2 for size, rim in zip(kernel, rims)):
        raise RuntimeError(
            f"{name}{dims}d: windows and steps are positive, rims not negative and at most half a window, got "
            f"kernel_size={kernel}, stride={steps}, padding={rims}"
        )
    return kernel, steps, rims


def _count(size: int, span: int, rim: int, step: int, ceil_mode: bool) -> int:
    """How many windows there are; with ceil_mode, one that would start behind the input and its rim is left out."""
    left = size + 2 * rim - span
    count = (-(-left // step) if ceil_mode else left // step) + 1
    return count - bool(ceil_mode and (count - 1) * step >= size + rim)


def _require_floats(name: str, input: Tensor) -> None:
    if not input._dtype.is_floating_point:
        raise NotImplementedError(f"mxlite.torch: {name} takes floating dtypes, got {input._dtype}")


def _batched(name: str, input: Tensor, dims: int) -> tuple[Tensor, bool]:
    """The input as a batch, and whether it was one.

    Raises: RuntimeError: it has another number of dimensions.
    """
    require_tensor(name, 1, "input", input)
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}: the input has {dims + 1} dimensions, or {dims + 2} with a batch, got shape {list(input.shape)}"
        )
    _require_floats(name, input)
    return (input, True) if input.ndim == dims + 2 else (input.unsqueeze(0), False)


def _require_groups(name: str, weight: Any, bias: Any, groups: Any) -> None:
    """Raises: TypeError: what should be tensors and an integer are none."""
    require_tensor(name, 2, "weight", weight)
    if bias is not None:
        require_tensor(name, 3, "bias", bias)
    if not isinstance(groups, int):
        raise wrong_argument(name, "groups", 0, "int", groups)


def _require_channels(x: Any, weight: Any, expected: int, groups: int) -> None:
    """Of the shapes of a batch and of weights."""
    if x[1] != expected:
        raise RuntimeError(
            f"convolution: a weight of shape {list(weight)} and groups={groups} take {expected} channels; the "
            f"input of shape {list(x)} has {x[1]}"
        )


def _require_steps(name: str, dims: int, **steps: Any) -> None:
    """Raises RuntimeError: a stride, a dilation or the groups are not positive."""
    for what, value in steps.items():
        if any(each < 1 for each in sizes_of(value, dims)):
            raise RuntimeError(f"{name}: {what} must be 1 or more, got {value}")


# ---- convolutions ----


def _convolution(
    dims: int, input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    x, batched = _batched(f"conv{dims}d", input, dims)
    _require_groups(f"conv{dims}d", weight, bias, groups)
    if isinstance(padding, str):
        steps = sizes_of(stride, dims), sizes_of(dilation, dims)
        _require_steps(f"conv{dims}d", dims, stride=stride, dilation=dilation, groups=groups)
        _require_channels(x.shape, weight.shape, weight.shape[1] * groups, groups)
        x, padding = _named_padding(x, padding, tuple(weight.shape[2:]), *steps)
    given = dims, x.shape, weight.shape, bias is None, stride, padding, dilation, groups
    try:
        call = _convolving(*given)
    except TypeError:  # of a list, or wrong
        call = _convolving.__wrapped__(*given)
    made = run(call, [x, weight] if bias is None else [x, weight, bias], kind=x._dtype)
    if x.shape[1] == 0:
        made = made.narrow(1, 0, 0)  # PyTorch's result without input channels has none either
    return made if batched else made.squeeze(0)


@lru_cache(1024, typed=True)
def _convolving(
    dims: int, x: Any, weight: Any, no_bias: bool, stride: Any, padding: Any, dilation: Any, groups: int
) -> int:
    """The call for shapes of an input and of weights. Raises: RuntimeError: they do not go together."""
    _require_steps(f"conv{dims}d", dims, stride=stride, dilation=dilation, groups=groups)
    _require_channels(x, weight, weight[1] * groups, groups)
    kernel, dilation, padding = tuple(weight[2:]), sizes_of(dilation, dims), sizes_of(padding, dims)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    padded = [size + 2 * rim for size, rim in zip(x[2:], padding)]
    if any(span > size for span, size in zip(spans, padded)):
        raise RuntimeError(
            f"the kernel spans {' x '.join(map(str, spans))} positions, the padded input has "
            f"{' x '.join(map(str, padded))}"
        )
    if 0 in x[2:]:
        raise RuntimeError(f"conv{dims}d: a batch or channels may be empty, but not images, got {list(x)}")
    return prepare(
        "ConvolutionBackward0",
        "Convolution",
        kernel=kernel,
        stride=sizes_of(stride, dims),
        dilate=dilation,
        pad=padding,
        num_filter=weight[0],
        num_group=groups,
        no_bias=no_bias,
    )


def _named_padding(x: Tensor, padding: str, kernel: tuple, stride: tuple, dilation: tuple) -> tuple[Tensor, tuple]:
    """The input, and numbers for padding "valid" or "same"; an odd one is put behind the input."""
    if padding == "valid":
        return x, (0,) * len(kernel)
    if padding != "same":
        raise RuntimeError(f"padding as a word is 'same' or 'valid', got {padding!r}")
    if any(step != 1 for step in stride):
        raise RuntimeError("padding='same' is for stride 1")
    whole = [(k - 1) * d for k, d in zip(kernel, dilation)]
    if any(each % 2 for each in whole):
        warn("padding='same' of an even kernel and an odd dilation copies the input to one with an odd padding")
        x = constant_pad(x, [number for each in reversed(whole) for number in (0, each % 2)])
    return x, tuple(each // 2 for each in whole)


def _transposed(
    dims: int, input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    name = f"conv_transpose{dims}d"
    x, batched = _batched(name, input, dims)
    _require_groups(name, weight, bias, groups)
    _require_steps(
        name, dims, stride=stride, dilation=dilation, groups=groups, **{"channels of weight": weight.shape[0]}
    )
    _require_channels(x.shape, weight.shape, weight.shape[0], groups)
    stride, more, dilation = (sizes_of(each, dims) for each in (stride, output_padding, dilation))
    if any(a >= s and a >= d for a, s, d in zip(more, stride, dilation)):
        raise RuntimeError(
            f"output_padding is smaller than stride or dilation, got output_padding {more}, stride {stride} and "
            f"dilation {dilation}"
        )
    if any(a >= s for a, s in zip(more, stride)):
        raise NotImplementedError("mxlite.torch: output_padding must be smaller than stride")
    call = prepare(
        "ConvolutionBackward0",
        "Deconvolution",
        kernel=tuple(weight.shape[2:]),
        stride=stride,
        dilate=dilation,
        pad=sizes_of(padding, dims),
        adj=more,
        num_filter=weight.shape[1] * groups,
        num_group=groups,
        no_bias=bias is None,
    )
    made = run(call, [x, weight] if bias is None else [x, weight, bias], kind=x._dtype)
    return made if batched else made.squeeze(0)


# ---- pooling ----


def _pooled(
    label: str, kind: str, dims: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    **more: Any,
) -> Tensor:  # fmt: skip
    """Windows of an input."""
    if not isinstance(input, Tensor):
        require_tensor(f"{kind}_pool{dims}d", 1, "input", input)
    shape = input.shape
    batched = len(shape) == dims + 2
    if len(shape) not in (dims + 1, dims + 2) or 0 in (shape if shape[0] else tuple(shape)[batched:]):
        raise RuntimeError(f"the input has {dims + 1} dimensions, or {dims + 2} with a batch, and elements")
    if not input._dtype.is_floating_point:
        _require_floats(f"{kind}_pool{dims}d", input)
    x = input if batched else input.unsqueeze(0)
    given = label, kind, dims, shape if batched else (1, *shape), kernel_size, stride, padding, ceil_mode
    try:
        call, sizes = _pooling(*given, **more)
    except TypeError:  # of a list, or wrong
        call, sizes = _pooling.__wrapped__(*given, **more)
    made = run(call, [x], kind=x._dtype)
    for dim, size in enumerate(sizes, 2) if ceil_mode else ():
        if made.shape[dim] > size:
            made = made.narrow(dim, 0, size)
    return made if batched else made.squeeze(0)


@lru_cache(1024, typed=True)
def _pooling(
    label: str, kind: str, dims: int, shape: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    **more: Any,
) -> tuple[int, list[int]]:  # fmt: skip
    """The call for a batch of a shape, and the sizes of its result."""
    kernel, steps, rims = _windows_of(f"{kind}_pool", dims, kernel_size, stride, padding)
    sizes = [_count(*each, ceil_mode) for each in zip(shape[2:], kernel, rims, steps)]
    if min(sizes) < 1:
        given, made = ("x".join(map(str, (shape[1], *each))) for each in (shape[2:], sizes))
        raise RuntimeError(f"an input of {given} would give an output of {made}")
    how = "full" if ceil_mode else "valid"
    call = prepare(
        label, "Pooling", kernel=kernel, stride=steps, pad=rims, pool_type=kind, pooling_convention=how, **more
    )
    return call, sizes


def _max_pool(
    dims: int, input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Tensor:  # fmt: skip
    label = f"MaxPool{dims}DWithIndicesBackward0"
    dilation = (1,) * dims if dilation == 1 else sizes_of(dilation, dims)
    if min(dilation) <= 0:
        raise RuntimeError(f"max_pool{dims}d: a dilation is positive, got {dilation}")
    if not return_indices and max(dilation) == 1:
        return _pooled(label, "max", dims, input, kernel_size, stride, padding, ceil_mode)
    kernel, steps, rims = _windows_of("max_pool", dims, kernel_size, stride, padding)
    lines = []
    for size, window, rim, step, apart in zip(input.shape[-dims:], kernel, rims, steps, dilation):
        count = _count(size, apart * (window - 1) + 1, rim, step, ceil_mode)
        if count < 1:
            raise RuntimeError(f"max_pool{dims}d: a window of {window} is larger than the input, {list(input.shape)}")
        at = np.arange(count)[:, None] * step - rim + np.arange(window) * apart
        inside = np.ma.masked_outside(at, 0, size - 1)
        lines.append(np.clip(at, inside.min(1).data[:, None], inside.max(1).data[:, None]))
    return _largest(label, dims, input, lines, return_indices)


def _largest(label: str, dims: int, input: Tensor, lines: list[np.ndarray], return_indices: bool) -> Any:
    """The largest element of each window, and its place among all of its channel.

    Args:
        lines: For each spatial dimension the positions of each window, (windows, positions).
    """
    x, batched = _batched(label[:9], input, dims)
    table, sizes = np.zeros((1, 1), np.int64), x.shape[2:]
    for line, size in zip(lines, sizes):
        wide = table[:, None, :, None] * size + line[None, :, None, :]
        table = wide.reshape(table.shape[0] * line.shape[0], -1)
    places = from_values(table)
    values = x.detach().flatten(2).index_select(2, places.reshape(-1)).reshape(*x.shape[:2], *table.shape)
    index = places.expand(values.shape).gather(3, values.argmax(3, True)).squeeze(3)
    shape = (*x.shape[:2], *(len(line) for line in lines))
    made = formula(
        label, [x], lambda x, index: x.flatten(2).gather(2, index).reshape(shape), saves="", constants=[index]
    )
    both = made, index.reshape(shape)
    both = both if batched else tuple(each.squeeze(0) for each in both)
    return both if return_indices else both[0]


def _max_unpool(
    dims: int, input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
    output_size: Any = None,
) -> Tensor:  # fmt: skip
    x, batched = _batched(f"max_unpool{dims}d", input, dims)
    if indices.shape != input.shape:
        raise RuntimeError(
            f"max_unpool{dims}d: indices have the input's shape {list(input.shape)}, got {indices.shape}"
        )
    kernel, rims = sizes_of(kernel_size, dims), sizes_of(padding, dims)
    steps = kernel if stride is None or stride in ((), []) else sizes_of(stride, dims)
    usual = [(n - 1) * step - 2 * rim + k for n, step, rim, k in zip(x.shape[2:], steps, rims, kernel)]
    sizes = usual if output_size is None else list(output_size)[-dims:]
    if any(not size - step < want < size + step for want, size, step in zip(sizes, usual, steps)):
        raise ValueError(f"max_unpool{dims}d: output_size is {usual}, or by less than a step different, got {sizes}")
    index = (indices if batched else indices.unsqueeze(0)).flatten(2)
    if index.numel() and (int(index.max()) >= math.prod(sizes) or int(index.min()) < 0):
        raise RuntimeError(f"max_unpool{dims}d: an index is outside {math.prod(sizes)} places")

    def compute(x: Tensor, index: Tensor) -> Tensor:
        empty = full_of((*x.shape[:2], math.prod(sizes)), 0, x._dtype)
        return empty.scatter(2, index, x.flatten(2)).reshape(*x.shape[:2], *sizes)

    made = formula(f"MaxUnpool{max(dims, 2)}DBackward0", [x], compute, saves="", constants=[index])
    return made if batched else made.squeeze(0)


def _lp_pool(
    dims: int, input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    sums = _avg_pool(dims, input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return ((sums.sign() * sums.abs().relu()) * math.prod(sizes_of(kernel_size, dims))).pow(1 / norm_type)


def _avg_pool(
    dims: int, input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    label, kind = f"AvgPool{dims}DBackward0", "avg" if divisor_override is None else "sum"
    if divisor_override == 0:
        raise RuntimeError("divisor_override is not 0")
    made = _pooled(
        label, kind, dims, input, kernel_size, stride, padding, ceil_mode, count_include_pad=count_include_pad
    )
    return made if divisor_override is None else made / divisor_override


def _adaptive_sizes(dims: int, name: str, input: Tensor, output_size: Any) -> tuple:
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}{dims}d: the input has {dims + 1} dimensions, or {dims + 2} with a batch, got shape {input.shape}"
        )
    given = output_size if isinstance(output_size, (tuple, list)) else (output_size,)
    sizes = tuple(each for each in sizes_of([0 if each is None else each for each in given], dims))
    given = tuple(given) * (dims // len(given))
    sizes = tuple(None if each is None else size for each, size in zip(given, sizes))
    return tuple(size if want is None else want for want, size in zip(sizes, input.shape[-dims:]))


def _adaptive_avg_pool(dims: int, input: Tensor, output_size: Any) -> Tensor:
    """Means of windows that share out each dimension; three at once where they are of one size, else by matrices."""
    wanted = _adaptive_sizes(dims, "adaptive_avg_pool", input, output_size)
    sizes = tuple(input.shape[-dims:])
    if dims < 3:
        front = input.ndim - dims
        shape = (1,) * (2 - front) + tuple(input.shape[:front]) + (1,) * (2 - dims) + sizes
        call = prepare(
            f"AdaptiveAvgPool{dims}DBackward0",
            "_contrib_AdaptiveAvgPooling2D",
            output_size=(1,) * (2 - dims) + wanted,
        )
        x = input if input.ndim == 4 else input.reshape(shape)
        made = run(call, [x], kind=input._dtype)
        return made if input.ndim == 4 else made.reshape(*input.shape[:front], *wanted)
    if 0 not in (*wanted, *input.shape) and all(size % want == 0 for size, want in zip(sizes, wanted)):
        return _avg_pool(dims, input, tuple(size // want for size, want in zip(sizes, wanted)))
    for dim, (size, want) in enumerate(zip(sizes, wanted), input.ndim - dims):
        starts = np.arange(want) * size // max(want, 1)
        ends = -(-(np.arange(want) + 1) * size // max(want, 1))
        places = np.arange(size)[:, None]
        shares = ((places >= starts) & (places < ends)) / (ends - starts)
        input = (input.movedim(dim, -1) @ from_values(shares.astype(input._dtype.np))).movedim(-1, dim)  # noqa: A001
    return input


def _adaptive_max_pool(dims: int, input: Tensor, output_size: Any, return_indices: bool = False) -> Tensor:
    """The largest of each of the windows that share out each dimension."""
    wanted = _adaptive_sizes(dims, "adaptive_max_pool", input, output_size)
    sizes = tuple(input.shape[-dims:])
    if 0 in wanted or (input.shape[0] == 0 and 0 not in input.shape[1:]):
        return _adaptive_avg_pool(dims, input, output_size)  # either has no elements
    if return_indices or any(size % want for size, want in zip(sizes, wanted)):
        lines = []
        for size, want in zip(sizes, wanted):
            starts, ends = np.arange(want) * size // want, -(-(np.arange(want) + 1) * size // want)
            lines.append(np.minimum(starts[:, None] + np.arange((ends - starts).max()), ends[:, None] - 1))
        return _largest(f"AdaptiveMaxPool{dims}DBackward0", dims, input, lines, return_indices)
    return _max_pool(dims, input, tuple(size // want for size, want in zip(sizes, wanted)))


def _fractional_max_pool(
    dims: int, input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
    return_indices: bool = False, _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """The largest of windows of one size, at random distances that make an output of a size, or part of the input's."""
    name = f"fractional_max_pool{dims}d"
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"{name}: give output_size or output_ratio")
    x, _ = _batched(name, input, dims)
    kernel, sizes = sizes_of(kernel_size, dims), x.shape[2:]
    if output_ratio is not None:
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * dims
        output_size = tuple(int(size * part) for size, part in zip(sizes, ratios))
    wanted = sizes_of(output_size, dims)
    if any(want + k - 1 > size or want < 1 for want, k, size in zip(wanted, kernel, sizes)):
        raise RuntimeError(f"{name}: {list(sizes)} has no {list(wanted)} windows of {list(kernel)}")
    drawn = np.random.default_rng(int(uniform_of((), float64).item() * 2**53)).random((*x.shape[:2], dims))
    drawn = drawn if _random_samples is None else _random_samples._values().reshape(*x.shape[:2], dims)
    found = []
    for plane in np.ndindex(*x.shape[:2]):
        lines = []
        for want, k, size, part in zip(wanted, kernel, sizes, drawn[plane][::-1]):
            step = (size - k) / (want - 1) if want > 1 else 0.0
            starts = ((np.arange(want) + part) * step).astype(int) - int(part * step)
            starts[-1] = size - k
            lines.append(starts[:, None] + np.arange(k))
        found.append(_largest(name, dims, x[plane].detach()[None], lines, True)[1])
    index, shape = stack(found).reshape(*x.shape[:2], -1), (*input.shape[:-dims], *wanted)
    label = f"FractionalMaxPool{dims}DBackward0"
    pick = lambda x, index: x.flatten(2).gather(2, index).reshape(shape)  # noqa: E731
    made = formula(label, [x], pick, saves="", constants=[index])
    return (made, index.reshape(shape)) if return_indices else made


# ---- channels at a time ----


def drop_channels(dims: int, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Drops channels: all but the last `dims` dimensions; of a matrix of steps dropout2d drops those of dropout1d."""
    ndim = input.ndim
    if dims == 1 and ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: takes 2 or 3 dimensions, got {ndim}")
    if ndim not in (dims + 1, dims + 2) or (dims, ndim) == (2, 3):
        warn(f"dropout{dims}d: for {ndim} dimensions; the first two are a batch and channels")
    if not training or not 0 < p <= 1:
        return dropout(input, p, training, inplace)
    front = 1 if ndim == dims + 1 and dims != 2 else 2
    mask = dropout(full_of(tuple(input.shape[:front]) + (1,) * (ndim - front), 1, input._dtype), p)
    return input.mul_(mask) if inplace else input * mask


def _made(name: str, function: Callable, dims: int, document: str) -> Callable:
    def of_dims(input: Tensor, *args: Any, **options: Any) -> Tensor:
        return function(dims, input, *args, **options)

    of_dims.__name__ = of_dims.__qualname__ = name
    given = inspect.signature(function)
    of_dims.__signature__ = given.replace(parameters=list(given.parameters.values())[1:])  # type: ignore[attr-defined]
    of_dims.__doc__ = f"{document}, over {dims} spatial dimension{'s' * (dims > 1)}."
    return of_dims


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """The correlation of (step, batch, channels) with a weight of (kernel, in, out) along the steps."""
    return _convolution(1, input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad).permute(2, 0, 1)


_TABLE = (
    ("conv{}d", _convolution, "The correlation of (batch, channels, ...) with a weight of (out, in / groups, kernel)"),
    ("conv_transpose{}d", _transposed, "The transposed convolution, with a weight of (in, out / groups, kernel)"),
    ("max_pool{}d", _max_pool, "The largest element of each window"),
    ("max_unpool{}d", _max_unpool, "Elements at the places that max_pool found, among zeros"),
    ("lp_pool{}d", _lp_pool, "The root of the sum of powers of each window"),
    ("avg_pool{}d", _avg_pool, "The mean of each window"),
    ("adaptive_avg_pool{}d", _adaptive_avg_pool, "Means of as many windows as asked for"),
    ("adaptive_max_pool{}d", _adaptive_max_pool, "The largest elements of as many windows as asked for"),
    ("fractional_max_pool{}d", _fractional_max_pool, "The largest of each window, at random distances"),
    ("dropout{}d", drop_channels, "Whole channels are 0 with probability p, the others divided by 1 - p"),
)  # fmt: skip

for _name, _function, _document in _TABLE:
    for _dims in (1, 2, 3) if _function is not _fractional_max_pool else (2, 3):
        globals()[_name.format(_dims)] = _made(_name.format(_dims), _function, _dims, _document)
        if _name.endswith("max_pool{}d"):  # with the places, by a name of its own
            _both = _made(
                f"{_name.format(_dims)}_with_indices", partial(_function, return_indices=True), _dims, _document
            )
            globals()[_both.__name__] = _both
explain_all(globals())
__all__ = [name for name in defined(globals()) if name not in ("sizes_of", "constant_pad", "drop_channels", "dropout")]
