"""Layers that are a function and its options, made from a table: activations, dropout, pooling, losses."""

from __future__ import annotations

import inspect
from typing import Any, Callable

from mxlite.torch._basic import full_of, placed
from mxlite.torch._dtypes import get_default_dtype
from mxlite.torch._errors import warn_of_old
from mxlite.torch.nn import functional as F  # noqa: N812 - as PyTorch's users call it
from mxlite.torch.nn._losses import old_reduction
from mxlite.torch.nn._module import Module
from mxlite.torch.nn._windows import sizes_of
from mxlite.torch.nn.parameter import Parameter

#: The value of an option that has to be given.
_GIVEN = inspect.Parameter.empty


class _Plain(Module):
    """A layer whose forward is a function of its inputs, with the options that the layer was made with."""

    _function: Callable
    _options: inspect.Signature
    _shown = ""
    _shows_inplace = True
    _switches = False
    #: Older names of options.
    _old = {"min_value": "min_val", "max_value": "max_val"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        for old in self._old.keys() & kwargs.keys():
            warn_of_old(f"{type(self).__name__}({old}=)", self._old[old], FutureWarning)
            kwargs[self._old[old]] = kwargs.pop(old)
        try:
            given = self._options.bind(*args, **kwargs)
        except TypeError as problem:
            raise TypeError(f"{type(self).__name__}.__init__() {problem}") from None
        given.apply_defaults()
        for name, value in given.arguments.items():
            if name in ("weight", "pos_weight"):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)
        self._finish()

    def _finish(self) -> None:
        """What a layer checks or changes of its options."""

    def forward(self, *inputs: Any) -> Any:
        """The function of the inputs."""
        options = {name: getattr(self, name) for name in self._options.parameters}
        if self._switches:
            options["training"] = self.training
        return self._function(*inputs, **options)

    def extra_repr(self) -> str:  # noqa: D102
        text = self._shown.format(**self.__dict__)
        if self._shows_inplace and self.__dict__.get("inplace") and "inplace" not in self._shown:
            text += (", " if text else "") + "inplace=True"
        return text


