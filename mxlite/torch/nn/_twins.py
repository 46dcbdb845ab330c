"""Functions of the module `torch` that `torch.nn.functional` has under other signatures."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any, Callable

from mxlite.torch._basic import zeros_of
from mxlite.torch._calls import function
from mxlite.torch._calls import functions as _functions
from mxlite.torch._dtypes import bool_, float64, int64
from mxlite.torch._tensor import Tensor, full_of
from mxlite.torch.nn import functional as F  # noqa: N812 - as PyTorch's users call it
from mxlite.torch.nn._steps import GATES, STEPS
from mxlite.torch.nn._windows import drop_channels

#: Functions that are the same in both modules.
_SAME = """
    adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d bilinear celu channel_shuffle conv1d conv2d conv3d
    conv_transpose1d conv_transpose2d conv_transpose3d group_norm hardshrink layer_norm max_pool1d max_pool2d
    max_pool3d pixel_shuffle pixel_unshuffle prelu rms_norm rrelu selu threshold
"""
_functions.update({name: getattr(F, name) for name in _SAME.split()})
_functions["native_channel_shuffle"] = F.channel_shuffle

#: Functions whose parameters have another order, with the names that they have in `functional`; "?": of those that have
#: a default. A reduction is a number, 0 by default, as PyTorch takes it; a name with _ at its end is that in place.
_ORDERS = """
    batch_norm: input weight bias running_mean running_var training momentum eps cudnn_enabled
    instance_norm: input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled
    kl_div: input target reduction? log_target?
    ctc_loss: log_probs targets input_lengths target_lengths blank? reduction? zero_infinity?
    binary_cross_entropy_with_logits: input target weight? pos_weight? reduction?
    cosine_embedding_loss: input1 input2 target margin? reduction?
    hinge_embedding_loss: input target margin? reduction?
    margin_ranking_loss: input1 input2 target margin? reduction?
    poisson_nll_loss: input target log_input full eps reduction
    triplet_margin_loss: anchor positive negative margin? p? eps? swap? reduction?
    dropout: input p train
    dropout_: input p train
    alpha_dropout: input p train
    alpha_dropout_: input p train
    feature_alpha_dropout: input p train
    feature_alpha_dropout_: input p train
    celu_: input alpha?
    selu_: input
    rrelu_: input lower? upper? training?
    threshold_: input threshold value
"""
_REDUCTIONS = ("none", "mean", "sum")


def _ordered(name: str, words: list[str]) -> None:
    """Registers a function of _ORDERS."""
    into = name.endswith("_")
    target = getattr(F, name.rstrip("_"))
    known = inspect.signature(target).parameters
    parameters = []
    for word in words:
        own = word.rstrip("?")
        default = 0 if own == "reduction" else known[own].default if own in known else inspect.Parameter.empty
        parameters.append(inspect.Parameter(own, inspect.Parameter.POSITIONAL_OR_KEYWORD,
                                            default=default if own != word else inspect.Parameter.empty))  # fmt: skip
    signature = inspect.Signature(parameters)

    def made(*args: Any, **named: Any) -> Any:
        given = signature.bind(*args, **named)
        given.apply_defaults()
        options = given.arguments
        options.pop("cudnn_enabled", None)
        if "train" in options:
            options["training"] = options.pop("train")
        if "reduction" in options:
            options["reduction"] = _REDUCTIONS[options["reduction"]]
        return target(**options, **({"inplace": True} if into else {}))

    made.__signature__ = signature  # type: ignore[attr-defined]
    function(name, document=f"As nn.functional.{target.__name__}, in the order of this signature.")(made)


for _line in _ORDERS.strip().splitlines():
    _name, _words = _line.split(":")
    _ordered(_name.strip(), _words.split())


def _embedding_bag(
    weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool = False, mode: int = 0,
    sparse: bool = False, per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """The bags, the bag of each index, the bags' sizes, and for maxima (mode 2) the indices of the rows they are of."""
    word = ("sum", "mean", "max")[mode]
    made = F.embedding_bag(indices, weight, offsets, None, 2.0, scale_grad_by_freq, word, sparse, per_sample_weights,
                           include_last_offset, padding_idx)  # fmt: skip
    count = made.shape[0]
    none = zeros_of((count,), int64)
    if mode == 0 and weight._dtype is not float64:
        return made, zeros_of((0,), int64), none, none
    bags = _functions["searchsorted"](offsets[:count].contiguous(), _functions["arange"](len(indices)), right=True) - 1
    counted = bags if padding_idx is None else bags[indices != padding_idx % weight.shape[0]]
    sizes = _functions["bincount"](counted, minlength=count)
    if mode < 2:
        return made, bags, *((sizes, sizes) if mode else (none, none))
    hits = weight.detach()[indices] == made.detach()[bags]
    places = full_of(made.shape, 0, int64)
    for place in reversed(range(len(indices))):  # the first one counts
        row = places[bags[place]]
        row.copy_(row.masked_fill(hits[place], int(indices[place])))
    return made, bags, sizes, places


