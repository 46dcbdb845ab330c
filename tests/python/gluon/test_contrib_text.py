"""gluon.contrib.data.text, with files of our own in place of those of WikiText; expected are the answers of 1.9.1."""

from __future__ import annotations

import hashlib
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite.gluon.contrib.data import text

pytestmark = pytest.mark.one_binding
CONTENT = "  a  b\tc a \n\n x <eos> <unk>\n"


@pytest.fixture(params=["WikiText2", "WikiText103"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A data set, whose files may be any."""
    pytest.importorskip("mxlite.contrib.text")
    monkeypatch.setattr(mx.gluon.utils, "check_sha1", lambda *_: True)
    return getattr(text, request.param)


def test_samples(kind: Any, tmp_path: Path) -> None:
    (tmp_path / "wiki.train.tokens").write_text(CONTENT, encoding="utf-8")
    found = kind(str(tmp_path), seq_len=3)
    assert found.frequencies == Counter({"a": 2, "b\tc": 1, "x": 1, "<eos>": 1, "<unk>": 1})
    assert found.vocabulary.idx_to_token == ["<unk>", "<eos>", "a", "b\tc", "x"]
    assert len(found) == 2 and len(kind(str(tmp_path), seq_len=100)) == 0
    data, label = (np.stack([each[i].asnumpy() for each in (found[0], found[1])]) for i in (0, 1))
    assert data.tolist() == [[2, 0, 0], [2, 1, 4]] and label.tolist() == [[0, 0, 2], [1, 4, 1]]
    assert data.dtype == label.dtype == np.int32
    with pytest.raises(IndexError):
        found[2]


@pytest.mark.parametrize(("segment", "name"), [("train", "train"), ("validation", "valid"), ("test", "test")])
def test_segments_and_a_given_vocabulary(kind: Any, segment: str, name: str, tmp_path: Path) -> None:
    (tmp_path / f"wiki.{name}.tokens").write_text(CONTENT, encoding="utf-8")
    vocabulary = mx.contrib.text.vocab.Vocabulary(Counter({"a": 1}))
    found = kind(str(tmp_path), segment, vocabulary, 3)
    assert found.vocabulary is vocabulary and found[0][0].asnumpy().tolist() == [1, 0, 0]


def test_an_archive_is_unpacked(kind: Any, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / kind._archive[0], "w") as packed:
        packed.writestr("wikitext/wiki.test.tokens", CONTENT)
    assert len(kind(str(tmp_path), "test", seq_len=3)) == 2


def test_bad_arguments(kind: Any, tmp_path: Path) -> None:
    (tmp_path / "wiki.train.tokens").write_text(CONTENT, encoding="utf-8")
    with pytest.raises(KeyError, match="foo"):
        kind(str(tmp_path), "foo")
    with pytest.raises(ZeroDivisionError):
        kind(str(tmp_path), seq_len=0)


@pytest.mark.parametrize("name", ["WikiText2", "WikiText103"])
@pytest.mark.parametrize("there", [False, True])
def test_a_missing_file_is_named(name: str, there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(*_: Any, **__: Any) -> None:
        raise OSError("no network")

    monkeypatch.setattr(mx.gluon.utils, "download", download)
    if there:  # but it is another one
        (tmp_path / "wiki.train.tokens").write_text(CONTENT, encoding="utf-8")
        assert hashlib.sha1(CONTENT.encode()).hexdigest() not in str(getattr(text, name)._segments)
    with pytest.raises(mx.MXNetError, match=r"wikitext-\d+-v1.zip is missing in the folder .*no network") as error:
        getattr(text, name)(str(tmp_path))
    assert str(tmp_path) in str(error.value)
