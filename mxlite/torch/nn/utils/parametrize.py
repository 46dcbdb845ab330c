"""`torch.nn.utils.parametrize`: parameters that are computed of others by modules."""

from __future__ import annotations

from collections.abc import Iterator as _Iterator
from contextlib import contextmanager as _contextmanager
from typing import Any

from mxlite._public import show as _show
from mxlite.torch._nodes import unrecorded as _unrecorded
from mxlite.torch._tensor import Tensor
from mxlite.torch.nn._containers import ModuleDict, ModuleList
from mxlite.torch.nn._module import Module
from mxlite.torch.nn.parameter import Parameter

__all__ = ["ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
           "type_before_parametrizations"]  # fmt: skip

_cache: dict[tuple[int, str], Any] | None = None


@_contextmanager
def cached() -> _Iterator[None]:
    """A with-block in which each parametrized tensor is computed once."""
    global _cache  # noqa: PLW0603
    before, _cache = _cache, {} if _cache is None else _cache
    try:
        yield
    finally:
        _cache = before


class ParametrizationList(ModuleList):
    """The modules that compute a tensor of `original` (or of `original0`, `original1`, ...), one after another."""

    def __init__(self, modules: Any, original: Tensor, unsafe: bool = False) -> None:
        super().__init__(modules)
        self.unsafe = unsafe
        value: Any = original
        with _unrecorded():
            for module in reversed(list(self)):
                value = module.right_inverse(value) if hasattr(module, "right_inverse") else value
        self.is_tensor = isinstance(value, Tensor)
        self.ntensors = 1 if self.is_tensor else len(value)
        for name, each in zip(self._names(), [value] if self.is_tensor else value):
            if isinstance(original, Parameter):
                kept = original if each is original else Parameter(each.detach(), original.requires_grad)
                self.register_parameter(name, kept)
            else:
                self.register_buffer(name, each)

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{place}" for place in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Makes the originals what gives a value."""
        with _unrecorded():
            new: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrize: {type(module).__name__} has no right_inverse to assign by")
                new = module.right_inverse(new)
            for name, each in zip(self._names(), [new] if self.is_tensor else new):
                getattr(self, name).copy_(each)

    def forward(self) -> Any:
        """The tensor."""
        value: tuple[Any, ...] = tuple(getattr(self, name) for name in self._names())
        for module in self:
            value = (module(*value),)
        return value[0]


def _property(name: str) -> property:
    def get(self: Module) -> Any:
        if _cache is None:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    return property(get, lambda self, value: self.parametrizations[name].right_inverse(value))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:  # fmt: skip
    """Has a parameter or buffer computed by a module, after those that compute it already; returns its owner.

    Args:
        unsafe: Whether shape and dtype may change.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        held = module.parametrizations[tensor_name]
        with _unrecorded():
            if hasattr(parametrization, "right_inverse"):
                value, held_modules = getattr(module, tensor_name), list(held)
                new = parametrization.right_inverse(value)
                if held_modules:
                    held.right_inverse(new)
        held.append(parametrization)
        return module
    own = module._parameters if tensor_name in module._parameters else module._buffers
    if tensor_name not in own:
        raise ValueError(f"register_parametrization: {type(module).__name__} has no tensor {tensor_name!r}")
    original = own[tensor_name]
    made = ParametrizationList([parametrization], original, unsafe)
    with _unrecorded():
        found = made()
    if not unsafe and (not isinstance(found, Tensor) or found.shape != original.shape or found.dtype != original.dtype):
        raise ValueError("register_parametrization: shape and dtype stay (unsafe=True allows others), got "
                         f"{getattr(found, 'shape', type(found))} of {original.shape}")  # fmt: skip
    del own[tensor_name]
    if not is_parametrized(module):
        cls = type(module)
        body = {"__module__": cls.__module__, "_before": cls, "__doc__": cls.__doc__}
        module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), body)
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = made
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has a tensor that is computed; `tensor_name`: this one."""
    held = module.__dict__.get("_modules", {}).get("parametrizations")
    return bool(held is not None and (len(held) if tensor_name is None else tensor_name in held))


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Makes a tensor a parameter again: with the value that it has, or (leave_parametrized=False) the original's."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"remove_parametrizations: {type(module).__name__} computes no {tensor_name!r}")
    held = module.parametrizations[tensor_name]
    if not leave_parametrized and not held.is_tensor:
        raise ValueError("remove_parametrizations: several originals are no one parameter")
    with _unrecorded():
        value, original = held().detach(), getattr(held, held._names()[0])
        if held.is_tensor and leave_parametrized:
            original.data = value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if not held.is_tensor:
        original = Parameter(value) if isinstance(original, Parameter) else value
    if isinstance(original, Parameter):
        module.register_parameter(tensor_name, original)
    else:
        module.register_buffer(tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module)._before
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had."""
    return type(module)._before if is_parametrized(module) else type(module)


_show(globals())
