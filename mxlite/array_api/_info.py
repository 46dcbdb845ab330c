"""What the library says of itself to who asks by the standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.array_api._dtypes import DTYPES, FLOAT, INT, isdtype, require_device
from mxlite.context import Context, current_context


class NamespaceInfo:
    """What `__array_namespace_info__()` gives."""

    def capabilities(self) -> dict[str, Any]:
        """Masks as keys and results whose shape depends on values are there, up to 32 axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> Context:
        """The current context."""
        return current_context()

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype]:
        """float32 and int64."""
        require_device(device)
        return {"real floating": FLOAT, "integral": INT, "indexing": INT}

    def devices(self) -> list[Context]:
        """The CPU."""
        return [Context("cpu")]

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype]:
        """The standard's dtypes that the library has, of a kind."""
        require_device(device)
        return {
            name: dtype
            for name, dtype in DTYPES.items()
            if name != "float16" and (kind is None or isdtype(dtype, kind))
        }
