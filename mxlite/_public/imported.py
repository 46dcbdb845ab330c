"""Names that modules of MXNet 1.9.1 import and do not define, which code reaches through them all the same.

`from mxnet.metric import ndarray` (in GluonTS), `mx.model.mx_real_t`. They are found when they are asked for, and are
not among a module's public names. `_public.show` asks `find`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: Where a name leads, in whatever module it is: a module, or what a module has.
_SOURCES = {
    "collections": "OrderedDict defaultdict namedtuple",
    "contextlib": "contextmanager",
    "ctypes": "CFUNCTYPE POINTER Structure c_bool c_char c_char_p c_int c_void_p pointer",
    "functools": "reduce",
    "math": "cos pi sqrt",
    "multiprocessing.pool": "ThreadPool",
    "mxlite.base": """
        MXNetError NDArrayHandle OpHandle c_array c_array_buf c_handle_array c_str c_str_array check_call integer_types
        mx_int mx_uint mx_float numeric_types py_str string_types
    """,
    "mxlite.callback": "LogValidationMetricsCallback",
    "mxlite.context": "Context cpu current_context",
    "mxlite.executor": "Executor",
    "mxlite.gluon.block": "Block HybridBlock",
    "mxlite.gluon.nn": "LeakyReLU",
    "mxlite.gluon.parameter": "DeferredInitializationError Parameter ParameterDict",
    "mxlite.gluon.utils": "HookHandle check_sha1 download shape_is_known",
    "mxlite.initializer": "Uniform",
    "mxlite.io": "DataDesc DataIter",
    "mxlite.kvstore": "KVStore",
    "mxlite.ndarray": "NDArray zeros",
    "mxlite.optimizer": "get_updater",
    "mxlite.runtime": "Features",
    "mxlite.symbol": "Symbol load_json",
    "mxlite.util": "getenv is_np_array is_np_shape np_array np_shape set_np setenv use_np",
    "numbers": "Number",
    "threading": "Lock",
}
_MODULES = {
    **{
        name: name
        for name in "collections copy ctypes json logging math multiprocessing numbers numpy operator os".split()
    },
    **{name: name for name in "pickle platform random re signal struct sys threading time traceback warnings".split()},
    **{name: f"mxlite.{name}" for name in "autograd base context image initializer io libinfo metric".split()},
    **{name: f"mxlite.{name}" for name in "ndarray recordio registry symbol".split()},
    **{"ctx": "mxlite.context", "mx": "mxlite", "nd": "mxlite.ndarray", "np": "numpy", "npt": "numpy.testing"},
    **{"opt": "mxlite.optimizer", "rnd": "numpy.random", "sym": "mxlite.symbol"},
}
_OTHERS = {"NDabs": "mxlite.ndarray:abs", "NDnorm": "mxlite.ndarray:norm", "mx_real_t": "numpy:float32"}
_TARGETS = {
    **{name: f"{module}:{name}" for module, names in _SOURCES.items() for name in names.split()},
    **_MODULES,
    **_OTHERS,
}
#: What leads elsewhere in one module.
_ELSEWHERE = {
    ("gluon.data.dataloader", "io"): "io",
    ("symbol.symbol", "zeros"): "mxlite.symbol:zeros",
}

#: The names that a module of 1.9.1 imports.
_IMPORTED = {
    "attribute": "defaultdict string_types threading warnings",
    "autograd": """
        CFUNCTYPE Lock NDArray NDArrayHandle POINTER Symbol c_array c_array_buf c_char_p c_handle_array c_int c_void_p
        check_call ctypes mx_uint string_types traceback
    """,
    "base": "ctypes libinfo mx_real_t os platform re sys",
    "context": "check_call ctypes threading warnings",
    "contrib.autograd": """
        NDArray NDArrayHandle c_array c_array_buf c_handle_array check_call ctypes mx_uint string_types
    """,
    "engine": "check_call ctypes",
    "executor": """
        NDArray NDArrayHandle c_array_buf c_handle_array c_str_array check_call copy ctypes mx_int mx_uint ndarray np
        numpy py_str
    """,
    "gluon.block": """
        DeferredInitializationError HookHandle MXNetError NDArray OrderedDict Parameter ParameterDict Symbol autograd
        copy defaultdict initializer is_np_array json load_json mx_real_t ndarray np np_array np_shape re symbol
        threading warnings
    """,
    "gluon.data.dataloader": """
        ThreadPool context io is_np_array is_np_shape multiprocessing nd np pickle set_np signal sys threading
    """,
    "gluon.data.dataset": "ndarray os recordio",
    "gluon.data.vision.datasets": """
        base check_sha1 download image is_np_array nd np os recordio struct warnings
    """,
    "gluon.data.vision.transforms": "Block HybridBlock image is_np_array numeric_types warnings",
    "gluon.loss": "HybridBlock is_np_array ndarray np numeric_types",
    "gluon.nn.basic_layers": "Block HybridBlock is_np_array nd np sym warnings",
    "gluon.nn.conv_layers": "HybridBlock is_np_array numeric_types symbol",
    "gluon.parameter": """
        Context MXNetError OrderedDict autograd context cpu defaultdict initializer is_np_array is_np_shape mx_real_t
        ndarray np shape_is_known symbol warnings
    """,
    "gluon.rnn.rnn_cell": "Block HybridBlock LeakyReLU ndarray numeric_types string_types symbol",
    "gluon.rnn.rnn_layer": "is_np_array ndarray",
    "gluon.trainer": "KVStore Parameter ParameterDict",
    "gluon.utils": "collections is_np_array ndarray np os sys warnings",
    "image": "Number io is_np_array json logging nd np numeric_types os random recordio sys warnings",
    "initializer": "is_np_array json logging ndarray np re registry sqrt string_types warnings",
    "io": "",
    "io.io": """
        NDArray NDArrayHandle OrderedDict c_str_array check_call ctypes logging mx_real_t mx_uint namedtuple np py_str
        sys threading
    """,
    "kvstore": "",
    "lr_scheduler": "cos logging pi",
    "metric": "OrderedDict math ndarray numeric_types numpy registry string_types",
    "model": """
        Context DataDesc LogValidationMetricsCallback Uniform cpu get_updater io logging metric mx_real_t nd np opt os
        sym time warnings
    """,
    "module.base_module": "DataIter logging metric ndarray np time warnings",
    "module.module": "context ctx logging nd warnings zeros",
    "monitor": "NDArray NDArrayHandle ctypes logging math ndarray py_str re sqrt",
    "name": "threading warnings",
    "ndarray.ndarray": """
        Context Features NDArrayHandle c_array c_array_buf c_handle_array c_str check_call ctypes current_context
        integer_types is_np_array mx_int mx_real_t mx_uint np numeric_types operator reduce string_types warnings
    """,
    "operator": """
        CFUNCTYPE Lock NDArrayHandle OpHandle POINTER Structure c_array c_array_buf c_bool c_char c_char_p c_int
        c_void_p check_call collections context ctypes is_np_array mx_float mx_int mx_uint pointer py_str symbol
        traceback warnings
    """,
    "optimizer": "NDabs",
    "optimizer.optimizer": """
        NDArray NDabs NDnorm is_np_array logging math mx_real_t numpy os pickle py_str warnings zeros
    """,
    "profiler": "c_str c_str_array check_call ctypes py_str",
    "random": "ctypes integer_types",
    "recordio": "c_str check_call ctypes namedtuple numbers np os struct",
    "runtime": "collections ctypes",
    "symbol.symbol": """
        Context Executor MXNetError NDArray NDArrayHandle Number c_array c_array_buf c_handle_array c_str c_str_array
        check_call ctypes current_context integer_types is_np_shape mx_int mx_uint numeric_types py_str string_types
        warnings zeros
    """,
    "test_utils": """
        Context Features OrderedDict Symbol contextmanager current_context getenv json logging mx np npt numbers os
        platform rnd setenv struct sys time traceback use_np
    """,
    "util": "c_str check_call ctypes functools inspect os py_str threading",
    "visualization": "Symbol copy json re warnings",
}
_IMPORTED["image.image"] = _IMPORTED["image"]


def names(module: str) -> list[str]:
    """The names that a module of 1.9.1, `test_utils`, imports."""
    return _IMPORTED[module].split()


def find(module: str, name: str) -> Any:
    """What a module of 1.9.1 has under a name that it imports; None: nothing.

    Args:
        module: its name in mxlite, `mxlite.metric`.
    """
    short = module.partition(".")[2]
    if name not in _IMPORTED.get(short, "").split():
        return None
    target = _ELSEWHERE.get((short, name)) or _TARGETS.get(name)
    if target is None:
        return None
    source, _, attribute = target.partition(":")
    found = import_module(source)
    return getattr(found, attribute) if attribute else found
