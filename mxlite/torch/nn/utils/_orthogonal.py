"""Weights with orthogonal rows or columns."""

from __future__ import annotations

from typing import Any

from mxlite.torch._make.creation import eye
from mxlite.torch._make.random import normal_of
from mxlite.torch._math.factors import householder_product, matrix_exp, qr
from mxlite.torch._math.linalg import solve
from mxlite.torch._math.lowrank import geqrf
from mxlite.torch._nodes import unrecorded
from mxlite.torch._shape.parts import cat
from mxlite.torch._tensor import Tensor, zeros_of
from mxlite.torch.nn._module import Module
from mxlite.torch.nn.utils.parametrize import register_parametrization

MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """A matrix with orthogonal columns, or rows where they are fewer, of any matrix of its shape."""

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:  # noqa: N803 - PyTorch's name
        wide = X.shape[-2] < X.shape[-1]
        x = X.mT if wide else X
        n, k = x.shape[-2:]
        if self.orthogonal_map == "householder":
            a = x.tril(-1)
            q = householder_product(a, 2 / (1 + (a * a).sum(-2)))
            q = q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            x = x.tril()
            x = x if n == k else cat([x, zeros_of((*x.shape[:-1], n - k), x.dtype)], -1)
            a, one = x - x.mT, eye(n, dtype=x.dtype)
            q = matrix_exp(a) if self.orthogonal_map == "matrix_exp" else solve(one - a / 2, one + a / 2)
            q = q[..., :k]
        if self._buffers.get("base") is not None:
            q = self.base @ q
        return q.mT if wide else q

    def right_inverse(self, Q: Any) -> Any:  # noqa: N803 - PyTorch's name
        if Q.shape[-2] < Q.shape[-1]:
            return self.right_inverse(Q.mT).mT
        n, k = Q.shape[-2:]
        if "base" not in self._buffers:
            if self.orthogonal_map != "householder":
                return Q
            with unrecorded():
                a, tau = geqrf(Q.detach())
                turned = 1 - 2 * (tau == 0).to(a.dtype)  # the map reflects there, too
                return a.tril(-1) + a.triu(1) + _signs(a, n, k) * turned.unsqueeze(-2)
        with unrecorded():
            q = Q.detach() * 1
            a, tau = geqrf(q)
            q = householder_product(a, tau) * _signs(a, n, k).sum(-2, True)
            if n > k:
                more = qr(cat([q, normal_of((*q.shape[:-1], n - k), q.dtype)], -1))[0]
                q = cat([q, more[..., k:]], -1)
            self.base = q
        return -eye(n, k, dtype=Q.dtype).expand(Q.shape)


def _signs(a: Tensor, n: int, k: int) -> Tensor:
    """The signs of the diagonal, 1 for 0, on the diagonal of zeros."""
    diagonal = a.diagonal(dim1=-2, dim2=-1)
    signs = 1 - 2 * (diagonal < 0).to(a.dtype)
    return eye(n, k, dtype=a.dtype) * signs.unsqueeze(-2)


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:  # fmt: skip
    """Has a weight of orthogonal columns (rows, where they are fewer); returns the module.

    Args:
        orthogonal_map: "matrix_exp" or "cayley" of a skew matrix, or "householder" reflections; None: the first for
            square weights, else the last.
        use_trivialization: Whether the weight is a fixed matrix times the map, and begins near its own value.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"orthogonal: {type(module).__name__} has no tensor {name!r}")
    if weight.ndim < 2:
        raise ValueError(f"orthogonal: a weight is a matrix or more, got shape {list(weight.shape)}")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.shape[-2] == weight.shape[-1] else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(f"orthogonal: orthogonal_map is one of {', '.join(MAPS)}, got {orthogonal_map!r}")
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
