"""Arrays of no axes, in NumPy-shape mode, for the operators whose families have no such row.

A row is the first of its operator, of each of whose inputs the first element is left. It says what 1.9.1 says.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._case import In
from ._others import first

CASES: list = []


def _add(op: str, **changes) -> None:
    base = first(op, lambda case: bool(case.inputs) and all(array.size > 0 for array in case.arrays()))
    inputs = tuple(In(dtype=array.dtype.name, values=array.ravel()[0]) for array in base.arrays())
    common = {"forward": None, "order": 0, "defined": True, "np_shape": True}
    CASES.append(replace(base, **{**common, "label": "0-axes", "inputs": inputs, **changes}))


_COMPUTE = """
    _copy BlockGrad Cast add_n where smooth_l1 hard_sigmoid Activation _contrib_quadratic _contrib_round_ste
    _contrib_sign_ste _contrib_gradientmultiplier argmax argmin _identity_with_attr_like_rhs _histogram broadcast_like
    one_hot transpose softmin log_softmax Dropout zeros_like ones_like
""".split()
_REFUSE = """
    argmax_channel moments dot FullyConnected batch_dot khatri_rao _linalg_gemm2 _linalg_gemm _linalg_syrk
    _linalg_trmm _linalg_trsm _linalg_extractdiag _linalg_makediag _linalg_extracttrian _linalg_maketrian
    _linalg_sumlogdiag _linalg_gelqf _linalg_syevd _linalg_inverse _linalg_det _linalg_slogdet Reshape SliceChannel
    Concat Flatten SwapAxis broadcast_to broadcast_axis reshape_like slice_axis _split_v2 reverse Pad depth_to_space
    space_to_depth diag slice take pick _onehot_encode gather_nd scatter_nd _scatter_set_nd batch_take
    fill_element_0index _contrib_index_copy _ravel_multi_index _contrib_boolean_mask SequenceMask SequenceLast
    SequenceReverse _sample_multinomial _random_pdf_dirichlet LinearRegressionOutput LogisticRegressionOutput
    MAERegressionOutput softmax_cross_entropy BatchNorm BatchNorm_v1 _contrib_SyncBatchNorm _contrib_BatchNormWithReLU
    InstanceNorm GroupNorm
""".split()
for _op in _COMPUTE:
    _add(_op)
for _op in _REFUSE:
    _add(_op, error=True, diff=(), mutates=(), oracle="")
_add(
    "LeakyReLU",
    forward=lambda x, act_type: np.maximum(x, x / x.dtype.type(4)),
    diff=(),
    oracle="differs: 1.9.1 refuses it",
)
for _op in ("_linalg_potrf", "_linalg_potri", "_slice_assign", "_slice_assign_scalar"):
    _add(_op, error=True, diff=(), oracle="differs: 1.9.1 reads an axis that is not there")
_add("slice_like", oracle="skip: 1.9.1 answers what lay in memory", forward=lambda x, like: x, diff=())
