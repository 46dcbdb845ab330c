"""Comparing the predictions of graphs with passes on and off."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import mxlite as mx


def values(symbol: Any, dtype: str, shape: tuple[int, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Random arguments and states; variances are positive, statistics of float16 are float32."""
    random = np.random.RandomState(1)
    args, _, states = symbol.infer_shape(x=shape)
    found: list[dict[str, Any]] = []
    for names, shapes in ((symbol.list_arguments(), args), (symbol.list_auxiliary_states(), states)):
        values = {}
        for name, each in zip(names, shapes):
            value = random.rand(*each) + 0.5 if name.endswith("var") else random.randn(*each)
            statistic = name.endswith(("gamma", "beta", "mean", "var")) and dtype == "float16"
            values[name] = mx.nd.array(value, dtype="float32" if statistic else dtype)
        found.append(values)
    return found[0], found[1]


def predict(symbol: Any, args: dict[str, Any], states: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """The outputs of an executor without gradients, and the operators of its graph."""
    executor = symbol.bind(mx.cpu(), args, aux_states=states, grad_req="null")
    outputs = executor.forward(is_train=False)
    nodes = json.loads(executor.get_optimized_symbol().tojson())["nodes"]
    return outputs, [node["op"] for node in nodes if node["op"] != "null"]


def compare(
    monkeypatch: pytest.MonkeyPatch,
    symbol: Any,
    operators: list[str],
    shape: tuple[int, ...] = (2, 4, 9, 10),
    dtype: str = "float32",
) -> None:
    args, states = values(symbol, dtype, shape)
    monkeypatch.setenv("MXLITE_GRAPH", "none")
    plain, _ = predict(symbol, args, states)
    monkeypatch.delenv("MXLITE_GRAPH")
    fused, names = predict(symbol, args, states)
    assert names == operators
    bound = {"float16": 4e-3, "float32": 2e-6, "float64": 1e-14}[dtype]
    for one, other in zip(plain, fused):
        assert one.dtype == other.dtype and one.shape == other.shape
        want, got = one.asnumpy().astype("float64"), other.asnumpy().astype("float64")
        np.testing.assert_allclose(got, want, rtol=0, atol=bound * max(1, np.abs(want).max()))
