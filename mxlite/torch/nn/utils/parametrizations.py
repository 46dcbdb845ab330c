"""`torch.nn.utils.parametrizations`: weights by direction and length, of spectral norm 1, or orthogonal.

nn.utils has both in their older form, too, where the weight is computed anew before each forward.
"""

from __future__ import annotations

from typing import Any

from mxlite._public import show as _show
from mxlite.torch._make.random import normal_of as _normal_of
from mxlite.torch._math.norms import vector_norm as _vector_norm
from mxlite.torch._nodes import unrecorded as _unrecorded
from mxlite.torch._tensor import Tensor
from mxlite.torch.nn import functional as _F  # noqa: N812 - as PyTorch's users call it
from mxlite.torch.nn._module import Module as _Module
from mxlite.torch.nn.parameter import Parameter as _Parameter
from mxlite.torch.nn.utils._orthogonal import orthogonal as orthogonal
from mxlite.torch.nn.utils.parametrize import register_parametrization as _register

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _lengths(v: Tensor, dim: int | None) -> Tensor:
    """The norms of the parts of a tensor along a dimension; None, -1: of all of it."""
    if dim is None or dim == -1:
        return _vector_norm(v, 2)
    return _vector_norm(v, 2, tuple(each for each in range(v.ndim) if each != dim % v.ndim), True)


class _WeightNorm(_Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return weight_v * (weight_g / _lengths(weight_v, self.dim))

    def right_inverse(self, weight: Any) -> Any:
        return _lengths(weight, self.dim), weight


def weight_norm(module: _Module, name: str = "weight", dim: int | None = 0) -> _Module:
    """Has a weight computed as original1 (a direction) times original0 over its norm; returns the module.

    Args:
        dim: The dimension whose parts have a norm each; None: all have one.
    """
    return _register(module, name, _WeightNorm(dim), unsafe=True)


class _Power:
    """Estimates the largest singular value of a weight, as a matrix, by steps that go on from call to call."""

    n_power_iterations: int
    eps: float
    dim: int

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1) if weight.ndim > 1 else weight.reshape(1, -1)

    def _normal(self, x: Tensor) -> Tensor:
        return _F.normalize(x, dim=0, eps=self.eps)

    def _iterate(self, matrix: Tensor, u: Tensor, v: Tensor, count: int) -> None:
        with _unrecorded():
            for _ in range(count):
                u.copy_(self._normal(matrix.detach() @ v))
                v.copy_(self._normal(matrix.detach().t() @ u))

    def _first(self, matrix: Tensor) -> list[Tensor]:
        return [self._normal(_normal_of((size,), matrix.dtype)) for size in matrix.shape]


class _SpectralNorm(_Module, _Power):
    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if n_power_iterations <= 0:
            raise ValueError(f"spectral_norm: n_power_iterations is 1 or more, got {n_power_iterations}")
        self.dim, self.eps, self.n_power_iterations = dim % weight.ndim, eps, n_power_iterations
        if weight.ndim > 1:
            matrix = self._matrix(weight.detach())
            u, v = self._first(matrix)
            self._iterate(matrix, u, v, 15)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return _F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self._u, self._v, self.n_power_iterations)
        return weight / self._u.clone().dot(matrix @ self._v.clone())

    def right_inverse(self, value: Any) -> Any:
        return value


def _usual_dim(module: _Module, dim: int | None) -> int:
    """The dimension of a weight's outputs."""
    return dim if dim is not None else int(type(module).__name__.startswith("ConvTranspose"))


def spectral_norm(
    module: _Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> _Module:
    """Has a weight divided by its largest singular value, which steps of power iteration estimate."""
    weight = getattr(module, name)
    return _register(module, name, _SpectralNorm(weight, n_power_iterations, _usual_dim(module, dim), eps))


class Older:
    """A forward pre-hook that computes a weight; the base of those of nn.utils."""

    name: str

    def compute(self, module: _Module) -> Any:
        """The weight."""
        raise NotImplementedError

    def apply(self, module: _Module, originals: dict[str, Tensor], suffixes: dict[str, Tensor]) -> None:
        """Puts the hook in, with parameters and buffers in place of the weight."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook[0], type(self)) and hook[0].name == self.name:
                raise RuntimeError(f"{type(self).__name__}: {self.name!r} has one already")
        del module._parameters[self.name]
        for suffix, each in originals.items():
            module.register_parameter(self.name + suffix, each if isinstance(each, _Parameter) else _Parameter(each))
        setattr(module, self.name, self.compute(module))
        for suffix, each in suffixes.items():
            module.register_buffer(self.name + suffix, each)
        module.register_forward_pre_hook(self)

    def __call__(self, module: _Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module))

    @classmethod
    def remove(cls, module: _Module, name: str, suffixes: tuple[str, ...]) -> _Module:
        """Makes the weight a parameter again, as it is. Raises: ValueError: it is not computed."""
        for key, (hook, _) in module._forward_pre_hooks.items():
            if isinstance(hook, cls) and hook.name == name:
                with _unrecorded():
                    weight = hook.compute(module)
                for suffix in suffixes:
                    delattr(module, name + suffix)
                module.__dict__.pop(name, None)
                module.register_parameter(name, _Parameter(weight.detach()))
                del module._forward_pre_hooks[key]
                return module
        raise ValueError(f"{cls.__name__}: {name!r} of {type(module).__name__} is not computed")


class WeightNorm(Older):
    """nn.utils.weight_norm: of weight_g and weight_v."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, dim

    def compute(self, module: _Module) -> Any:  # noqa: D102
        g, v = (getattr(module, self.name + suffix) for suffix in ("_g", "_v"))
        return v * (g / _lengths(v, self.dim))


class SpectralNorm(Older, _Power):
    """nn.utils.spectral_norm: of weight_orig, weight_u and weight_v."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def compute(self, module: _Module) -> Any:  # noqa: D102
        weight = getattr(module, self.name + "_orig")
        if self.name + "_u" not in module._buffers:
            return weight.detach()
        matrix = self._matrix(weight)
        u, v = (getattr(module, self.name + suffix) for suffix in ("_u", "_v"))
        if module.training:
            with _unrecorded():
                for _ in range(self.n_power_iterations):
                    v.copy_(self._normal(matrix.detach().t() @ u))
                    u.copy_(self._normal(matrix.detach() @ v))
        return weight / u.clone().dot(matrix @ v.clone())


_show(globals())
