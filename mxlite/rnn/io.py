"""Sentences as batches of numbers, for a language model: each batch has sentences of about one length."""

from __future__ import annotations

import bisect
import logging
import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mxlite import ndarray
from mxlite._public import show
from mxlite.error import WrongValueError
from mxlite.io import DataBatch, DataDesc, DataIter

__all__ = ["BucketSentenceIter", "encode_sentences"]


def encode_sentences(
    sentences: Iterable[Iterable[Any]],
    vocab: dict[Any, int] | None = None,
    invalid_label: int = -1,
    invalid_key: Any = "\n",
    start_label: int = 0,
    unknown_token: Any = None,
) -> tuple[list[list[int]], dict[Any, int]]:
    """Numbers for the words of sentences.

    Args:
        vocab: the number of each word; None: words are numbered from `start_label` on, without `invalid_label`.
        invalid_label: the number of padding, `invalid_key` in a new vocabulary.
        unknown_token: the word for words that are not in `vocab`, which gets a number if it has none; None: such a
            word is an error.

    Returns: a list of numbers for each sentence, and the vocabulary, which is `vocab` itself if there is one.

    Raises: ValueError: a word is not in `vocab`.
    """
    known = {invalid_key: invalid_label} if vocab is None else vocab
    new, taken = start_label, set(known.values()) if vocab is not None else set()

    def number(word: Any) -> int:
        nonlocal new
        if word not in known:
            if vocab is not None and not unknown_token:
                raise WrongValueError(f"encode_sentences: {word!r} is not in vocab, and there is no unknown_token")
            word = unknown_token or word
        if word not in known:
            while new == invalid_label or new in taken:
                new += 1
            known[word] = new
            new += 1
        return known[word]

    return [[number(word) for word in sentence] for sentence in sentences], known


class BucketSentenceIter(DataIter):
    """Batches of sentences, each filled up to the length of its bucket; the labels are the next words.

    A batch has data and label of shape (batch, length), and the length as `bucket_key`. Sentences and the order of
    batches are shuffled by Python's and NumPy's random generators. Of each bucket what does not fill a batch is left
    out.

    Args:
        sentences: lists of numbers, as `encode_sentences` makes them.
        buckets: lengths; None: all lengths that `batch_size` sentences have. Longer sentences are left out.
        invalid_label: the number that sentences are filled up with.
        layout: "NT", or "TN" for shape (length, batch).

    Raises: ValueError: no sentence fits into a bucket; `batch_size` or `layout` is not allowed.
    """

    def __init__(
        self,
        sentences: Iterable[Sequence[float]],
        batch_size: int,
        buckets: list[int] | None = None,
        invalid_label: int = -1,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: Any = "float32",
        layout: str = "NT",
    ) -> None:
        super().__init__()
        if batch_size < 1:
            raise WrongValueError(f"BucketSentenceIter: batch_size is at least 1, not {batch_size}")
        if layout not in ("NT", "TN"):
            raise WrongValueError(f"BucketSentenceIter: layout is 'NT' or 'TN', not {layout!r}")
        sentences = list(sentences)
        if not buckets:
            counts = np.bincount([len(each) for each in sentences]) if sentences else []
            buckets = [length for length, count in enumerate(counts) if length and count >= batch_size]
        buckets = sorted(buckets)
        rows: list[list] = [[] for _ in buckets]
        for sentence in sentences:
            bucket = bisect.bisect_left(buckets, len(sentence))
            if bucket < len(buckets):
                row = np.full((buckets[bucket],), invalid_label, dtype=dtype)
                row[: len(sentence)] = sentence
                rows[bucket].append(row)
        longer = len(sentences) - sum(map(len, rows))
        if longer:
            logging.warning("BucketSentenceIter: left out %d sentences longer than the largest bucket", longer)
        if longer == len(sentences):
            raise WrongValueError(
                f"BucketSentenceIter: none of {len(sentences)} sentences fits into a bucket, which are {buckets}"
            )
        self.batch_size = batch_size
        self.buckets = [length for length, found in zip(buckets, rows) if found]
        self.data = [np.asarray(found, dtype=dtype) for found in rows if found]
        self.data_name, self.label_name = data_name, label_name
        self.dtype = dtype
        self.invalid_label = invalid_label
        self.layout = layout
        self.major_axis = layout.find("N")
        self.default_bucket_key = max(self.buckets)
        shape = (batch_size, self.default_bucket_key) if layout == "NT" else (self.default_bucket_key, batch_size)
        self.provide_data = [DataDesc(data_name, shape, layout=layout)]
        self.provide_label = [DataDesc(label_name, shape, layout=layout)]
        #: Of each batch the bucket, and the first row there.
        self.idx = [
            (bucket, first)
            for bucket, found in enumerate(self.data)
            for first in range(0, len(found) - batch_size + 1, batch_size)
        ]
        self.curr_idx = 0
        self.reset()

    def reset(self) -> None:
        """Begins anew, in another order."""
        self.curr_idx = 0
        random.shuffle(self.idx)
        self.nddata, self.ndlabel = [], []
        for data in self.data:
            np.random.shuffle(data)
            label = np.full_like(data, self.invalid_label)
            label[:, :-1] = data[:, 1:]
            self.nddata.append(ndarray.array(data, dtype=self.dtype))
            self.ndlabel.append(ndarray.array(label, dtype=self.dtype))

    def next(self) -> DataBatch:
        """The next batch. Raises StopIteration: there is none."""
        if self.curr_idx == len(self.idx):
            raise StopIteration
        bucket, first = self.idx[self.curr_idx]
        self.curr_idx += 1
        data, label = (each[bucket][first : first + self.batch_size] for each in (self.nddata, self.ndlabel))
        if self.layout == "TN":
            data, label = data.T, label.T
        return DataBatch(
            [data],
            [label],
            pad=0,
            bucket_key=self.buckets[bucket],
            provide_data=[DataDesc(self.data_name, data.shape, layout=self.layout)],
            provide_label=[DataDesc(self.label_name, label.shape, layout=self.layout)],
        )


show(globals())
