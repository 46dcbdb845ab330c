"""`mx.contrib.text`: counts of tokens, vocabularies, and vectors of tokens from files."""

from mxlite._public import show as _show
from mxlite.contrib.text import embedding, utils, vocab

__all__ = ["embedding", "utils", "vocab"]

_show(globals())
