"""Types that the stubs of generated functions (tools/make_pyi.py) speak of; nothing imports it when a program runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, SupportsIndex, Union

import numpy as np

__all__ = ["Bounds", "DType", "Integer", "Number", "Shape", "Values"]

#: A Python or NumPy integer.
Integer = SupportsIndex
#: A Python or NumPy number.
Number = Union[float, "np.number[Any]", np.bool_]
#: An array of NumPy's.
Values = np.ndarray[Any, Any]
#: An extent or axis, or several.
Shape = Union[SupportsIndex, Sequence[SupportsIndex]]
#: Bounds of a slice, some of which may be open.
Bounds = Union[SupportsIndex, Sequence[Optional[SupportsIndex]]]
#: What NumPy takes as a dtype of the library's.
DType = Union[str, "type[Any]", "np.dtype[Any]"]
