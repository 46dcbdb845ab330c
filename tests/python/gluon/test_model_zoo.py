"""mx.gluon.model_zoo: files of trained parameters that are missing or damaged."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import mxlite as mx
from mxlite.gluon.model_zoo import model_store, vision


@pytest.fixture
def nothing_to_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_GLUON_REPO", "http://127.0.0.1:9/")


@pytest.mark.parametrize("damaged", [False, True])
def test_a_missing_file_is_named(nothing_to_fetch: None, tmp_path: Path, damaged: bool) -> None:
    path = tmp_path / "resnet18_v1-a0666292.params"
    if damaged:
        path.write_bytes(b"half a file")
    with pytest.raises(ConnectionError, match=r"resnet18_v1-a0666292\.params.* http://127\.0\.0\.1:9/"):
        vision.resnet18_v1(pretrained=True, root=str(tmp_path))
    assert [each.name for each in tmp_path.iterdir()] == [path.name] * damaged


def test_a_file_that_is_there_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    net = vision.mobilenet0_25()
    net.initialize()
    x = mx.nd.ones((1, 3, 32, 32))
    net(x)
    net.save_parameters(str(tmp_path / "net"))
    sha1 = hashlib.sha1((tmp_path / "net").read_bytes()).hexdigest()
    monkeypatch.setitem(model_store._model_sha1, "mobilenet0.25", sha1)
    (tmp_path / "net").rename(tmp_path / f"mobilenet0.25-{model_store.short_hash('mobilenet0.25')}.params")
    other = vision.get_model("mobilenet0.25", pretrained=True, root=str(tmp_path))
    assert (other(x) == net(x)).asnumpy().all()
