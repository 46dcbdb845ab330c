"""Calls of C functions by their names, for checks of those that Apache's package itself does not call."""

import ctypes as c

import mxnet as mx

LIBRARY = mx.base._LIB
HANDLE, UINT, TEXT = c.c_void_p, c.c_uint32, c.c_char_p


def call(name, *arguments):
    """Calls a function of the library; its error is an exception."""
    status = getattr(LIBRARY, name)(*arguments)
    if status != 0:
        LIBRARY.MXGetLastError.restype = TEXT
        raise mx.MXNetError(LIBRARY.MXGetLastError().decode(errors="replace"))


def handles(*arrays):
    return (HANDLE * max(len(arrays), 1))(*(each.handle if each is not None else None for each in arrays))


def texts(*strings):
    return (TEXT * max(len(strings), 1))(*(each.encode() for each in strings))


def uints(*numbers):
    return (UINT * max(len(numbers), 1))(*numbers)


def shapes(**named):
    """The number, names, starts and sizes of shapes, as functions of graphs take them."""
    starts, sizes = [0], []
    for shape in named.values():
        sizes += shape
        starts.append(len(sizes))
    return UINT(len(named)), texts(*named), uints(*starts), uints(*sizes)


def new(handle):
    """An array of the package for a handle that is owned by the caller."""
    return mx.nd.NDArray(HANDLE(handle.value if isinstance(handle, HANDLE) else handle))
