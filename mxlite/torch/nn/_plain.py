"""Layers that are a function and its options, made from a table: activations, dropout, pooling, losses."""

from __future__ import annotations

import inspect
from typing import Any, Callable

from mxlite.torch._basic import full_of
from mxlite.torch._dtypes import get_default_dtype
from mxlite.torch.nn import functional as F  # noqa: N812 - as PyTorch's users call it
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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
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
for _name in ("Hardswish", "Hardsigmoid"):
    _layer(_name, getattr(F, _name.lower()), _INPLACE, _shows_inplace=False)


class PReLU(Module):
    """x above 0, else weight * x, with a parameter for all or for each channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(full_of((num_parameters,), init, dtype or get_default_dtype()))

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


for _which in ("", "1d", "2d", "3d"):
    _function = getattr(F, f"dropout{_which}")
    _body = {"_switches": True, "_finish": _check_probability}
    _layer(f"Dropout{_which}", _function, {"p": 0.5, **_INPLACE}, "p={p}, inplace={inplace}", **_body)


def _finish_pool(self: Any) -> None:
    if self.stride is None:
        self.stride = self.kernel_size


def _finish_row(self: Any) -> None:
    """AvgPool1d keeps tuples."""
    _finish_pool(self)
    for name in ("kernel_size", "stride", "padding"):
        setattr(self, name, sizes_of(getattr(self, name), 1))


_WINDOW = {"kernel_size": _GIVEN, "stride": None, "padding": 0}
_MEAN = {"ceil_mode": False, "count_include_pad": True}
_SHOWN = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
for _dims in (1, 2, 3):
    _layer(f"MaxPool{_dims}d", getattr(F, f"max_pool{_dims}d"),
           {**_WINDOW, "dilation": 1, "return_indices": False, "ceil_mode": False},
           _SHOWN + ", dilation={dilation}, ceil_mode={ceil_mode}", _finish=_finish_pool)  # fmt: skip
    _layer(f"AvgPool{_dims}d", getattr(F, f"avg_pool{_dims}d"),
           {**_WINDOW, **_MEAN} if _dims == 1 else {**_WINDOW, **_MEAN, "divisor_override": None},
           _SHOWN, _finish=_finish_row if _dims == 1 else _finish_pool)  # fmt: skip
    _layer(f"AdaptiveAvgPool{_dims}d", getattr(F, f"adaptive_avg_pool{_dims}d"), {"output_size": _GIVEN},
           "output_size={output_size}")  # fmt: skip
    _layer(f"AdaptiveMaxPool{_dims}d", getattr(F, f"adaptive_max_pool{_dims}d"),
           {"output_size": _GIVEN, "return_indices": False}, "output_size={output_size}")  # fmt: skip


# ---- losses ----


def _finish_loss(self: Any) -> None:
    """size_average and reduce are what `reduction` was once."""
    old = self.__dict__.pop("size_average", None), self.__dict__.pop("reduce", None)
    if old != (None, None):
        raise NotImplementedError(f"mxlite.torch: {type(self).__name__} has reduction, not size_average and reduce")


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
):
    _taken = [option for option in _options if option not in ("size_average", "reduce")]
    _layer(_name, _function, _options, _finish=_finish_loss, _taken=_taken, forward=_loss_forward)
