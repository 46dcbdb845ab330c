"""What a program asks about the library itself: features, bulk sizes, the environment."""

from __future__ import annotations

import pytest

import mxlite as mx


def test_features():
    features = mx.runtime.Features()
    assert len(features) == 32 and not features["CUDA"].enabled and features["INT64_TENSOR_SIZE"].name in features
    assert not features.is_enabled("cuda") and features.is_enabled("CXX14") == features["CXX14"].enabled
    assert [feature.name for feature in mx.runtime.feature_list()] == list(features)
    assert repr(features).startswith("[✖ CUDA, ✖ CUDNN")
    with pytest.raises(RuntimeError, match="Feature 'NOPE' is unknown, known features are: .'CUDA'"):
        features.is_enabled("nope")


def test_bulk_sizes_are_remembered():
    before = mx.engine.set_bulk_size(15)
    try:
        with mx.engine.bulk(3):
            assert mx.engine.set_bulk_size(3) == 3
            with mx.engine.bulk(0):
                assert mx.engine.set_bulk_size(0) == 0
            assert mx.engine.set_bulk_size(3) == 3
        assert mx.engine.set_bulk_size(15) == 15
        with pytest.raises(mx.MXNetError):
            mx.engine.set_bulk_size(-1)
    finally:
        mx.engine.set_bulk_size(before)


def test_environment():
    mx.util.setenv("MXLITE_TEST_É", "1 é")
    assert mx.util.getenv("MXLITE_TEST_É") == "1 é"
    mx.util.setenv("MXLITE_TEST_É", None)
    assert mx.util.getenv("MXLITE_TEST_É") is None
    with pytest.raises(mx.MXNetError):
        mx.util.setenv("a=b", "1")


def test_rnd_is_random():
    assert mx.rnd is mx.random
