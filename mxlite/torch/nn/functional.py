"""`torch.nn.functional`: activations, linear maps, losses and what networks are made of, as functions."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from mxlite._lib import hot
from mxlite._public import defined as _defined
from mxlite._public import show as _show
from mxlite.torch._basic import has_values
from mxlite.torch._calls import Ints, adopt, new, prepare, require_tensor, run
from mxlite.torch._calls import explain_all as _explain_all
from mxlite.torch._dtypes import bool_, finfo, float32, float64, int64
from mxlite.torch._errors import warn, wrong_argument
from mxlite.torch._make.random import uniform_of
from mxlite.torch._math.elementwise import require_floats
from mxlite.torch._math.matrix import addmm, mm
from mxlite.torch._math.norms import vector_norm
from mxlite.torch._nodes import formula, unrecorded
from mxlite.torch._shape import shapes as _shapes
from mxlite.torch._shape.parts import cat
from mxlite.torch._shape.picking import require_integers, require_within
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, from_values, full_of
from mxlite.torch.nn import _activations, _losses, _margins, _rims, _spatial, _windows
from mxlite.torch.nn._activations import *  # noqa: F403
from mxlite.torch.nn._losses import *  # noqa: F403
from mxlite.torch.nn._margins import *  # noqa: F403
from mxlite.torch.nn._rims import *  # noqa: F403
from mxlite.torch.nn._rims import dropout
from mxlite.torch.nn._spatial import *  # noqa: F403
from mxlite.torch.nn._windows import *  # noqa: F403

# ---- linear maps ----

_t = prepare("TBackward0", "transpose", axes="(1,0)")
_view = prepare("ViewBackward0", "_mxl_reshape_to", "shape")
_unsafe_view = prepare("UnsafeViewBackward0", "_mxl_reshape_to", "shape")
_addmm = prepare("AddmmBackward0", "_mxl_addmm")


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Rows of features times the transposed weight, and a bias: x W' + b.

    Args:
        input: (..., in), weight: (out, in), bias: (out,) or None.
    """
    try:
        kind = input._dtype
        turned = new(Tensor)
        turned._h = hot.call1(_t, weight._h)
    except AttributeError:
        require_tensor("linear", 1, "input", input)
        require_tensor("linear", 2, "weight", weight)
        raise
    turned._dtype = weight._dtype
    if not turned._h:
        return input @ weight.t()  # which says what is wrong
    shape = input.shape
    if len(shape) == 2:
        if bias is None:
            return mm(input, turned)
        handle = hot.call_n(_addmm, [bias._h, input._h, turned._h], [])
        if not handle:
            return addmm(bias, input, turned)
        return adopt(handle, kind)
    if not shape:
        raise RuntimeError("linear: the input has one dimension or more")
    if bias is None and len(shape) == 1:
        row = mm(input.unsqueeze(0), turned)
        return _shapes.with_shape(prepare("SqueezeBackward4", "_mxl_reshape_to", "shape"), row, (weight.shape[0],))
    rows = input.reshape(-1 if shape[-1] else math.prod(shape[:-1]), shape[-1])
    out = shape[:-1] + (weight.shape[0],)
    if bias is None:
        return _shapes.with_shape(_unsafe_view, mm(rows, turned), out)
    return _shapes.with_shape(_view, addmm(bias, rows, turned), out)


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of `weight` at indices; max_norm: the most that their norms are, which makes the weight smaller itself."""
    if scale_grad_by_freq or sparse:
        raise NotImplementedError("mxlite.torch: embedding has no scale_grad_by_freq and no sparse")
    if weight.ndim != 2:
        raise RuntimeError(f"embedding: a weight has rows, 2 dimensions, got shape {list(weight.shape)}")
    if padding_idx is not None and not isinstance(padding_idx, int):
        raise wrong_argument("embedding", "padding_idx", 0, "int", padding_idx)
    if padding_idx is not None and not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise AssertionError(f"embedding: padding_idx is one of {weight.shape[0]} rows, got {padding_idx}")
    require_integers("embedding", input)
    extent = weight.shape[0]
    if max_norm is not None and input.numel():
        require_within("embedding", input, extent)
        with unrecorded():
            index = from_values(np.unique(input._values()))
            rows = weight.detach().index_select(0, index)
            norms = vector_norm(rows, norm_type, 1, True)
            weight[index] = choose(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows)
    if padding_idx is None:
        return _rows_of(weight, input)

    def compute(weight: Tensor, index: Tensor) -> Tensor:
        rows = _rows_of(weight, index)
        return choose((index == padding_idx % extent).unsqueeze(-1), rows.detach(), rows)

    return formula("EmbeddingBackward0", [weight], compute, saves="", constants=[input])


def _rows_of(weight: Tensor, index: Tensor) -> Tensor:
    """Raises: IndexError: an index is none of a row."""
    try:
        return run(_rows, [weight, index], kind=weight._dtype)
    except RuntimeError:
        require_within("embedding", index, weight.shape[0])
        raise


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
    per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """Sums, means or maxima (`mode`) of rows of `weight` at indices in bags; of an empty bag zeros.

    Args:
        input: (bag, index), or all indices one behind another, and `offsets`: where each bag begins.
        include_last_offset: Whether the last offset is the end. padding_idx: an index that does not count.
    """
    if input._dtype.is_floating_point and not weight._dtype.is_floating_point:
        warn("embedding_bag: the input (indices) comes first, then the weight")
        input, weight = weight, input
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"embedding_bag: mode is 'sum', 'mean' or 'max', got {mode!r}")
    if per_sample_weights is not None and (mode != "sum" or per_sample_weights.shape != input.shape):
        kind = NotImplementedError if mode != "sum" else ValueError
        raise kind("embedding_bag: per_sample_weights are for mode 'sum', and have the input's shape")
    if input.ndim not in (1, 2) or (input.ndim == 1) == (offsets is None):
        raise ValueError("embedding_bag: an input (bag, index), or (index,) and offsets")
    index = input._values()
    if input.ndim == 2:
        starts, ends = (np.arange(len(index)) + more for more in (0, 1))
        starts, ends = starts * index.shape[1], ends * index.shape[1]
    else:
        starts = offsets._values().astype(np.int64)  # type: ignore[union-attr]
        ends = np.append(starts[1:], len(index))[: len(starts) - include_last_offset]
        starts = starts[: len(ends)]
    wide = int((ends - starts).max(initial=1)) or 1
    places = starts[:, None] + np.arange(wide)
    counts = places < ends[:, None]
    places = from_values(np.where(counts, places, 0))
    flat = input.reshape(-1) if index.size else full_of((1,), 0, input._dtype)
    bags = flat.take(places)
    if padding_idx is not None:
        counts = counts & (bags._values() != padding_idx % weight.shape[0])
    rows = embedding(bags, weight, None, max_norm, norm_type, scale_grad_by_freq, sparse)
    mask = from_values(counts).unsqueeze(2)
    if mode == "max":
        most = rows.masked_fill(~mask, -math.inf).amax(1)
        return most.masked_fill(from_values(~counts.any(1)).unsqueeze(1), 0)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1).take(places).unsqueeze(2)
    total = rows.masked_fill(~mask, 0).sum(1)
    return (
        total if mode == "sum" else total / from_values(np.maximum(counts.sum(1), 1).astype(weight._dtype.np)[:, None])
    )


_rows = prepare("EmbeddingBackward0", "take", slots="0", axis=0, mode="raise")


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """1 at the place that each integer names, in a new last dimension, else 0."""
    if tensor._dtype is not int64:
        raise RuntimeError(f"one_hot: takes int64, got {tensor._dtype.word}")
    found = tensor.reshape(-1).tolist() if num_classes < 0 or (has_values(tensor) and not tensor.is_meta) else ()
    if found:
        if min(found) < 0:
            raise RuntimeError("one_hot: a class is 0 or more")
        highest = max(found)
        if num_classes == -1:
            num_classes = highest + 1
        elif highest >= num_classes:
            raise RuntimeError(f"one_hot: a class is below num_classes ({num_classes})")
    elif num_classes <= 0:
        raise RuntimeError("one_hot: no elements to tell the number of classes by; give num_classes")
    return run(_one_hot, [tensor], num_classes, kind=int64)


_one_hot = prepare(None, "one_hot", "depth", dtype="int64")


# ---- norms ----


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Tensor:
    """Divided by the p-norm along a dimension (by eps, where that is smaller)."""
    if out is not None:
        raise NotImplementedError("mxlite.torch: normalize has no out")
    return input / vector_norm(input, p, dim, True).clamp_min(eps).expand_as(input)


def layer_norm(
    input: Tensor, normalized_shape: Ints, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Less the mean, divided by the deviation over the last dimensions; times a weight, and a bias."""
    shape = tuple(normalized_shape)
    for name, each in (("weight", weight), ("bias", bias)):
        if each is not None and each.shape != shape:
            raise RuntimeError(f"layer_norm: a {name} has normalized_shape {list(shape)}, got {list(each.shape)}")
    if tuple(input.shape[len(input.shape) - len(shape) :]) != shape:
        raise RuntimeError(
            f"layer_norm: an input's shape ends with normalized_shape {list(shape)}, got {list(input.shape)}"
        )
    return _normalized("NativeLayerNormBackward0", "last", input, weight, bias, eps, len(shape))


