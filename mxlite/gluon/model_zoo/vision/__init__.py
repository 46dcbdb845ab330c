"""`mx.gluon.model_zoo.vision`: networks that classify images."""

from __future__ import annotations

from typing import Any

from mxlite._public import show
from mxlite.gluon.block import HybridBlock
from mxlite.gluon.model_zoo.vision import alexnet as _alexnet
from mxlite.gluon.model_zoo.vision import resnet, vgg

_FAMILIES = (_alexnet, resnet, vgg)
#: Models of 1.9.1 that are not written yet.
_MISSING = {
    *(f"densenet{depth}" for depth in (121, 161, 169, 201)),
    *(f"mobilenet{version}{width}" for version in ("", "v2_") for width in ("1.0", "0.75", "0.5", "0.25")),
    *("inceptionv3", "squeezenet1.0", "squeezenet1.1"),
}

__all__ = ["get_model", "resnet", "vgg"]
for _family in _FAMILIES:
    __all__ += _family.__all__
    globals().update({name: getattr(_family, name) for name in _family.__all__})

_MODELS = {name: globals()[name] for name in __all__ if name[0].islower() and name[-1] in "123456789nt"}
_MODELS = {name: make for name, make in _MODELS.items() if not name.startswith("get_") and name != "resnet"}


def get_model(name: str, **kwargs: Any) -> HybridBlock:
    """A network by its name, in any case; further arguments go to its function.

    Raises: ValueError: there is no such network; NotImplementedError: mxlite does not have it yet.
    """
    name = name.lower()
    if name in _MISSING:
        raise NotImplementedError(f"mxlite has no model {name} yet; it has {', '.join(sorted(_MODELS))}")
    if name not in _MODELS:
        options = "\n\t".join(sorted(_MODELS))
        raise ValueError(f"Model {name} is not supported. Available options are\n\t{options}")
    return _MODELS[name](**kwargs)


show(globals())
