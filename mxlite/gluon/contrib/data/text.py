"""Data sets of text for language models: WikiText-2 and WikiText-103."""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np

from mxlite import ndarray
from mxlite._public import show
from mxlite.gluon.data import _files, dataset
from mxlite.ndarray._kinds import as_mode

_END = "<eos>"


class _WikiText(dataset._DownloadedDataset):
    """Samples (tokens, the same one further), both of seq_len numbers (int32) of a vocabulary."""

    _namespace = ""
    _archive = ("", "")
    #: The file of each segment and its SHA-1.
    _segments: dict[str, tuple[str, str]] = {}

    def __init__(self, root: str, segment: str, vocab: Any, seq_len: int) -> None:
        self._segment = segment
        self._seq_len = seq_len
        self._vocab = vocab
        self._counter: Any = None
        super().__init__(root, None)

    @property
    def vocabulary(self) -> Any:
        """The mx.contrib.text.vocab.Vocabulary that numbers the tokens."""
        return self._vocab

    @property
    def frequencies(self) -> Any:
        """How often each token occurs, a collections.Counter."""
        return self._counter

    def _get_data(self) -> None:
        file = self._segments[self._segment]
        _files.unpacked(self._namespace, self._archive, [file], self._root)
        with open(os.path.join(self._root, file[0]), encoding="utf-8") as opened:
            content = opened.read()
        text = importlib.import_module("mxlite.contrib.text")
        self._counter = text.utils.count_tokens_from_str(content)
        if self._vocab is None:
            self._vocab = text.vocab.Vocabulary(counter=self._counter, reserved_tokens=[_END])
        lines = (line.split() for line in content.splitlines())
        tokens = [token for line in lines if line for token in (*line, _END)]
        numbers = np.array(self._vocab.to_indices(tokens), np.int32)
        count = max(len(numbers) - 1, 0) // self._seq_len
        rows = [numbers[first : first + count * self._seq_len].reshape(count, self._seq_len) for first in (0, 1)]
        # mx.nd has no array of no samples.
        self._data, self._label = as_mode([ndarray.array(each, dtype=np.int32) for each in rows] if count else rows)


class WikiText2(_WikiText):
    """WikiText-2 (Merity et al. 2016): 2 million words of Wikipedia.

    Args:
        root: the folder with wiki.train.tokens, wiki.valid.tokens and wiki.test.tokens, or wikitext-2-v1.zip; the
            archive is downloaded where they are missing.
        segment: "train", "validation" or "test".
        vocab: a vocabulary; None: one is made of the segment.
        seq_len: tokens in a sample.
    Raises: MXNetError: a file is missing and the download fails. KeyError: an unknown segment.
    """

    _namespace = "wikitext-2"
    _archive = ("wikitext-2-v1.zip", "3c914d17d80b1459be871a5039ac23e752a53cbe")
    _segments = {
        "train": ("wiki.train.tokens", "863f29c46ef9d167fff4940ec821195882fe29d1"),
        "validation": ("wiki.valid.tokens", "0418625c8b4da6e4b5c7a0b9e78d4ae8f7ee5422"),
        "test": ("wiki.test.tokens", "c7b8ce0aa086fb34dab808c5c49224211eb2b172"),
    }

    def __init__(
        self,
        root: str = _files.folder_of("wikitext-2"),
        segment: str = "train",
        vocab: Any = None,
        seq_len: int = 35,
    ) -> None:
        super().__init__(root, segment, vocab, seq_len)


class WikiText103(_WikiText):
    """WikiText-103 (Merity et al. 2016): 103 million words of Wikipedia. Arguments and errors: see WikiText2."""

    _namespace = "wikitext-103"
    _archive = ("wikitext-103-v1.zip", "0aec09a7537b58d4bb65362fee27650eeaba625a")
    _segments = {
        "train": ("wiki.train.tokens", "b7497e2dfe77e72cfef5e3dbc61b7b53712ac211"),
        "validation": ("wiki.valid.tokens", "c326ac59dc587676d58c422eb8a03e119582f92b"),
        "test": ("wiki.test.tokens", "8a5befc548865cec54ed4273cf87dbbad60d1e47"),
    }

    def __init__(
        self,
        root: str = _files.folder_of("wikitext-103"),
        segment: str = "train",
        vocab: Any = None,
        seq_len: int = 35,
    ) -> None:
        super().__init__(root, segment, vocab, seq_len)


show(globals())