def rms_norm(
    input: Tensor, normalized_shape: Ints, weight: Tensor | None = None, eps: float | None = None
) -> Tensor:  # fmt: skip
    """Divided by the root of the mean square over the last dimensions; times a weight."""
    shape = tuple(normalized_shape)
    if tuple(input.shape[input.ndim - len(shape) :]) != shape or (weight is not None and weight.shape != shape):
        raise RuntimeError(f"rms_norm: input and weight end with {list(shape)}, got {list(input.shape)}")
    eps = finfo(input._dtype).eps if eps is None else eps
    made = input * (input.square().mean(tuple(range(-len(shape), 0)), True) + eps).rsqrt()
    return made if weight is None else made * weight


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:  # fmt: skip
    """Divided by (k + alpha times the mean square of `size` neighbouring channels)^beta."""
    if input.ndim < 3:
        raise ValueError(f"local_response_norm: takes 3 dimensions or more, got {input.ndim}")
    rim = [0, 0] * (input.ndim - 2) + [size // 2, (size - 1) // 2]
    squares = _rims.pad(input.square(), rim)
    total = sum(squares.narrow(1, place, input.shape[1]) for place in range(size))
    return input / (total * (alpha / size) + k).pow(beta)


def _normalized(
    label: str, over: str, input: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float, count: int = 1,
    statistics: tuple[Tensor, ...] = (),
) -> Tensor:  # fmt: skip
    """One node: the standard deviations from the mean over dimensions, times a weight, and a bias."""
    require_floats("norm", input._dtype)
    given = [input, *(each for each in (weight, bias) if each is not None), *statistics]
    call = _normalize(label, over, weight is not None, bias is not None, bool(statistics))
    return run(call, given, float(eps), count, kind=input._dtype)


@cache
def _normalize(label: str, over: str, scaled: bool, shifted: bool, given: bool) -> int:
    slots = "0" + ("1" if scaled else "-") + (str(1 + scaled) if shifted else "-")
    flags = {"scaled": scaled, "shifted": shifted, "given": given}
    return prepare(label, "_mxl_normalise", "eps", "count", slots=slots, over=over, **flags)


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: tuple) -> Tensor:
    """x weight + bias, these in a shape that x's broadcasts with."""
    x = x if weight is None else x * weight.reshape(shape)
    return x if bias is None else x + bias.reshape(shape)


