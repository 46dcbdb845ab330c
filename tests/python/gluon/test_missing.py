"""What of 1.9.1's `dir(mx)` is not here says so."""

from __future__ import annotations

import importlib

import pytest

import mxlite as mx

#: The public modules and names of 1.9.1's `mx`, but for those that are private by their nature.
NAMES = """AttrScope Context MXNetError attribute autograd base callback context contrib cpu cpu_pinned current_context
engine error executor executor_manager gluon gpu image img init initializer io is_np_array is_np_shape kv kvstore
libinfo library log lr_scheduler metric mod model module mon monitor name nd ndarray notebook np np_array np_shape npx
numpy numpy_extension onnx operator optimizer profiler random recordio registry rnd rnn rtc runtime set_np_shape sym
symbol test_utils th torch tvmop use_np use_np_array use_np_shape util visualization viz""".split()


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_there_or_says_that_it_is_missing(name: str) -> None:
    if name in mx.__all__:
        assert getattr(mx, name) is not None
        return
    if name == "torch":  # PyTorch's interface has this name here, and is imported by it
        return
    with pytest.raises(AttributeError, match=f"no attribute '{name}': it is missing in mxlite"):
        getattr(mx, name)
    with pytest.raises(ImportError, match=f"'mxlite.{name}': it is missing in mxlite"):
        exec(f"from mxlite import {name}")
    with pytest.raises(ImportError, match=f"'mxlite.{name}': it is missing in mxlite"):
        importlib.import_module(f"mxlite.{name}")


def test_a_metric_is_updated_with_all_outputs_or_none() -> None:
    metric = mx.metric.Accuracy()
    right = mx.nd.array([0, 1])
    with pytest.raises(ValueError):
        metric.update([right, right], [mx.nd.array([[1, 0], [0, 1]]), mx.nd.zeros((3, 2))])
    assert metric.num_inst == 0


def test_a_metric_reads_large_predictions_as_small_ones() -> None:
    random = mx.nd.random.uniform(shape=(300, 400))
    label = mx.nd.array(random.asnumpy().argmax(1))
    metric = mx.metric.Accuracy()
    metric.update([label], [random])
    assert metric.get() == ("accuracy", 1.0)
