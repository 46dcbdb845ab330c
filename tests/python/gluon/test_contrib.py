"""mx.contrib and mx.test_utils: what is refused by name."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import mxlite as mx

MISSING = ["quant", "tensorrt"]


@pytest.mark.parametrize("name", MISSING)
def test_missing_modules_say_why(name: str) -> None:
    module = importlib.import_module(f"mxlite.contrib.{name}")
    assert module is getattr(mx.contrib, name)
    with pytest.raises(NotImplementedError, match=rf"mx\.contrib\.{name}\.thing: \w+"):
        _ = module.thing


def test_unknown_modules_are_none() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("mxlite.contrib.nothing")
    assert not hasattr(mx.contrib, "nothing")


def test_nd_is_that_of_nd() -> None:
    assert mx.contrib.nd is mx.nd.contrib and mx.contrib.ndarray is mx.nd.contrib


def test_vectors_are_not_downloaded(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match=r"glove\.6B\.50d\.txt at"):
        mx.contrib.text.embedding.GloVe("glove.6B.50d.txt", embedding_root=str(tmp_path))
    (tmp_path / "fasttext").mkdir()
    (tmp_path / "fasttext" / "wiki.simple.vec").write_text("2 2\na 1 2\nb 3 4\n")
    with pytest.warns(UserWarning, match="header"):
        found = mx.contrib.text.embedding.create("fasttext", embedding_root=str(tmp_path))
    assert found.get_vecs_by_tokens("b").asnumpy().tolist() == [3, 4]
    with pytest.raises(NotImplementedError, match="fastText"):
        mx.contrib.text.embedding.get_pretrained_file_names("fasttext")


def test_a_helper_that_is_missing_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"test_utils\.download_model: .* not in mxlite yet"):
        mx.test_utils.download_model("model")
