"""What PyTorch's Tensor has and ours has not: asked for, it says so.

Each name is a descriptor in the class. A `__getattr__` would find other names, too, but Python takes a longer way to
every attribute of a class that has one, and a call of a method of a small tensor would take 1.5 times as long. For a
mistyped name Python itself says what was meant.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from mxlite._public import missing

#: The public names of PyTorch 2.13's Tensor that ours lacks; test_torch_style.py compares them with PyTorch.
NAMES = frozenset(
    """
    H addbmm addbmm_ addmm_ addmv_ addr addr_ adjoint aminmax angle apply_ arctan2_ argwhere as_strided_
    as_strided_scatter as_subclass atan2_ baddbmm_ bincount bitwise_and_ bitwise_left_shift_ bitwise_not_
    bitwise_or_ bitwise_right_shift_ bitwise_xor_ cauchy_ ccol_indices cdouble cfloat chalf cholesky
    cholesky_inverse cholesky_solve clamp_max_ clamp_min_ coalesce col_indices conj conj_physical conj_physical_
    const_data_ptr copysign copysign_ corrcoef cov cross crow_indices cummax cummin cumprod_ cumsum_ dense_dim
    dequantize diag_embed diagflat diagonal_scatter diff dim_order dist dsplit eig eq_ exponential_ fill_diagonal_
    fliplr flipud float_power float_power_ floor_divide_ fmax fmin fmod_ frexp gcd gcd_ ge_ geometric_ geqrf
    grad_dtype greater_ greater_equal_ gt_ hardshrink hash_tensor heaviside heaviside_ histc histogram hsplit hypot_
    i0 i0_ igamma igamma_ igammac igammac_ imag index index_copy index_copy_ index_put index_reduce index_reduce_
    indices int_repr ipu is_coalesced is_conj is_cpu is_distributed is_ipu is_maia is_mkldnn is_mtia
    is_neg is_nonzero is_pinned is_same_size is_shared is_sparse_csr is_vulkan is_xla isreal istft kron kthvalue lcm
    lcm_ ldexp ldexp_ le_ less_ less_equal_ log_normal_ logaddexp2 logcumsumexp logical_and_ logical_not_
    logical_or_ logical_xor_ lstsq lt_ lu lu_solve mH map2_ map_ masked_scatter masked_scatter_ matrix_exp mode
    module_load msort mtia mvlgamma mvlgamma_ name nan_to_num_ nanmean nanmedian nanquantile narrow_copy ne_ new
    new_empty_strided nextafter nextafter_ nonzero_static not_equal_ orgqr ormqr pin_memory pinverse polygamma
    polygamma_ prelu put put_ q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point
    qr qscheme quantile real record_stream reinforce renorm renorm_ resize resize_ resize_as resize_as_
    resize_as_sparse_ resolve_conj resolve_neg rot90 row_indices scatter_reduce scatter_reduce_ select_scatter set_
    share_memory_ short sinc sinc_ slice_inverse slice_scatter smm solve sparse_dim sparse_mask sparse_resize_
    sparse_resize_and_clear_ sspaddmm stft storage_type sum_to_size svd symeig tensor_split to_dense
    to_mkldnn to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr
    triangular_solve tril_ triu_ unfold unique unique_consecutive unsafe_chunk unsafe_split unsafe_split_with_sizes
    values vdot volatile vsplit xlogy_ xpu
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
    return [name for name in names if name not in NAMES or hasattr(thing, name)]
