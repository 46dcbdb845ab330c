"""Vectors of tokens, read from files: GloVe's, fastText's, and others with a token and numbers on each line."""

from __future__ import annotations

import os
from typing import Any, Callable

import numpy as np

from mxlite import ndarray as nd
from mxlite import registry as _registry
from mxlite._public import show as _show
from mxlite._public.near import did_you_mean
from mxlite.base import data_dir
from mxlite.contrib.text import vocab
from mxlite.contrib.text._files import read_vectors
from mxlite.error import MXNotImplementedError, WrongStateError, WrongTypeError, WrongValueError
from mxlite.ndarray import NDArray
from mxlite.ndarray._kinds import as_kind, as_mode

__all__ = [
    "CompositeEmbedding",
    "CustomEmbedding",
    "FastText",
    "GloVe",
    "create",
    "get_pretrained_file_names",
    "register",
]

#: Where files of known embeddings are looked for.
_ROOT = os.path.join(data_dir(), "embeddings")


class _TokenEmbedding(vocab.Vocabulary):
    """A vocabulary with a vector for each token."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._vec_len = 0
        self._idx_to_vec: NDArray | None = None

    @property
    def vec_len(self) -> int:
        """The length of a vector."""
        return self._vec_len

    @property
    def idx_to_vec(self) -> NDArray | None:
        """The vectors, of shape (tokens, length), by their tokens' indices."""
        return as_mode(self._idx_to_vec)

    def _load(self, path: str, delimiter: str, encoding: str, init_unknown_vec: Callable) -> None:
        tokens, vectors, of_unknown = read_vectors(path, delimiter, encoding, self.unknown_token)
        self._vec_len = len(vectors[0])
        rows = dict(zip(tokens, vectors))
        for token in tokens:
            if token not in self._token_to_idx:
                self._token_to_idx[token] = len(self._idx_to_token)
                self._idx_to_token.append(token)
        if of_unknown is None:
            of_unknown = init_unknown_vec(shape=self._vec_len).asnumpy()
        self._idx_to_vec = nd.array(np.stack([rows.get(token, of_unknown) for token in self._idx_to_token]))

    def _take_vocabulary(self, vocabulary: vocab.Vocabulary | None, *sources: _TokenEmbedding) -> None:
        """Keeps the vectors of a vocabulary's tokens alone, those of all sources side by side."""
        if vocabulary is None:
            return
        if not isinstance(vocabulary, vocab.Vocabulary):
            raise WrongTypeError(f"vocabulary must be a Vocabulary, got {type(vocabulary).__name__}")
        found = as_kind([each.get_vecs_by_tokens(vocabulary.idx_to_token) for each in sources], NDArray)
        self._idx_to_vec = nd.concat(*found, dim=1)
        self._vec_len = self._idx_to_vec.shape[1]
        self._unknown_token = vocabulary.unknown_token
        self._reserved_tokens = None if vocabulary.reserved_tokens is None else list(vocabulary.reserved_tokens)
        self._idx_to_token = list(vocabulary.idx_to_token)
        self._token_to_idx = dict(vocabulary.token_to_idx)

    def get_vecs_by_tokens(self, tokens: str | list[str], lower_case_backup: bool = False) -> NDArray:
        """The vector of a token, or the vectors of a list, of shape (tokens, length).

        Args:
            lower_case_backup: look for an unknown token in lower case too.
        """
        indices = []
        for token in tokens if isinstance(tokens, list) else [tokens]:
            if lower_case_backup and token not in self._token_to_idx:
                token = token.lower()
            indices.append(self._token_to_idx.get(token, 0))
        if self._idx_to_vec is None:
            raise WrongStateError("the embedding has no vectors yet")
        rows = nd.take(self._idx_to_vec, nd.array(indices))
        return as_mode(rows if isinstance(tokens, list) else rows[0])

    def update_token_vectors(self, tokens: str | list[str], new_vectors: NDArray) -> None:
        """Sets the vectors of tokens.

        Args:
            new_vectors: of shape (tokens, length); for one token (length,) too.

        Raises: TypeError: no NDArray; MXNetError: there are no vectors yet; ValueError: another shape, or a token is
            not there.
        """
        if self._idx_to_vec is None:
            raise WrongStateError("the embedding has no vectors yet")
        one = not isinstance(tokens, list) or len(tokens) == 1
        names = tokens if isinstance(tokens, list) else [tokens]
        if not isinstance(new_vectors, NDArray) or new_vectors.ndim not in ((1, 2) if one else (2,)):
            raise WrongTypeError("new_vectors must be an NDArray of two axes, or for one token of one")
        new_vectors = as_kind(new_vectors, NDArray)
        if new_vectors.ndim == 1:
            new_vectors = new_vectors.expand_dims(0)
        if new_vectors.shape != (len(names), self.vec_len):
            raise WrongValueError(
                f"new_vectors must have the shape {(len(names), self.vec_len)}, they have {new_vectors.shape}"
            )
        for token in names:
            if token not in self._token_to_idx:
                raise ValueError(
                    f"the token {token!r} is unknown; the vector of such tokens is that of {self.unknown_token!r}"
                )
        self._idx_to_vec[nd.array([self._token_to_idx[token] for token in names])] = new_vectors


