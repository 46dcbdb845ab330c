"""What the library has to tell that is no error goes to the log "mxlite", which by itself writes it to stderr."""

from __future__ import annotations

import ctypes
import importlib
import sys
from typing import Any

from mxlite._lib import LIB, check_call, lasting


def _told(line: bytes, module: Any = importlib.import_module, ends: Any = sys.is_finalizing) -> None:
    """Called by the library, on any thread. `logging` is imported when there is something to say."""
    if not ends():
        module("logging").getLogger("mxlite").warning("%s", line.decode())


_NOTICE = lasting(ctypes.CFUNCTYPE(None, ctypes.c_char_p)(_told))
check_call(LIB.MXLSetNotice(ctypes.cast(_NOTICE, ctypes.c_void_p)))