def _require_several(shape: tuple[int, ...], channels: int) -> None:
    """Raises: ValueError: there is one value for each of the first `channels` dimensions after the batch's."""
    if math.prod(shape[:1]) * math.prod(shape[1 + channels :]) == 1:
        raise ValueError(f"batch_norm: training takes two values or more for each channel, got shape {shape}")


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Less the mean, divided by the deviation of each channel (dimension 1); times a weight, and a bias.

    While training they are those of this batch, and the running ones move towards them; else the running ones.
    """
    require_floats("batch_norm", input._dtype)
    if input.ndim < 2:
        kind = IndexError if training else RuntimeError  # as PyTorch
        raise kind(f"batch_norm: channels are dimension 1, got shape {list(input.shape)}")
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, each in given.items():
        if each is not None and each.shape != input.shape[1:2]:
            raise RuntimeError(f"batch_norm: {name} has one element for each of {input.shape[1]} channels, got shape "
                               f"{list(each.shape)}")  # fmt: skip
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("batch_norm: training=False takes running_mean and running_var")
        statistics = running_mean.detach(), running_var.detach()
        return _normalized("NativeBatchNormBackward0", "others", input, weight, bias, eps, 1, statistics)
    _require_several(input.shape, 1)
    if (running_mean is None) != (running_var is None):
        raise ValueError("batch_norm: running_mean and running_var must be given together, or neither of them")
    if running_mean is not None and running_var is not None and input.numel():
        with unrecorded():
            values, dims = input.detach(), tuple(dim for dim in range(input.ndim) if dim != 1)
            running_mean.mul_(1 - momentum).add_(values.mean(dims) * momentum)
            running_var.mul_(1 - momentum).add_(values.var(dims) * momentum)
    return _normalized("NativeBatchNormBackward0", "others", input, weight, bias, eps)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """softmax(query key' scale + mask) value, over the last two dimensions; enable_gqa: of fewer heads of keys."""
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError("scaled_dot_product_attention: query, key and value have two dimensions or more")
    if is_causal and attn_mask is not None:
        raise RuntimeError("scaled_dot_product_attention: is_causal=True takes no attn_mask")
    if attn_mask is not None and attn_mask._dtype not in (bool_, float32, query._dtype):
        raise RuntimeError(
            f"scaled_dot_product_attention: a mask is of bool or of {query._dtype}, got {attn_mask._dtype}"
        )
    if enable_gqa:
        key, value = (each.repeat_interleave(query.shape[-3] // each.shape[-3], -3) for each in (key, value))
    by = 1 / math.sqrt(max(1, query.shape[-1])) if scale is None else scale
    if _by_tiles(query, key, value, attn_mask, dropout_p):
        given = [query, key, value]
        if attn_mask is not None:
            given.append(_as_added(~attn_mask if attn_mask._dtype is bool_ else attn_mask, query).to(query._dtype))
        call = _attention(attn_mask is not None, bool(is_causal))
        return run(call, given, float(by), kind=query._dtype)
    if is_causal:
        attn_mask = full_of((query.shape[-2], key.shape[-2]), 1, query._dtype).tril() == 1
    return _attended(query, key, value, attn_mask, dropout_p, by)[0]


def _by_tiles(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, p: float) -> bool:
    """Whether attention is one node that keeps no scores: where it is in PyTorch."""
    if not query.ndim == key.ndim == value.ndim == 4 or p > 0 or 0 in query.shape + key.shape:
        return False
    if query.shape[:2] != key.shape[:2] or key.shape != value.shape or query.shape[3] != key.shape[3]:
        return False
    if query._dtype not in (float32, float64) or not query._dtype == key._dtype == value._dtype:
        return False
    return mask is None or (mask.ndim in (2, 4) and not mask.requires_grad)


@cache
def _attention(masked: bool, causal: bool) -> int:
    label = "ScaledDotProductFlashAttentionForCpuBackward0"
    return prepare(label, "_mxl_attention", "scale", slots="012", masked=masked, causal=causal)


def _attended(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, p: float, by: float
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """softmax(query key' by + mask) value, and the softmax; where a mask of bool is False, it is 0."""
    scores = query @ key.mT * by
    if mask is not None:
        is_mask = mask._dtype.kind == 0
        scores = scores.masked_fill(mask.logical_not(), -math.inf) if is_mask else scores + mask
    shares = dropout(run(prepare("SafeSoftmaxBackward0", "softmax", axis=-1), [scores], kind=scores._dtype), p)
    return shares @ value, shares


def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float,
    out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True,
    key_padding_mask: Tensor | None = None, need_weights: bool = True, attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """What nn.MultiheadAttention computes, of (step, batch, feature) or (step, feature)."""
    if static_k is not None or static_v is not None:
        raise NotImplementedError("mxlite.torch: multi_head_attention_forward has no static_k and static_v")
    if not query.ndim == key.ndim == value.ndim or query.ndim not in (2, 3):
        raise AssertionError("multi_head_attention_forward: query, key and value have 2 dimensions, or 3 with a batch")
    if query.shape[-1] != embed_dim_to_check or key.shape[:-1] != value.shape[:-1]:
        raise AssertionError(
            f"multi_head_attention_forward: {embed_dim_to_check} features, and as many keys as values, got "
            f"{query.shape}, {key.shape} and {value.shape}"
        )
    if is_causal and attn_mask is None:
        raise RuntimeError("multi_head_attention_forward: is_causal is a hint about attn_mask; give that, too")
    given = [each.unsqueeze(1) if query.ndim == 2 else each for each in (query, key, value)]
    if use_separate_proj_weight:
        weights: Any = (q_proj_weight, k_proj_weight, v_proj_weight)
    else:
        weights = in_proj_weight.chunk(3)  # type: ignore[union-attr]
    biases = [None] * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
    q, k, v = (linear(x, w, b) for x, w, b in zip(given, weights, biases))
    (steps, batch, width), mask = q.shape, attn_mask
    if mask is not None:
        mask = _as_added(mask.reshape(batch, num_heads, *mask.shape[-2:]) if mask.ndim == 3 else mask, q)
    if key_padding_mask is not None:
        if attn_mask is not None and attn_mask._dtype is not key_padding_mask._dtype:
            warn("attention: attn_mask and key_padding_mask are of two dtypes; PyTorch will refuse that")
        padding = key_padding_mask.reshape(batch, 1, 1, -1)
        mask = _as_added(padding, q) if mask is None else mask + _as_added(padding, q)
    if bias_k is not None and bias_v is not None:
        k, v = (cat([x, bias.expand(1, batch, width)]) for x, bias in ((k, bias_k), (v, bias_v)))
    if add_zero_attn:
        k, v = (_rims.pad(x, (0, 0, 0, 0, 0, 1)) for x in (k, v))
    if mask is not None:
        mask = _rims.pad(mask, (0, k.shape[0] - mask.shape[-1]))
    q, k, v = (x.reshape(x.shape[0], batch, num_heads, width // num_heads).permute(1, 2, 0, 3) for x in (q, k, v))
    p, shares = dropout_p if training else 0.0, None
    if need_weights:
        made, shares = _attended(q, k, v, mask, p, 1 / math.sqrt(width // num_heads))
        shares = shares.mean(1) if average_attn_weights else shares
        shares = shares.squeeze(0) if query.ndim == 2 else shares
    else:
        made = scaled_dot_product_attention(q, k, v, mask, p)
    made = linear(made.permute(2, 0, 1, 3).reshape(steps * batch, width), out_proj_weight, out_proj_bias)
    made = made.reshape(steps, batch, out_proj_weight.shape[0])
    return made.squeeze(1) if query.ndim == 2 else made, shares


def _as_added(mask: Tensor, like: Tensor) -> Tensor:
    """A mask as what is added to scores: -inf where one of bool is True."""
    return full_of(mask.shape, 0, like._dtype).masked_fill(mask, -math.inf) if mask._dtype is bool_ else mask


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Less the mean, divided by the deviation of each group of channels (dimension 1); times a weight, and a bias."""
    require_floats("norm", input._dtype)
    if input.ndim < 2:
        raise RuntimeError(f"group_norm: channels are dimension 1, got shape {list(input.shape)}")
    n, channels = input.shape[:2]
    for name, each in (("weight", weight), ("bias", bias)):
        if each is None:
            continue
        if each._dtype is not input._dtype and (input._dtype.itemsize > 2 or each._dtype.itemsize != 4):
            raise RuntimeError(f"group_norm: the {name} is of the input's dtype, {input._dtype.word}, got {each.dtype}")
        if each.shape != (channels,):
            raise RuntimeError(
                f"group_norm: a {name} has {channels} elements, one for each channel, got shape {list(each.shape)}"
            )
    if channels % num_groups:
        raise RuntimeError(
            f"group_norm: num_groups ({num_groups}) does not divide the channels of shape {list(input.shape)}"
        )
    _require_several((n * channels // num_groups, num_groups, *input.shape[2:]), 1)
    groups = input.reshape(n, num_groups, channels // num_groups * math.prod(input.shape[2:]))
    away = groups - groups.mean(2, True)
    made = (away * ((away * away).mean(2, True) + eps).rsqrt()).reshape(input.shape)
    return _affine(made, weight, bias, (channels,) + (1,) * (input.ndim - 2))


def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None,
    bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Less the mean, divided by the deviation of each channel of each example; times a weight, and a bias.

    The running ones are used instead without use_input_stats, else they move towards the means over the batch.
    """
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    require_floats("instance_norm", input._dtype)
    dims = tuple(range(2, input.ndim))
    if math.prod(input.shape[2:]) == 1:
        raise ValueError(f"instance_norm: training takes two positions or more, got shape {input.shape}")
    if running_mean is not None and running_var is not None and input.numel():
        with unrecorded():
            values = input.detach()
            running_mean.mul_(1 - momentum).add_(values.mean(dims).mean(0) * momentum)
            running_var.mul_(1 - momentum).add_(values.var(dims).mean(0) * momentum)
    return _normalized("NativeBatchNormBackward0", "rest", input, weight, bias, eps)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A random choice by log probabilities, softened: softmax((logits + noise) / tau); hard: as 0 and 1 in value."""
    if eps != 1e-10:
        warn("gumbel_softmax: eps has no effect")
    noise = -(-uniform_of(tuple(logits.shape), logits._dtype).clamp_min(1e-30).log()).log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.detach().argmax(dim, True)
    made = full_of(soft.shape, 0, soft._dtype).scatter(dim, index, full_of(index.shape, 1, soft._dtype))
    return made - soft.detach() + soft


def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The p-distances of all pairs of rows."""
    if input.ndim != 2 or p < 0 or not input._dtype.is_floating_point:
        raise RuntimeError(f"pdist: rows, 2 dimensions, and a p of 0 or more, got shape {list(input.shape)} and {p}")
    first, second = (from_values(each) for each in np.triu_indices(input.shape[0], 1))
    compute = lambda x: vector_norm(x.index_select(0, first) - x.index_select(0, second), p, 1)  # noqa: E731
    return formula("PdistBackward0", [input], compute)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """y[k] = x1' W[k] x2 + b[k], over the last dimensions.

    Args:
        input1: (..., in1), input2: (..., in2), weight: (out, in1, in2), bias: (out,) or None.
    """
    out, first, second = weight.shape
    left = input1 @ weight.permute(1, 0, 2).reshape(first, out * second)
    made = (left.reshape(*input1.shape[:-1], out, second) @ input2.unsqueeze(-1)).squeeze(-1)
    return made if bias is None else made + bias


_explain_all(globals(), quick=("linear",))
_modules = (_activations, _losses, _margins, _rims, _spatial, _windows)
__all__ = [*(name for module in _modules for name in module.__all__), *_defined(globals())]
_show(globals())