def _layer(name: str, function: Callable, options: dict[str, Any], shown: str = "", **body: Any) -> None:
    """Makes a class of this module: a layer of a function of `functional`."""
    kinds = [
        inspect.Parameter(option, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
        for option, value in options.items()
    ]
    signature = inspect.Signature(kinds)
    body = {
        "_function": staticmethod(function),
        "_options": signature,
        "__signature__": signature,
        "_shown": shown,
        "__doc__": f"A layer of functional.{function.__name__}: {(function.__doc__ or '').splitlines()[0]}",
        "__module__": __name__,
        **body,
    }
    globals()[name] = type(name, (_Plain,), body)


# ---- activations ----

_INPLACE = {"inplace": False}
for _row in (
    ("ReLU", F.relu, _INPLACE),
    ("ReLU6", F.relu6, _INPLACE),
    ("LeakyReLU", F.leaky_relu, {"negative_slope": 0.01, **_INPLACE}, "negative_slope={negative_slope}"),
    ("ELU", F.elu, {"alpha": 1.0, **_INPLACE}, "alpha={alpha}"),
    ("SELU", F.selu, _INPLACE),
    ("CELU", F.celu, {"alpha": 1.0, **_INPLACE}, "alpha={alpha}"),
    ("GELU", F.gelu, {"approximate": "none"}, "approximate={approximate!r}"),
    ("SiLU", F.silu, _INPLACE),
    ("Mish", F.mish, _INPLACE),
    ("Hardtanh", F.hardtanh, {"min_val": -1.0, "max_val": 1.0, **_INPLACE}, "min_val={min_val}, max_val={max_val}"),
    ("Hardshrink", F.hardshrink, {"lambd": 0.5}, "{lambd}"),
    ("Softshrink", F.softshrink, {"lambd": 0.5}, "{lambd}"),
    ("Tanhshrink", F.tanhshrink, {}),
    ("Threshold", F.threshold, {"threshold": _GIVEN, "value": _GIVEN, **_INPLACE},
     "threshold={threshold}, value={value}"),
    ("Softplus", F.softplus, {"beta": 1.0, "threshold": 20.0}, "beta={beta}, threshold={threshold}"),
    ("Softsign", F.softsign, {}),
    ("Sigmoid", F.sigmoid, {}),
    ("LogSigmoid", F.logsigmoid, {}),
    ("Tanh", F.tanh, {}),
    ("GLU", F.glu, {"dim": -1}, "dim={dim}"),
    ("Softmax", F.softmax, {"dim": None}, "dim={dim}"),
    ("LogSoftmax", F.log_softmax, {"dim": None}, "dim={dim}"),
    ("Softmin", F.softmin, {"dim": None}, "dim={dim}"),
    ("CosineSimilarity", F.cosine_similarity, {"dim": 1, "eps": 1e-8}),
    ("PairwiseDistance", F.pairwise_distance, {"p": 2.0, "eps": 1e-6, "keepdim": False}),
):  # fmt: skip
    _layer(*_row)
_layer("RReLU", F.rrelu, {"lower": 1 / 8, "upper": 1 / 3, **_INPLACE}, "lower={lower}, upper={upper}", _switches=True)
for _name in ("Hardswish", "Hardsigmoid"):
    _layer(_name, getattr(F, _name.lower()), _INPLACE, _shows_inplace=False)


class PReLU(Module):
    """x above 0, else weight * x, with a parameter for all or for each channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(placed(full_of, device)((num_parameters,), init, dtype or get_default_dtype()))

    def forward(self, input: Any) -> Any:
        """prelu of the input."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:  # noqa: D102
        return f"num_parameters={self.num_parameters}"


# ---- shapes, dropout, pooling ----


def _flatten(input: Any, start_dim: int, end_dim: int) -> Any:
    """Dimensions from one to another as one."""
    return input.flatten(start_dim, end_dim)


def _unflatten(input: Any, dim: Any, unflattened_size: Any) -> Any:
    """One dimension as several."""
    return input.unflatten(dim, unflattened_size)


_layer("Flatten", _flatten, {"start_dim": 1, "end_dim": -1}, "start_dim={start_dim}, end_dim={end_dim}")


def _check_unflattened(self: Any) -> None:
    if not isinstance(self.unflattened_size, (tuple, list)):
        raise TypeError(f"Unflatten: unflattened_size is a tuple, not {type(self.unflattened_size).__name__}")


_layer("Unflatten", _unflatten, {"dim": _GIVEN, "unflattened_size": _GIVEN},
       "dim={dim}, unflattened_size={unflattened_size}", _finish=_check_unflattened)  # fmt: skip


def _check_probability(self: Any) -> None:
    if not 0 <= self.p <= 1:
        raise ValueError(f"{type(self).__name__}: p is from 0 to 1, got {self.p}")


_dropouts = {f"Dropout{_which}": getattr(F, f"dropout{_which}") for _which in ("", "1d", "2d", "3d")}
_dropouts.update(AlphaDropout=F.alpha_dropout, FeatureAlphaDropout=F.feature_alpha_dropout)
for _name, _function in _dropouts.items():
    _body = {"_switches": True, "_finish": _check_probability}
    _layer(_name, _function, {"p": 0.5, **_INPLACE}, "p={p}, inplace={inplace}", **_body)


def _finish_pool(self: Any) -> None:
    if self.stride is None:
        self.stride = self.kernel_size


def _finish_row(self: Any) -> None:
    """AvgPool1d keeps tuples."""
    _finish_pool(self)
    for name in ("kernel_size", "stride", "padding"):
        setattr(self, name, sizes_of(getattr(self, name), 1))


def _finish_padding(self: Any) -> None:
    if isinstance(self.padding, int):
        self.padding = (self.padding,) * (2 * self._dims)
    self.padding = tuple(self.padding)


def _padding_layer(name: str, dims: int, mode: str, options: dict[str, Any], shown: str) -> None:
    def pad(input: Any, padding: Any, value: Any = None) -> Any:
        return F.pad(input, padding, mode, value)

    pad.__name__, pad.__doc__ = "pad", f"A rim, {mode}, around {dims} spatial dimensions."
    _layer(f"{name}{dims}d", pad, {"padding": _GIVEN, **options}, shown, _finish=_finish_padding, _dims=dims)


for _dims in (1, 2, 3):
    for _name, _mode in (("Reflection", "reflect"), ("Replication", "replicate"), ("Circular", "circular")):
        _padding_layer(_name + "Pad", _dims, _mode, {}, "{padding}")
    _padding_layer("ConstantPad", _dims, "constant", {"value": _GIVEN}, "padding={padding}, value={value}")
    _padding_layer("ZeroPad", _dims, "constant", {}, "{padding}")


def _softmax2d(input: Any) -> Any:
    """softmax over the channels of images."""
    if input.ndim not in (3, 4):
        raise ValueError(f"Softmax2d: 3 dimensions, or 4 with a batch, got {input.ndim}")
    return F.softmax(input, -3)


_layer("Softmax2d", _softmax2d, {})
_layer("PixelShuffle", F.pixel_shuffle, {"upscale_factor": _GIVEN}, "upscale_factor={upscale_factor}")
_layer("PixelUnshuffle", F.pixel_unshuffle, {"downscale_factor": _GIVEN}, "downscale_factor={downscale_factor}")
_layer("ChannelShuffle", F.channel_shuffle, {"groups": _GIVEN}, "groups={groups}")


def _across(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> Any:
    """Divided by (k + alpha / size times the squares of neighbouring channels)^beta; the first stays among them."""
    near, squares = int((size - 1) / 2 + 1), input.square()
    rows = F.pad(squares, (0, 0, 0, 0, near - 1, near - 1))
    total = sum(rows.narrow(1, place, input.shape[1]) for place in range(2 * near - 1))
    first = F.pad(squares[:, :1].expand(-1, max(input.shape[1] - near, 0), -1, -1), (0, 0, 0, 0, near, 0))
    return input * (k + alpha / size * (total + first[:, : input.shape[1]])).pow(-beta)


_layer("CrossMapLRN2d", _across, {"size": _GIVEN, "alpha": 1e-4, "beta": 0.75, "k": 1},
       "{size}, alpha={alpha}, beta={beta}, k={k}")  # fmt: skip
for _dims in (2, 3):
    _layer(f"FractionalMaxPool{_dims}d", getattr(F, f"fractional_max_pool{_dims}d"), {
        "kernel_size": _GIVEN, "output_size": None, "output_ratio": None, "return_indices": False,
        "_random_samples": None})  # fmt: skip
_layer("LocalResponseNorm", F.local_response_norm, {"size": _GIVEN, "alpha": 1e-4, "beta": 0.75, "k": 1.0},
       "{size}, alpha={alpha}, beta={beta}, k={k}")  # fmt: skip
_COLUMNS = {"kernel_size": _GIVEN, "dilation": 1, "padding": 0, "stride": 1}
_SHOWN = ", ".join(f"{_name}={{{_name}}}" for _name in _COLUMNS)
_layer("Unfold", F.unfold, _COLUMNS, _SHOWN)
_layer("Fold", F.fold, {"output_size": _GIVEN, **_COLUMNS}, "output_size={output_size}, " + _SHOWN)


class Upsample(_Plain):
    """A layer of functional.interpolate."""

    _function = staticmethod(F.interpolate)
    _options = inspect.signature(
        lambda size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None: None
    )

    def _finish(self) -> None:
        scale = self.scale_factor
        self.scale_factor = tuple(map(float, scale)) if isinstance(scale, tuple) else scale and float(scale)

    def extra_repr(self) -> str:  # noqa: D102
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """A layer of functional.interpolate, nearest."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """A layer of functional.interpolate, bilinear, of which corner pixels coincide."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


def _finish_unpool(self: Any) -> None:
    _finish_pool(self)
    for name in ("kernel_size", "stride", "padding"):
        setattr(self, name, sizes_of(getattr(self, name), self._dims))


def _unpool_forward(self: Any, input: Any, indices: Any, output_size: Any = None) -> Any:
    """Elements at the places that max_pool found, among zeros."""
    return self._function(input, indices, self.kernel_size, self.stride, self.padding, output_size)


_WINDOW = {"kernel_size": _GIVEN, "stride": None, "padding": 0}
_MEAN = {"ceil_mode": False, "count_include_pad": True}
_SHOWN = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
for _dims in (1, 2, 3):
    _layer(f"MaxPool{_dims}d", getattr(F, f"max_pool{_dims}d"),
           {**_WINDOW, "dilation": 1, "return_indices": False, "ceil_mode": False},
           _SHOWN + ", dilation={dilation}, ceil_mode={ceil_mode}", _finish=_finish_pool)  # fmt: skip
    _layer(
        f"LPPool{_dims}d",
        getattr(F, f"lp_pool{_dims}d"),
        {"norm_type": _GIVEN, "kernel_size": _GIVEN, "stride": None, "ceil_mode": False},
        "norm_type={norm_type}, kernel_size={kernel_size}, stride={stride}, ceil_mode={ceil_mode}",
    )
    _layer(f"MaxUnpool{_dims}d", getattr(F, f"max_unpool{_dims}d"), _WINDOW, _SHOWN, _finish=_finish_unpool,
           _dims=_dims, forward=_unpool_forward)  # fmt: skip
    _layer(f"AvgPool{_dims}d", getattr(F, f"avg_pool{_dims}d"),
           {**_WINDOW, **_MEAN} if _dims == 1 else {**_WINDOW, **_MEAN, "divisor_override": None},
           _SHOWN, _finish=_finish_row if _dims == 1 else _finish_pool)  # fmt: skip
    _layer(f"AdaptiveAvgPool{_dims}d", getattr(F, f"adaptive_avg_pool{_dims}d"), {"output_size": _GIVEN},
           "output_size={output_size}")  # fmt: skip
    _layer(f"AdaptiveMaxPool{_dims}d", getattr(F, f"adaptive_max_pool{_dims}d"),
           {"output_size": _GIVEN, "return_indices": False}, "output_size={output_size}")  # fmt: skip


# ---- losses ----


class _Loss(Module):
    """The base of losses that programs define."""

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = old_reduction(size_average, reduce, reduction)


def _finish_loss(self: Any) -> None:
    """Options that are not as given."""
    if self.__dict__.get("distance_function", self) is None:
        self.distance_function = globals()["PairwiseDistance"]()
    old = self.__dict__.pop("size_average", None), self.__dict__.pop("reduce", None)
    self.reduction = old_reduction(*old, self.reduction)


def _loss_forward(self: Any, *inputs: Any) -> Any:
    """The loss of the input and the target."""
    return self._function(*inputs, **{name: getattr(self, name) for name in self._taken})


_OLD = {"size_average": None, "reduce": None, "reduction": "mean"}
_WEIGHT = {"weight": None, "size_average": None}
_INDEX = {**_WEIGHT, "ignore_index": -100, "reduce": None, "reduction": "mean"}
for _name, _function, _options in (
    ("MSELoss", F.mse_loss, _OLD),
    ("L1Loss", F.l1_loss, _OLD),
    ("SmoothL1Loss", F.smooth_l1_loss, {**_OLD, "beta": 1.0}),
    ("HuberLoss", F.huber_loss, {"reduction": "mean", "delta": 1.0}),
    ("NLLLoss", F.nll_loss, _INDEX),
    ("CrossEntropyLoss", F.cross_entropy, {**_INDEX, "label_smoothing": 0.0}),
    ("BCELoss", F.binary_cross_entropy, {"weight": None, **_OLD}),
    ("BCEWithLogitsLoss", F.binary_cross_entropy_with_logits, {"weight": None, **_OLD, "pos_weight": None}),
    ("KLDivLoss", F.kl_div, {**_OLD, "log_target": False}),
    ("MarginRankingLoss", F.margin_ranking_loss, {"margin": 0.0, **_OLD}),
    ("HingeEmbeddingLoss", F.hinge_embedding_loss, {"margin": 1.0, **_OLD}),
    ("CosineEmbeddingLoss", F.cosine_embedding_loss, {"margin": 0.0, **_OLD}),
    ("TripletMarginLoss", F.triplet_margin_loss, {"margin": 1.0, "p": 2.0, "eps": 1e-6, "swap": False, **_OLD}),
    ("TripletMarginWithDistanceLoss", F.triplet_margin_with_distance_loss,
     {"distance_function": None, "margin": 1.0, "swap": False, "reduction": "mean"}),
    ("MultiMarginLoss", F.multi_margin_loss, {"p": 1, "margin": 1.0, "weight": None, **_OLD}),
    ("MultiLabelMarginLoss", F.multilabel_margin_loss, _OLD),
    ("MultiLabelSoftMarginLoss", F.multilabel_soft_margin_loss, {"weight": None, **_OLD}),
    ("SoftMarginLoss", F.soft_margin_loss, _OLD),
    ("PoissonNLLLoss", F.poisson_nll_loss,
     {"log_input": True, "full": False, "size_average": None, "eps": 1e-8, "reduce": None, "reduction": "mean"}),
    ("GaussianNLLLoss", F.gaussian_nll_loss, {"full": False, "eps": 1e-6, "reduction": "mean"}),
    ("CTCLoss", F.ctc_loss, {"blank": 0, "reduction": "mean", "zero_infinity": False}),
):  # fmt: skip
    _taken = [option for option in _options if option not in ("size_average", "reduce")]
    _layer(_name, _function, _options, _finish=_finish_loss, _taken=_taken, forward=_loss_forward)