_register = _registry.get_register_func(_TokenEmbedding, "token embedding")
_create = _registry.get_create_func(_TokenEmbedding, "token embedding")


def register(embedding_cls: type) -> type:
    """Registers a class of embeddings under its name for `create`; a decorator."""
    return _register(embedding_cls)


def create(embedding_name: str, **kwargs: Any) -> Any:
    """An embedding of a registered class: "glove", "fasttext", or one's own."""
    return _create(embedding_name, **kwargs)


class _Known(_TokenEmbedding):
    """Vectors that a project has published; the file must be there."""

    def __init__(
        self,
        file_name: str,
        root: str,
        init_unknown_vec: Callable,
        vocabulary: vocab.Vocabulary | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        kind = type(self).__name__.lower()
        path = os.path.join(os.path.expanduser(root), kind, file_name)
        if not os.path.isfile(path):
            raise MXNotImplementedError(f"{type(self).__name__}: mxlite downloads no files; put {file_name} at {path}")
        self._load(path, " ", "utf8", init_unknown_vec)
        self._take_vocabulary(vocabulary, self)


_GLOVE = [
    *(f"glove.{words}.txt" for words in ("42B.300d", "6B.50d", "6B.100d", "6B.200d", "6B.300d", "840B.300d")),
    *(f"glove.twitter.27B.{length}d.txt" for length in (25, 50, 100, 200)),
]


@register
class GloVe(_Known):
    """GloVe's vectors, from a file in `embedding_root`/glove.

    Raises: KeyError: none of GloVe's files; NotImplementedError: it is not there, and mxlite downloads none.
    """

    def __init__(
        self,
        pretrained_file_name: str = "glove.840B.300d.txt",
        embedding_root: str = _ROOT,
        init_unknown_vec: Callable = nd.zeros,
        vocabulary: vocab.Vocabulary | None = None,
        **kwargs: Any,
    ) -> None:
        if pretrained_file_name not in _GLOVE:
            meant = did_you_mean(pretrained_file_name, _GLOVE)
            raise KeyError(f"{pretrained_file_name} is none of GloVe's files: {', '.join(_GLOVE)}{meant}")
        super().__init__(pretrained_file_name, embedding_root, init_unknown_vec, vocabulary, **kwargs)


@register
class FastText(_Known):
    """fastText's vectors, from a file in `embedding_root`/fasttext.

    Raises: NotImplementedError: it is not there, and mxlite downloads none.
    """

    def __init__(
        self,
        pretrained_file_name: str = "wiki.simple.vec",
        embedding_root: str = _ROOT,
        init_unknown_vec: Callable = nd.zeros,
        vocabulary: vocab.Vocabulary | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(pretrained_file_name, embedding_root, init_unknown_vec, vocabulary, **kwargs)


class CustomEmbedding(_TokenEmbedding):
    """The vectors of a file: on each line a token and numbers, with `elem_delim` between them.

    Args:
        init_unknown_vec: makes the vector of the unknown token, where the file has none.
        vocabulary: the tokens to keep; None: all.
        kwargs: for Vocabulary.

    Raises: ValueError: there is no such file, or a line that is not as the others.
    """

    def __init__(
        self,
        pretrained_file_path: str,
        elem_delim: str = " ",
        encoding: str = "utf8",
        init_unknown_vec: Callable = nd.zeros,
        vocabulary: vocab.Vocabulary | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._load(pretrained_file_path, elem_delim, encoding, init_unknown_vec)
        self._take_vocabulary(vocabulary, self)


class CompositeEmbedding(_TokenEmbedding):
    """The vectors of several embeddings, side by side, for the tokens of a vocabulary.

    Raises: TypeError: no vocabulary, or no embeddings.
    """

    def __init__(self, vocabulary: vocab.Vocabulary, token_embeddings: Any) -> None:
        super().__init__()
        embeddings = token_embeddings if isinstance(token_embeddings, list) else [token_embeddings]
        if vocabulary is None or not all(isinstance(each, _TokenEmbedding) for each in embeddings):
            raise WrongTypeError("CompositeEmbedding takes a Vocabulary and a token embedding or a list of them.")
        self._take_vocabulary(vocabulary, *embeddings)


def get_pretrained_file_names(embedding_name: str | None = None) -> Any:
    """The files of "glove"; None: a dictionary of the lists of all embeddings. mxlite has no list of fastText's.

    Raises: KeyError: another name; NotImplementedError: "fasttext".
    """
    if embedding_name is None:
        return {"glove": list(_GLOVE), "fasttext": []}
    if embedding_name == "fasttext":
        raise MXNotImplementedError("mxlite has no list of fastText's files: see https://fasttext.cc")
    if embedding_name != "glove":
        raise KeyError(f"there is no embedding {embedding_name!r}, but glove and fasttext.")
    return list(_GLOVE)


_show(globals())
