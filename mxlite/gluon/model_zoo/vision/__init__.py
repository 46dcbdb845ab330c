"""`mx.gluon.model_zoo.vision`: networks that classify images."""

from __future__ import annotations

from typing import Any

from mxlite._public import show
from mxlite._public.near import did_you_mean
from mxlite.gluon.model_zoo.model_store import _model_sha1
from mxlite.gluon.model_zoo.vision import alexnet as _alexnet
from mxlite.gluon.model_zoo.vision import densenet, inception, mobilenet, resnet, squeezenet, vgg
from mxlite.gluon.model_zoo.vision._common import Classifier

_FAMILIES = (_alexnet, densenet, inception, mobilenet, resnet, squeezenet, vgg)
#: Classes and functions of the families that 1.9.1 keeps in their modules.
_INNER = {"LinearBottleneck", "RELU6", "get_squeezenet"}

__all__ = ["densenet", "get_model", "inception", "mobilenet", "resnet", "squeezenet", "vgg"]
for _family in _FAMILIES:
    _names = [name for name in _family.__all__ if name not in _INNER]
    __all__ += _names
    globals().update({name: getattr(_family, name) for name in _names})


def _function(model: str) -> Any:
    """The function of a model: mobilenet_v2_0_5 of "mobilenetv2_0.5"."""
    name = model.replace(".", "_").replace("mobilenetv2", "mobilenet_v2").replace("inceptionv3", "inception_v3")
    return globals()[name]


_MODELS = {model: _function(model) for model in _model_sha1}


def get_model(name: str, **kwargs: Any) -> Classifier:
    """A network by its name, in any case; further arguments go to its function.

    Raises: ValueError: there is no such network.
    """
    name = name.lower()
    if name not in _MODELS:
        options = "\n\t".join(sorted(_MODELS))
        raise ValueError(f"there is no model {name}{did_you_mean(name, _MODELS) or ';'} There are:\n\t{options}")
    return _MODELS[name](**kwargs)


show(globals())
