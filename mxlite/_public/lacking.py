"""Why a name of MXNet 1.9.1 is not here, and what does its work."""

from __future__ import annotations

from fnmatch import fnmatchcase

_FRONT_END = "it is a part of 1.9.1's own front end"
_QUANTIZED = "recurrent layers of bytes are not in mxlite; cast to float16 (net.cast('float16')) where size counts"

_COMPLEX = "it takes or gives complex numbers, of which mxlite has no dtype"

#: Patterns of names, behind the module's without "mxlite."; the reason, and what to write. The first that fits.
_REASONS = (
    ("array_api.complex64 array_api.complex128", "mxlite has no complex dtypes"),
    ("array_api.linalg.eig array_api.linalg.eigvals", _COMPLEX),
    ("array_api.int* array_api.uint*", "the engine has no such dtype"),
    ("np_symbol", "symbols of mx.np are made by mx.sym.np"),
    (
        "ndarray.contrib.uniform symbol.contrib.uniform",
        "random.uniform, and that of mx.np and mx.sym.np, draw the same",
    ),
    ("rtc rtc.* tvmop", "there is no GPU to compile kernels for; mx.operator.CustomOp runs code of yours"),
    ("th", "it called Lua's Torch; mx.operator.CustomOp runs code of yours"),
    ("*.quantize_asym *.quantized_rnn", _QUANTIZED),
    ("*.contrib.count_sketch", "1.9.1 has it on GPUs alone"),
    ("ndarray.imdecode ndarray.*.imdecode", "mx.image.imdecode reads images"),
    ("*.contrib.backward_*", "backward is made of other operators here"),
    ("kvstore.KVStoreServer kvstore.kvstore_server", "workers sum among themselves here: `mxlite help distributed`"),
    ("ndarray.gen_* symbol.gen_* *.register *.utils api misc space cython *_doc", _FRONT_END),
    ("ndarray.get_* ndarray.indexing_* ndarray.ndarray.get_* ndarray.ndarray.indexing_*", _FRONT_END),
)


def reason(module: str, name: str) -> str:
    """Why a module of the package lacks a name that it has in 1.9.1; "" where that is not known.

    Args:
        module: `mxlite`, `mxlite.ndarray.contrib`.
    """
    full = f"{module}.{name}".partition(".")[2]
    for patterns, why in _REASONS:
        if any(fnmatchcase(full, pattern) for pattern in patterns.split()):
            return why
    return ""
