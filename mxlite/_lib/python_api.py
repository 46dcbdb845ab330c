"""Python's C API by ctypes, and two functions of the library for ends of Python's objects.

Objects may end while an exception is on its way, and a ctypes callback would lose it, or end the process: so what is
called then is the library's.
"""

from __future__ import annotations

import ctypes
from typing import Any

from mxlite._lib import LIB, check_call, lasting

API = ctypes.pythonapi
#: Of MXLPythonFunctions, in its order.
_NAMES = (
    "Py_IsInitialized PyGILState_Ensure PyGILState_Release PyErr_Fetch PyErr_Restore Py_DecRef"
    " PyCapsule_GetName PyCapsule_GetPointer"
).split()
_functions = lasting((ctypes.c_void_p * len(_NAMES))(*(ctypes.cast(API[name], ctypes.c_void_p) for name in _NAMES)))
check_call(LIB.MXLSetPython(_functions))

#: An MXLReleaseFunction, for a payload that `hold` gave; a destructor of DLPack's capsules.
RELEASE, END_CAPSULE = LIB.address("MXLPythonRelease"), LIB.address("MXLPythonEndCapsule")


def hold(thing: Any) -> int:
    """Adds a reference to an object, which RELEASE drops; the object's payload."""
    API.Py_IncRef(ctypes.py_object(thing))
    return id(thing)
