"""What may stand for a dtype: names, types, np.dtype, and things that have one; wherever one is taken."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import mxlite as mx
from mxlite import gluon, nd


class Held:
    """A thing of a user's, with a dtype as mxlite has them."""

    dtype = np.float16


#: Ways to say float16. An array's own dtype is a class; from 2.4 on NumPy does not take such a thing for a dtype.
WAYS: dict[str, Callable[[], Any]] = {
    "name": lambda: "float16",
    "code": lambda: "<f2",
    "type": lambda: np.float16,
    "np.dtype": lambda: np.dtype("float16"),
    "a dtype of an array": lambda: nd.ones((1,), dtype="float16").dtype,
    "an array": lambda: nd.ones((1,), dtype="float16"),
    "a NumPy array": lambda: np.ones(1, "float16"),
    "a NumPy number": lambda: np.float16(1),
    "a parameter": lambda: gluon.Parameter("p", shape=(2,), dtype="float16"),
    "a thing that has one": Held,
}


def _parameter(dtype: Any, cast: bool) -> Any:
    made = gluon.Parameter("p", shape=(2,), dtype="float32" if cast else dtype)
    made.initialize()
    if cast:
        made.cast(dtype)
        assert made.grad().dtype == np.float16
    assert np.dtype(made.dtype) == np.float16  # kept as it is given, but for arrays, which would stay alive
    return made.data()


def _layer(layer: gluon.Block, dtype: Any) -> Any:
    layer.initialize()
    layer.cast(dtype)
    return layer.weight.data()


def _agreeing(dtype: Any) -> Any:
    held = gluon.ParameterDict()
    held.get("w", shape=(2,), dtype="float16").initialize()
    return held.get("w", dtype=dtype).data()


def _norm(dtype: Any) -> Any:
    made = gluon.nn.BatchNorm(in_channels=2)
    made.initialize()
    made.cast(dtype)
    return made.gamma.data().astype("float16" if made.gamma.dtype == "float32" else "int8")


def _module(dtype: Any) -> Any:
    made = mx.mod.Module(mx.sym.var("data") * 2, label_names=None)
    made.bind([mx.io.DataDesc("data", (2, 2), dtype)], None)
    return made._exec_group.execs[0].arg_dict["data"]


class _Typed(mx.operator.CustomOpProp):
    def infer_type(self, in_type: list) -> tuple:
        return in_type, [np.ones(1, "float16") if self.kind is None else self.kind], []

    kind: Any = None

    def infer_shape(self, in_shape: list) -> tuple:
        return in_shape, [in_shape[0]], []

    def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Any:
        class Op(mx.operator.CustomOp):
            def forward(self, is_train: Any, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
                self.assign(out_data[0], req[0], in_data[0].astype("float16"))

        return Op()


mx.operator.register("typed_by_a_thing")(_Typed)


def _custom(dtype: Any) -> Any:
    _Typed.kind = dtype
    return nd.Custom(nd.ones((2,)), op_type="typed_by_a_thing")


TAKERS: dict[str, Callable[[Any], Any]] = {
    "astype": lambda t: nd.ones((2,)).astype(t),
    "astype without a copy": lambda t: nd.ones((2,)).astype(t, copy=False),
    "cast": lambda t: nd.cast(nd.ones((2,)), dtype=t),
    "cast by position": lambda t: nd.Cast(nd.ones((2,)), t),
    "zeros": lambda t: nd.zeros((2,), dtype=t),
    "full": lambda t: nd.full((2,), 3, dtype=t),
    "empty": lambda t: nd.empty((2,), dtype=t),
    "array of a list": lambda t: nd.array([1, 2], dtype=t),
    "array of an array": lambda t: nd.array(nd.ones((2,)), dtype=t),
    "array of NumPy's": lambda t: nd.array(np.ones(2), dtype=t),
    "arange": lambda t: nd.arange(3, dtype=t),
    "one_hot": lambda t: nd.one_hot(nd.ones((2,)), 3, dtype=t),
    "random": lambda t: nd.random.uniform(shape=(2,), dtype=t),
    "softmax": lambda t: nd.softmax(nd.ones((2,)), dtype=t),
    "Parameter": lambda t: _parameter(t, False),
    "Parameter.cast": lambda t: _parameter(t, True),
    "ParameterDict.get": _agreeing,
    "Constant": lambda t: gluon.Constant("c", nd.ones((2,), dtype=t)).value,
    "Block.cast": lambda t: _layer(gluon.nn.Dense(2, in_units=2), t),
    "BatchNorm.cast": _norm,
    "Dense": lambda t: _layer(gluon.nn.Dense(2, in_units=2, dtype=t), t),
    "LSTM.begin_state": lambda t: gluon.rnn.LSTM(2).begin_state(2, dtype=t)[0],
    "mx.image.CastAug": lambda t: mx.image.CastAug(t)(nd.ones((2,))),
    "Module": _module,
    "type_dict": lambda t: (mx.sym.var("v") * 1).simple_bind(mx.cpu(), v=(2,), type_dict={"v": t}).arg_dict["v"],
    "sym.var": lambda t: (mx.sym.var("v", dtype=t) * 1).simple_bind(mx.cpu(), v=(2,)).outputs[0],
    "sym.cast": lambda t: mx.sym.cast(mx.sym.var("v"), dtype=t).simple_bind(mx.cpu(), v=(2,)).outputs[0],
    "sym.zeros": lambda t: mx.sym.zeros((2,), dtype=t).simple_bind(mx.cpu()).outputs[0],
    "rand_ndarray": lambda t: mx.test_utils.rand_ndarray((2, 2), dtype=t),
    "Custom": _custom,
}


@pytest.mark.parametrize("taker", TAKERS)
def test_what_stands_for_a_dtype(taker: str) -> None:
    for way, make in WAYS.items():
        assert np.dtype(TAKERS[taker](make()).dtype) == np.float16, way


@pytest.mark.parametrize("make", [WAYS["an array"], WAYS["a parameter"]])
def test_numpy_takes_the_dtype_of_ours(make: Callable[[], Any]) -> None:
    thing = make()
    assert np.dtype(thing) == np.dtype("float16") == np.zeros(2, dtype=thing).dtype == np.ones(2).astype(thing).dtype
    assert np.array([1, 2], dtype=thing.dtype).dtype == np.empty_like(np.ones(2), dtype=thing).dtype == np.float16
    with pytest.raises(AttributeError, match="__numpy_dtype__"):
        _ = type(thing).__numpy_dtype__


def test_what_stands_for_none_says_so() -> None:
    for thing in ("junk", object(), np.ones(1, "complex64"), mx.sym.var("v")):
        for taker in (nd.ones((2,)).astype, lambda t: _parameter(t, True), lambda t: nd.array([1], dtype=t)):
            with pytest.raises(TypeError, match=r"no dtype; there are|is not supported; there are"):
                taker(thing)
