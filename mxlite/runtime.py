"""`mx.runtime`: what the library was built with, by the names of MXNet 1.9.1's features."""

from __future__ import annotations

import collections
import ctypes

from mxlite._lib import LIB, check_call
from mxlite._public import show as _show
from mxlite._public.near import did_you_mean


class Feature(ctypes.Structure):
    """One feature: its `name` and whether it is `enabled`."""

    _fields_ = [("_name", ctypes.c_char_p), ("_enabled", ctypes.c_bool)]

    @property
    def name(self) -> str:
        """The feature's name."""
        return self._name.decode()

    @property
    def enabled(self) -> bool:
        """Whether the library has it."""
        return self._enabled

    def __repr__(self) -> str:
        return f"{'✔' if self.enabled else '✖'} {self.name}"


def feature_list() -> list[Feature]:
    """Every feature that MXNet 1.9.1 names."""
    features, count = ctypes.POINTER(Feature)(), ctypes.c_size_t()
    check_call(LIB.MXLibInfoFeatures(ctypes.byref(features), ctypes.byref(count)))
    return features[: count.value]


class Features(collections.OrderedDict):
    """The features by name; there is one such object, `Features.instance`."""

    instance: Features | None = None

    def __new__(cls) -> Features:
        if cls.instance is None:
            cls.instance = super().__new__(cls)
        return cls.instance

    def __init__(self) -> None:
        super().__init__((feature.name, feature) for feature in feature_list())

    def __repr__(self) -> str:
        return str(list(self.values()))

    def is_enabled(self, feature_name: str) -> bool:
        """Whether the library has a feature; the name's case is of no matter.

        Raises:
            RuntimeError: no feature has that name.
        """
        name = feature_name.upper()
        if name not in self:
            raise RuntimeError(f"there is no feature {name!r}; there are {list(self)}{did_you_mean(name, self)}")
        return self[name].enabled


_show(globals())