def _convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Tensor:  # fmt: skip
    if transposed:
        made = getattr(F, f"conv_transpose{weight.ndim - 2}d")
        return made(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return getattr(F, f"conv{weight.ndim - 2}d")(input, weight, bias, stride, padding, dilation, groups)


def _sampled(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    words = ("bilinear", "nearest", "bicubic")[interpolation_mode], ("zeros", "border", "reflection")[padding_mode]
    return F.grid_sample(input, grid, *words, align_corners)


def _spread(groups: Tensor, eps: float, dims: Any, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The means over dimensions, and one over the deviations."""
    groups = groups.detach()
    return groups.mean(dims, keepdim), (groups.var(dims, correction=0, keepdim=keepdim) + eps).rsqrt()


def _native_batch_norm(
    input: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    made = F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return made, zeros_of((0,), input._dtype), zeros_of((0,), input._dtype)
    return made, *_spread(input, eps, tuple(dim for dim in range(input.ndim) if dim != 1), False)


def _native_layer_norm(
    input: Tensor, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> tuple[Tensor, ...]:  # fmt: skip
    made = F.layer_norm(input, normalized_shape, weight, bias, eps)
    return made, *_spread(input, eps, tuple(range(-len(normalized_shape), 0)), True)


def _native_group_norm(
    input: Tensor, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float  # noqa: N803
) -> tuple[Tensor, ...]:  # fmt: skip
    return F.group_norm(input, group, weight, bias, eps), *_spread(input.reshape(N, group, -1), eps, 2, False)


def _native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    if train is False:
        return input.clone(), full_of(input.shape, 1, bool_)
    mask = F.dropout(full_of(input.shape, 1, input._dtype), p)
    return input * mask, mask != 0


def _batch_norm_update_stats(
    input: Tensor, running_mean: Any, running_var: Any, momentum: float
) -> tuple[Tensor, Tensor]:  # fmt: skip
    F.batch_norm(input.detach(), running_mean, running_var, None, None, True, momentum)
    dims = tuple(dim for dim in range(input.ndim) if dim != 1)
    return input.detach().mean(dims), input.detach().var(dims, correction=0)


def _embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    F.embedding(indices, input, None, max_norm, norm_type)
    return input


def _cell(mode: str) -> Callable:
    def cell(
        input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
    ) -> Any:  # fmt: skip
        states = [hx] if isinstance(hx, Tensor) else list(hx)
        return STEPS[mode](F.linear(input, w_ih, b_ih), F.linear(states[0], w_hh, b_hh), states)

    return cell


def _network(mode: str) -> Callable:
    # A call imports the layers; the import of torch does not.
    return lambda *given: import_module("mxlite.torch.nn._recurrent").of_weights(mode, *given)


for _name, _document, _made in (
    ("embedding", "Rows of a weight at indices, as nn.functional.embedding.",
     lambda weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False:
     F.embedding(indices, weight, None if padding_idx < 0 else padding_idx, None, 2.0, scale_grad_by_freq, sparse)),
    ("embedding_bag", _embedding_bag.__doc__, _embedding_bag),
    ("embedding_renorm_", "Makes rows of a weight at indices as short as max_norm.", _embedding_renorm_),
    ("convolution", "A convolution, transposed or not, of as many dimensions as the weight has.", _convolution),
    ("conv_tbc", F.conv_tbc.__doc__, F.conv_tbc),
    *((_each, "As nn.functional.grid_sample, with numbers for the modes.", _sampled)
      for _each in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")),
    ("affine_grid_generator", "As nn.functional.affine_grid.",
     lambda theta, size, align_corners: F.affine_grid(theta, size, align_corners)),
    ("constant_pad_nd", "As nn.functional.pad.", lambda input, pad, value=0: F.pad(input, pad, "constant", value)),
    ("feature_dropout", "Whole channels are 0 with probability p.",
     lambda input, p, train: drop_channels(input.ndim - 2, input, p, train)),
    ("feature_dropout_", "Whole channels become 0 with probability p.",
     lambda input, p, train: drop_channels(input.ndim - 2, input, p, train, True)),
    ("native_batch_norm", "Also the means and 1 / deviations, which are empty where not training.", _native_batch_norm),
    ("native_layer_norm", "Also the means and 1 / deviations.", _native_layer_norm),
    ("native_group_norm", "Also the means and 1 / deviations of groups.", _native_group_norm),
    ("native_dropout", "Also what was kept.", _native_dropout),
    ("batch_norm_update_stats", "The channels' means and variances, to which the running ones move.",
     _batch_norm_update_stats),
    *((f"{_mode}_cell", "A step of a recurrent network, of a state (lstm: states h and c).", _cell(_mode))
      for _mode in GATES),
    *((_mode, "A recurrent network with the weights of all its layers in a list.", _network(_mode))
      for _mode in GATES),
):  # fmt: skip
    function(_name, document=_document)(_made)
