"""What PyTorch's Tensor has and ours has not: asked for, it says so.

Each name is a descriptor in the class. A `__getattr__` would find other names, too, but Python takes a longer way to
every attribute of a class that has one, and a call of a method of a small tensor would take 1.5 times as long. For a
mistyped name Python itself says what was meant.
"""

from __future__ import annotations

from collections.abc import Iterable
from inspect import getattr_static
from typing import Any, NoReturn

from mxlite._public import missing

#: The public names of PyTorch 2.13's Tensor that ours lacks; test_torch_style.py compares them with PyTorch.
NAMES = frozenset(
    """
    ccol_indices cdouble cfloat chalf col_indices conj_physical conj_physical_ crow_indices dequantize hash_tensor
    imag index indices int_repr ipu istft module_load mtia q_per_channel_axis q_per_channel_scales
    q_per_channel_zero_points q_scale q_zero_point record_stream resize_as_sparse_ row_indices slice_inverse smm
    sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm storage_type to_mkldnn to_sparse to_sparse_bsc
    to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr xpu
    """.split()
)


class Missing:
    """An attribute that is missing: reading it raises the AttributeError that says so. An object may have its own."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        what = f"type object '{owner.__name__}'" if instance is None else f"'{owner.__name__}' object"
        raise AttributeError(f"{what} has no attribute '{self.name}'{missing('mxlite.torch.Tensor', self.name)}")

    def __repr__(self) -> str:
        return "missing in mxlite"


def install_missing(cls: type) -> None:
    """Gives a class the names that it lacks."""
    for name in NAMES:
        if not hasattr(cls, name):
            setattr(cls, name, Missing(name))


def without_missing(thing: Any, names: Iterable[str]) -> list[str]:
    """Those of the names of an object, as `dir` gives them, that it has."""
    cls, own = thing if isinstance(thing, type) else type(thing), getattr(thing, "__dict__", ())
    lacking = {name for name in NAMES if name not in own and isinstance(getattr_static(cls, name, None), Missing)}
    return [name for name in names if name not in lacking]
