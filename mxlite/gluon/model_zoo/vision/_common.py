"""What the families of networks share: a body of features with an output, trained parameters, named variants."""

from __future__ import annotations

from typing import Any, Callable

from mxlite.context import Context, cpu
from mxlite.gluon.block import HybridBlock
from mxlite.gluon.model_zoo.model_store import _FOLDER, get_model_file
from mxlite.ndarray.ndarray import NDArray

CPU = cpu()
FOLDER = _FOLDER


class Classifier(HybridBlock):
    """A network of `features` and an `output` on them."""

    def hybrid_forward(self, F: Any, x: NDArray) -> NDArray:  # noqa: N803
        """The scores of the classes."""
        return self.output(self.features(x))


def trained(net: HybridBlock, name: str, pretrained: bool, ctx: Context | list[Context], root: str) -> Any:
    """The network, with the parameters of a model's file if wanted."""
    if pretrained:
        net.load_parameters(get_model_file(name, root=root), ctx=ctx)
    return net


def variant(module: str, name: str, build: Callable[..., Any], *args: Any, **fixed: Any) -> Callable[..., Any]:
    """A function with a name of its own that builds one member of a family."""

    def make(**kwargs: Any) -> Classifier:
        return build(*args, **fixed, **kwargs)

    make.__name__ = make.__qualname__ = name
    make.__module__ = module
    make.__doc__ = f"The network {name}; further arguments as `{build.__name__}` takes them."
    return make
