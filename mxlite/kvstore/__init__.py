"""Stores of parameters and gradients by key: `mx.kv.create("local")`."""

from mxlite._public import show as _show
from mxlite.kvstore import base, kvstore
from mxlite.kvstore.base import KVStoreBase
from mxlite.kvstore.kvstore import KVStore, create

__all__ = ["KVStore", "KVStoreBase", "base", "create", "kvstore"]

_show(globals())
