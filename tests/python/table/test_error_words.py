"""What errors of operators say: the words by which a reader finds the mistake. The table says where errors must be."""

from __future__ import annotations

import numpy as np
import pytest
from _table import invoke_text, to_nd

import mxlite as mx

pytestmark = pytest.mark.one_binding


def _of(dtype: str, shape: tuple[int, ...], *values: float) -> np.ndarray:
    """An array of these values; of none, those from 1 on."""
    return np.array(values or range(1, 1 + int(np.prod(shape))), dtype).reshape(shape)


#: operator, parameters, inputs, what the message holds
ROWS = [
    (
        "take",
        "mode=raise",
        (_of("float32", (3, 2)), _of("float32", (4,), -1, 5, 2.99, -0.5)),
        "take: index -1 is out of bounds",
    ),
    ("take", "mode=foo", (_of("float32", (3, 2)), _of("int64", (2,), 2, 0)), "mode"),
    ("take", "", (_of("uint8", (0, 2)), _of("int32", ())), "extent 0"),
    ("take", "axis=2", (_of("uint8", (2, 3)), _of("int32", (2, 2), 0, 2, 1, 1)), "out of range"),
    ("take", "axis=-3", (_of("uint8", (2, 3)), _of("int32", (2, 2), 0, 2, 1, 1)), "out of range"),
    ("take", "", (_of("int32", ()), _of("int32", (2, 2), 0, 2, 1, 1)), "out of range"),
    ("pick", "", (_of("float32", (2, 0)), _of("float32", (2,), -1, 5)), "extent 0"),
    (
        "pick",
        "",
        (_of("float32", (2, 3)), _of("uint8", (3,), 0, 1, 1)),
        "axis 0 of index is 3; it must be 2, axis 0 of data",
    ),
    ("pick", "axis=2", (_of("float32", (2, 3)), _of("float32", (2,), -1, 5)), "out of range"),
    ("pick", "axis=None", (_of("float32", (2, 3)), _of("float32", (2,), -1, 5)), "None"),
    ("pick", "mode=raise", (_of("float32", (2, 3)), _of("float32", (2,), -1, 5)), "mode"),
    ("one_hot", "depth=-1", (_of("float32", (4,), 0, 1.9, -1, np.nan),), "depth"),
    ("one_hot", "", (_of("float32", (4,), 0, 1.9, -1, np.nan),), "depth"),
    ("one_hot", "depth=2 dtype=bool", (_of("float32", (4,), 0, 1.9, -1, np.nan),), "bool"),
    ("Reshape", "shape=(2,3)", (_of("float32", (2, 3, 4)),), "cannot have the shape (2,3)"),
    ("Reshape", "shape=(5,-1)", (_of("float32", (2, 3, 4)),), "cannot have the shape (5,-1)"),
    ("Reshape", "shape=(0,0,0,0)", (_of("float32", (2, 3, 4)),), "no axis left"),
    ("Reshape", "shape=(-5,)", (_of("float32", (2, 3, 4)),), "-5"),
    ("Reshape", "", (_of("float32", (2, 3, 4)),), "cannot have the shape ()"),
    ("Reshape", "target_shape=(0,0)", (_of("float32", (2, 3, 4)),), "more than one"),
    ("Reshape", "target_shape=(-1,12)", (_of("float32", (2, 3, 4)),), "negative"),
    ("Reshape", "target_shape=(5,0)", (_of("float32", (2, 3, 4)),), "cannot have"),
    ("transpose", "axes=(0,0)", (_of("float32", (2, 3)),), "twice"),
    ("transpose", "axes=(1,0)", (_of("float64", (3, 1, 2)),), "2 axes, the array has 3"),
    ("transpose", "axes=(0,2)", (_of("float32", (2, 3)),), "axis 2"),
    ("transpose", "axes=(-1,0)", (_of("float32", (2, 3)),), "axis -1"),
    ("slice", "begin=(0,) end=(3,) step=(0,)", (_of("float32", (5,), 0, 1, 2, 3, 4),), "step along axis 0 is 0"),
    ("slice", "begin=(0,0) end=(3,)", (_of("float32", (5,), 0, 1, 2, 3, 4),), "must be equal"),
    ("slice", "begin=(0,) end=(3,) step=(1,1)", (_of("float32", (5,), 0, 1, 2, 3, 4),), "must be equal"),
    ("slice", "begin=(0,0) end=(3,1)", (_of("float32", (5,), 0, 1, 2, 3, 4),), "2 entries, the array 1 axes"),
    ("slice", "begin=(0,)", (_of("float32", (5,), 0, 1, 2, 3, 4),), "required"),
    ("slice", "begin=None end=None", (_of("float32", (5,), 0, 1, 2, 3, 4),), "begin"),
    (
        "_slice_assign",
        "begin=(None,1) end=(None,2)",
        (_of("float32", (2, 3)), _of("float32", (2,), 8, 9)),
        "the part has shape (2,1), the value (2,)",
    ),
    (
        "_slice_assign",
        "begin=(None,1) end=(None,2)",
        (_of("float32", (2, 3)), _of("float64", (2, 1), 8, 9)),
        "float32 and float64",
    ),
    ("Concat", "dim=0", (_of("uint8", (2, 3)), _of("uint8", (2, 1), 8, 9)), "must be 3, axis 1 of arg0"),
    ("Concat", "", (_of("uint8", (2, 3)), _of("int32", (2, 3))), "uint8 and int32"),
    ("Concat", "dim=2", (_of("uint8", (2, 3)), _of("uint8", (2, 1), 8, 9)), "out of range"),
    ("Concat", "dim=0", (_of("uint8", (), 5),), "out of range"),
    ("Concat", "num_args=3", (_of("uint8", (2, 3)), _of("uint8", (2, 1), 8, 9)), "is 3, but 2 inputs were given"),
    ("Concat", "num_args=0", (_of("uint8", (2, 3)), _of("uint8", (2, 1), 8, 9)), "num_args"),
    ("Concat", "", (), "got 0"),
    ("softmax", "axis=2", (_of("float32", (2, 3), 1, 2, 3, 4, 4, 5),), "out of range"),
    ("log_softmax", "", (_of("int32", (1,)),), "floating-point"),
    ("softmax", "use_length=1", (_of("float32", (2, 3), 1, 2, 3, 4, 4, 5), _of("int64", (2,), 2, 4)), "not in [0, 3]"),
    (
        "softmax",
        "use_length=1",
        (_of("float32", (2, 3), 1, 2, 3, 4, 4, 5), _of("int64", (3,), 2, 1, 0)),
        "it must be 2, axis 0 of data",
    ),
    (
        "softmax",
        "use_length=1",
        (_of("float32", (2, 3), 1, 2, 3, 4, 4, 5), _of("float32", (2,), 2, 1)),
        "int32 or int64",
    ),
    ("softmax", "use_length=1", (_of("float32", (2, 3), 1, 2, 3, 4, 4, 5),), "takes 2 inputs"),
    (
        "softmax",
        "use_length=1 axis=2",
        (_of("float32", (2, 3), 1, 2, 3, 4, 4, 5), _of("int64", (3,), 2, 1, 0)),
        "out of range",
    ),
    ("softmax", "use_length=None", (_of("float32", (2, 3), 1, 2, 3, 4, 4, 5),), "use_length"),
    ("log_softmax", "use_length=1", (_of("float32", (2, 3), 1, 2, 3, 4, 4, 5),), "use_length"),
    ("Dropout", "p=1.1", (_of("float32", (40, 6)),), "in [0, 1]"),
    ("Dropout", "p=-0.1", (_of("float32", (40, 6)),), "in [0, 1]"),
    ("Dropout", "axes=(2,)", (_of("float32", (40, 6)),), "axis 2"),
    ("Dropout", "axes=(-1,)", (_of("float32", (40, 6)),), "axis -1"),
    ("Dropout", "", (_of("int32", (1, 1)),), "floating-point"),
    ("_random_uniform", "low=3 high=1 shape=(2,)", (), "low must not be above high"),
    ("_random_normal", "scale=0 shape=(2,)", (), "scale must be above 0"),
    ("_random_normal", "shape=(-2,)", (), "negative extent"),
    ("_random_normal", "shape=(-1,)", (), "unknown sizes"),
    ("_random_normal", "shape=(1,) ctx=bad", (), "ctx"),
    ("_random_normal", "shape=(1,) ctx=cpu(0", (), "ctx"),
    ("_random_normal", "shape=(1,) ctx=gpu(0)", (), "ctx"),
    ("topk", "k=4", (_of("float32", (2, 3), 3, 1, 2, 6, 4, 5),), "topk: k is 4, but a row has 3 elements"),
    ("topk", "axis=2", (_of("float32", (2, 3), 3, 1, 2, 6, 4, 5),), "topk: "),
    (
        "topk",
        "",
        (_of("float32", (2, 3), 3, 1, 2, 6, 4, 5), _of("float32", (2, 3), 3, 1, 2, 6, 4, 5)),
        "topk: takes 1 input, got 2",
    ),
    ("sort", "axis=0", (_of("int32", (), 7),), "sort: "),
    ("max", "axis=0", (_of("float32", (0, 3)),), "no elements"),
    ("argmax", "axis=0", (_of("float32", (0, 3)),), "nothing to search"),
    ("sum", "axis=2", (_of("float32", (2, 2)),), "out of range"),
    ("sum", "axis=-3", (_of("float32", (2, 2)),), "out of range"),
    ("argmax", "axis=2", (_of("float32", (2, 2)),), "out of range"),
    ("sum", "axis=0", (_of("float32", (), 5),), "out of range"),
    ("mean", "axis=(0,-2)", (_of("float32", (2, 2)),), "twice"),
    ("mean", "axis=(0,0) exclude=1", (_of("float32", (2, 2)),), "twice"),
    ("dot", "transpose_a=1", (_of("float32", (3,), 1, 0, -1), _of("float32", (3,), 1, 0, -1)), "vectors"),
    ("dot", "", (_of("float32", (2, 3)), _of("float32", (2, 3))), "axis 0 of rhs is 2; it must be 3, axis 1 of lhs"),
    ("dot", "", (_of("float32", (3,), 1, 0, -1), _of("float64", (3,))), "dtypes"),
    ("dot", "", (_of("int32", (1,)), _of("int32", (1,))), "floating-point"),
    (
        "FullyConnected",
        "num_hidden=3",
        (_of("float32", (2, 1, 2)), _of("float32", (2, 2), 1, 0, 1, 1), _of("float32", (2,), 10, 20)),
        "axis 0 of weight is 2; it must be 3, the parameter num_hidden",
    ),
    (
        "FullyConnected",
        "num_hidden=2",
        (_of("float32", (2, 1, 2)), _of("float32", (2, 2), 1, 0, 1, 1), _of("float32", (2, 1))),
        "bias must have shape [num_hidden], got (2,1)",
    ),
    (
        "FullyConnected",
        "num_hidden=2",
        (_of("float32", (2, 1, 2)), _of("float32", (2, 2), 1, 0, 1, 1)),
        "takes 3 inputs",
    ),
    (
        "FullyConnected",
        "num_hidden=2 no_bias=1",
        (_of("float32", (2, 1, 2)), _of("float32", (2, 2), 1, 0, 1, 1), _of("float32", (2,), 10, 20)),
        "takes 2 inputs",
    ),
    (
        "FullyConnected",
        "num_hidden=0",
        (_of("float32", (2, 1, 2)), _of("float32", (2, 2), 1, 0, 1, 1), _of("float32", (2,), 10, 20)),
        "num_hidden",
    ),
    (
        "sgd_mom_update",
        "lr=1",
        (_of("float32", (3,), 1, 2, -3), _of("float32", (3,), 0.5, -10, 2), _of("float64", (3,))),
        "dtypes",
    ),
    ("sgd_mom_update", "lr=1", (_of("int32", (3,)), _of("int32", (3,)), _of("int32", (3,))), "floating-point"),
    (
        "sgd_mom_update",
        "",
        (_of("float32", (3,), 1, 2, -3), _of("float32", (3,), 0.5, -10, 2), _of("float32", (3,), 0.1, 0.2, 0.3)),
        "lr",
    ),
]


@pytest.mark.parametrize(("op", "params", "inputs", "words"), ROWS)
def test_words(op: str, params: str, inputs: tuple, words: str) -> None:
    strings = dict(pair.split("=", 1) for pair in params.split())
    with mx.np_shape(True), pytest.raises(mx.MXNetError) as caught:
        invoke_text(op, [to_nd(array) for array in inputs], strings)
        mx.nd.waitall()
    assert words in str(caught.value)
