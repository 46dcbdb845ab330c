"""Operators one by one: what others compute from the file of an operator is what the operator computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _run import onnxruntime, run

import mxlite as mx
from mxlite.symbol._cached_op import CachedOp
from mxlite.symbol._generate import node

RANDOM = np.random.RandomState(6)


def data(*shape: int) -> np.ndarray:
    return RANDOM.randn(*shape).astype("float32")


X, IMAGE, HEADS = data(2, 3, 4), data(1, 3, 7, 8), data(5, 2, 24)
TURNED = {"kernel": (3, 3), "num_filter": 2, "target_shape": (14, 15), "stride": (2, 2)}
EDGES = np.array([1, np.inf, -np.inf, np.nan], "float32")
PAD, POOL = (0, 0, 0, 0, 1, 1, 2, 1), {"kernel": (3, 2), "stride": (2, 2), "pad": (1, 0)}
PLACES = np.array([[0, 1, 2], [3, 9, -1]], "float32")

#: Operators, their inputs and parameters, and those of the inputs that are parameters of the file.
CASES: list[tuple[str, list[np.ndarray], dict[str, Any], int]] = [
    ("_npi_where_lscalar", [X > 0, X], {"scalar": 3.0}, 0), ("_npi_where_rscalar", [X > 0, X], {"scalar": 3.0}, 0),
    ("_npi_where_scalar2", [X > 0], {"x": 1.0, "y": 2.0}, 0), ("where", [X > 0, X, X * 2], {}, 0),
    ("_np_any", [X > 0], {"axis": (1,)}, 0), ("_np_all", [X > 0], {"axis": (1,), "keepdims": True}, 0),
    ("_npi_isinf", [EDGES], {}, 0), ("_npi_isfinite", [EDGES], {}, 0), ("_npi_isnan", [EDGES], {}, 0),
    ("_contrib_BatchNormWithReLU", [X, *RANDOM.rand(4, 3) + 0.5], {"eps": 1e-3, "fix_gamma": False}, 4),
    ("BatchNorm", [X, *RANDOM.rand(4, 4) + 0.5], {"axis": 2}, 4),
    ("LayerNorm", [X, *RANDOM.rand(2, 3)], {"axis": 1}, 2), ("InstanceNorm", [X, *RANDOM.rand(2, 3)], {}, 2),
    ("GroupNorm", [data(2, 4, 3), *RANDOM.rand(2, 2)], {"num_groups": 2}, 2),
    ("SequenceLast", [X, np.array([1, 2, 2], "float32")], {"use_sequence_length": True}, 0),
    ("SequenceLast", [X, np.array([1, 3], "float32")], {"use_sequence_length": True, "axis": 1}, 0),
    ("SequenceMask", [X, np.array([1, 2, 0], "float32")], {"use_sequence_length": True, "value": 5.0}, 0),
    ("_npi_full_like", [X], {"fill_value": 2.5}, 0), ("_npi_hstack", [X, X], {"num_args": 2}, 0),
    ("_npi_vstack", [X[0, 0], X[0, 0]], {"num_args": 2}, 0), ("_npi_greater_scalar", [X], {"scalar": 0.1}, 0),
    ("_greater_scalar", [X], {"scalar": 0.1}, 0), ("_npi_not_equal_scalar", [X], {"scalar": 0.1}, 0),
    ("_npi_around", [X * 3], {}, 0), ("round", [X * 3], {}, 0), ("cbrt", [X], {}, 0), ("fix", [X * 3], {}, 0),
    ("log1p", [np.abs(X)], {}, 0), ("expm1", [X], {}, 0), ("log2", [np.abs(X)], {}, 0), ("rsqrt", [np.abs(X)], {}, 0),
    ("_mod_scalar", [X], {"scalar": 0.3}, 0), ("broadcast_mod", [X, X[:1] + 2], {}, 0),
    ("broadcast_hypot", [X, X[:1]], {}, 0), ("_rpower_scalar", [X], {"scalar": 2.0}, 0),
    ("broadcast_logical_and", [X, X[:1]], {}, 0), ("logical_not", [X], {}, 0), ("ones_like", [X], {}, 0),
    ("broadcast_not_equal", [X, X[:1]], {}, 0), ("_npi_not_equal", [X, X[:1]], {}, 0),
    ("smooth_l1", [X], {"scalar": 2.0}, 0),
    ("gather_nd", [X, np.array([[0, 1], [1, 2]], "float32")], {}, 0), ("pick", [X, PLACES], {"axis": 2}, 0),
    ("pick", [X, PLACES], {"axis": 2, "keepdims": True, "mode": "wrap"}, 0),
    ("take", [X, np.array([0, 5, -1], "float32")], {"axis": 1}, 0),
    ("take", [X, np.array([0, 4, -1], "float32")], {"axis": 1, "mode": "wrap"}, 0),
    ("Embedding", [np.array([[1, 2]], "float32"), X[0]], {"input_dim": 3, "output_dim": 4}, 1),
    ("sum", [X], {"axis": (1,), "exclude": True}, 0), ("mean", [X], {}, 0), ("norm", [X], {"axis": (1,), "ord": 1}, 0),
    ("norm", [X], {}, 0), ("prod", [X], {"axis": (0, 2)}, 0), ("_np_sum", [X], {}, 0), ("_npi_std", [X], {}, 0),
    ("argmax", [X], {}, 0), ("argmin", [X], {"axis": 1}, 0), ("sort", [X], {"is_ascend": False}, 0),
    ("argsort", [X], {"axis": 1}, 0), ("topk", [X], {"k": 2, "axis": 1}, 0), ("_np_cumsum", [X], {"axis": 1}, 0),
    ("squeeze", [X[:1]], {}, 0), ("expand_dims", [X], {"axis": -2}, 0),
    ("_split_v2", [X], {"indices": (0, 1), "axis": 1}, 0),
    ("SliceChannel", [X], {"num_outputs": 3, "axis": 1, "squeeze_axis": True}, 0),
    ("slice", [X], {"begin": (0, None), "end": (None, 2), "step": (1, 1)}, 0),
    ("slice", [X], {"begin": (None, 2, 3), "end": (None, None, 0), "step": (-1, -1, -2)}, 0),
    ("Pad", [IMAGE], {"mode": "edge", "pad_width": PAD}, 0), ("Pad", [IMAGE], {"mode": "reflect", "pad_width": PAD}, 0),
    ("Pad", [IMAGE], {"mode": "constant", "pad_width": PAD, "constant_value": 3}, 0),
    ("broadcast_axis", [X[:, :1]], {"axis": (1,), "size": (5,)}, 0), ("broadcast_like", [X[:1], X], {}, 0),
    ("slice_like", [X, X[:1, :2]], {}, 0), ("reshape_like", [X, X.reshape(4, 6)], {}, 0),
    ("Reshape", [X], {"shape": (-1, 0), "reverse": True}, 0), ("Reshape", [X], {"shape": (-3, -2)}, 0),
    ("Reshape", [X], {"shape": (-4, 1, 2, -2)}, 0), ("repeat", [X], {"repeats": 2}, 0),
    ("tile", [X], {"reps": (2, 1, 1, 3)}, 0),
    ("depth_to_space", [data(1, 8, 2, 3)], {"block_size": 2}, 0),
    ("space_to_depth", [data(1, 2, 4, 6)], {"block_size": 2}, 0),
    *(
        ("Pooling", [IMAGE], {**POOL, "pool_type": kind, "pooling_convention": form, **more}, 0)
        for kind, more in (("max", {}), ("avg", {}), ("sum", {}), ("lp", {"p_value": 2}))
        for form in ("valid", "full")
    ),
    ("Pooling", [IMAGE], {**POOL, "pool_type": "avg", "count_include_pad": False}, 0),
    ("Pooling", [IMAGE], {**POOL, "pool_type": "avg", "count_include_pad": False, "pooling_convention": "full"}, 0),
    ("_contrib_BilinearResize2D", [IMAGE], {"height": 5, "width": 12}, 0),
    ("_contrib_BilinearResize2D", [IMAGE], {"height": 14, "width": 16, "align_corners": False}, 0),
    ("UpSampling", [IMAGE], {"scale": 2, "sample_type": "nearest", "num_args": 1}, 0),
    ("LRN", [IMAGE], {"nsize": 3}, 0),
    ("L2Normalization", [IMAGE], {"mode": "spatial"}, 0), ("L2Normalization", [IMAGE], {}, 0),
    ("Crop", [IMAGE], {"offset": (1, 2), "h_w": (3, 4), "num_args": 1}, 0),
    ("Deconvolution", [IMAGE, data(3, 2, 3, 3)], TURNED, 1),
    ("softmax", [X], {"axis": 1, "temperature": 2.0}, 0), ("softmin", [X], {}, 0),
    ("SoftmaxActivation", [IMAGE], {}, 0),
    ("SoftmaxActivation", [IMAGE], {"mode": "channel"}, 0), ("_contrib_div_sqrt_dim", [X], {}, 0),
    ("SoftmaxOutput", [IMAGE, np.zeros(1, "float32")], {}, 1), ("hard_sigmoid", [X], {}, 0),
    ("_linalg_gemm2", [X, X], {"transpose_b": True, "alpha": 2.0}, 0), ("batch_dot", [X, X], {"transpose_a": True}, 0),
    ("_linalg_gemm", [X, X, data(2, 3, 3)], {"transpose_b": True, "beta": 2.0}, 0),
    ("dot", [X, X[0].T.copy()], {}, 0), ("dot", [X[0], X[0]], {"transpose_b": True}, 0),
    ("_npi_einsum", [X, X], {"num_args": 2, "subscripts": "abc,adc->bd"}, 0),
    ("_contrib_interleaved_matmul_selfatt_qk", [HEADS], {"heads": 2}, 0),
    ("_contrib_interleaved_matmul_selfatt_valatt", [HEADS, data(4, 5, 5)], {"heads": 2}, 0),
    ("_contrib_interleaved_matmul_encdec_qk", [data(5, 2, 8), data(6, 2, 16)], {"heads": 2}, 0),
    ("_contrib_interleaved_matmul_encdec_valatt", [data(6, 2, 16), data(4, 5, 6)], {"heads": 2}, 0),
]  # fmt: skip
#: What onnx's own evaluator has otherwise, or lacks.
NOT_THERE = {"Pooling", "_contrib_BilinearResize2D", "UpSampling", "LRN", "Deconvolution"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{'-'.join(map(str, case[2].values()))}")
def test_an_operator(case: Any, tmp_path: Path) -> None:
    name, arrays, params, held = case
    if onnxruntime is None and name in NOT_THERE:
        pytest.skip("onnxruntime is not installed, and onnx's evaluator computes it otherwise")
    arrays = [each if each.dtype == bool else each.astype("float32") for each in arrays]
    names = [f"x{number}" for number in range(len(arrays))]
    variables = [mx.sym.var(each, dtype=array.dtype) for each, array in zip(names, arrays)]
    whole = node(name, "op", variables, dict(params))
    symbol = whole[0] if len(whole) > 1 else whole
    inputs = [mx.nd.array(each, dtype=each.dtype) for each in arrays]
    wish = CachedOp(symbol)(*inputs).asnumpy()
    free = len(arrays) - held
    given = dict(zip(names[free:], inputs[free:]))
    shapes, types = [each.shape for each in arrays[:free]], [each.dtype for each in arrays[:free]]
    (made,) = run(mx.onnx.export_model(symbol, given, shapes, types, str(tmp_path / "a.onnx")), *arrays[:free])
    assert made.dtype == wish.dtype and made.shape == wish.shape
    np.testing.assert_allclose(made, wish, rtol=2e-5, atol=1e-5)
