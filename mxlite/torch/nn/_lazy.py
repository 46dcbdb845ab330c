"""Layers that take the number of their inputs from the first input: LazyLinear, LazyConv2d, LazyBatchNorm1d, ..."""

from __future__ import annotations

from typing import Any

from mxlite.torch._tensor import Tensor
from mxlite.torch.nn import _linear, _norms
from mxlite.torch.nn.parameter import Parameter, UninitializedParameter


class _Lazy:
    """The base of lazy layers: the first forward makes the parameters, and the object an instance of `_becomes`."""

    _becomes: type
    _axis = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if issubclass(self._becomes, _norms._OfChannels) and len(args) < 4:
            kwargs.setdefault("track_running_stats", True)
            kwargs.update({} if len(args) > 2 else {"affine": kwargs.get("affine", True)})
        self._becomes.__init__(self, 0, *args, **kwargs)  # type: ignore[misc]
        self.__dict__["_given"] = args, kwargs
        for name, each in self._parameters.items():
            if each is not None:
                self._parameters[name] = UninitializedParameter(each.detach())

    def has_uninitialized_params(self) -> bool:
        """True."""
        return True

    def initialize_parameters(self, input: Tensor, *_: Any) -> None:
        """Makes the parameters by an input, and the layer one of the usual class."""
        dims = getattr(self, "_ndims", None) or (getattr(self, "_dims", 0) + 1, getattr(self, "_dims", 0) + 2)
        if self._axis == 1 and input.ndim not in dims:
            raise (
                RuntimeError
                if "Conv" in type(self).__name__
                else ValueError(
                    f"{type(self).__name__}: the input has {' or '.join(map(str, dims))} dimensions, got {input.ndim}"
                )
            )
        first = input.ndim - max(dims) + 1 if self._axis == 1 and "BatchNorm" not in type(self).__name__ else self._axis
        args, kwargs = self.__dict__.pop("_given")
        fresh = self._becomes(input.shape[first], *args, **kwargs)
        for name, own in self._parameters.items():
            if own is not None:
                own.__class__ = Parameter
                own.data = fresh._parameters[name].detach().to(own._dtype)
        for name, each in fresh._buffers.items():
            if each is not None:
                self._buffers[name] = each.to(self._buffers[name]._dtype)
        for name in ("in_features", "in_channels", "num_features"):
            if name in fresh.__dict__:
                setattr(self, name, getattr(fresh, name))
        self.__class__ = self._becomes

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.initialize_parameters(*args)
        return self(*args, **kwargs)


def _lazy(cls: type, axis: int = 1) -> None:
    name = f"Lazy{cls.__name__}"
    body = {"_becomes": cls, "_axis": axis, "__module__": __name__}
    body["__doc__"] = f"{cls.__name__}, whose number of inputs is that of the first input."
    globals()[name] = type(name, (_Lazy, cls), body)


_lazy(_linear.Linear, -1)
for _dims in (1, 2, 3):
    for _module, _name in (
        (_linear, "Conv"),
        (_linear, "ConvTranspose"),
        (_norms, "BatchNorm"),
        (_norms, "InstanceNorm"),
    ):
        _lazy(getattr(_module, f"{_name}{_dims}d"))
