"""Names that modules of MXNet 1.9.1 import and do not define, which code reaches through them all the same.

`from mxnet.metric import ndarray` (in GluonTS), `mx.model.mx_real_t`, or `os` after `from mxnet.test_utils import *`.
They are found when they are asked for, and `dir` does not show them. `_public.show` asks `find` and `names`.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Any

#: Where a name leads, in whatever module it is: a module, or what a module has.
_SOURCES = {
    "array": "array",
    "collections": "OrderedDict defaultdict namedtuple",
    "contextlib": "contextmanager",
    "ctypes": "CFUNCTYPE POINTER Structure cast c_bool c_char c_char_p c_int c_void_p pointer",
    "functools": "reduce",
    "math": "cos pi sqrt",
    "multiprocessing": "current_process",
    "multiprocessing.pool": "ThreadPool",
    "mxlite.base": """
        DataIterHandle ExecutorHandle KVStoreHandle MXCallbackList MXNetError NDArrayHandle OpHandle ProfileHandle
        DLPackHandle RecordIOHandle SymbolHandle c_array c_array_buf c_handle_array c_str c_str_array check_call
        classproperty ctypes2buffer ctypes2numpy_shared integer_types mx_int mx_int64 mx_uint mx_float numeric_types
        py_str string_types with_metaclass
    """,
    "mxlite.callback": "LogValidationMetricsCallback",
    "mxlite.context": "Context cpu current_context",
    "mxlite.executor": "Executor",
    "mxlite.executor_manager": "DataParallelExecutorManager",
    "mxlite.gluon.block": "Block HybridBlock",
    "mxlite.gluon.loss": "SoftmaxCrossEntropyLoss",
    "mxlite.gluon.nn": "HybridSequential LeakyReLU Sequential",
    "mxlite.gluon.parameter": "DeferredInitializationError Parameter ParameterDict",
    "mxlite.gluon.utils": "HookHandle check_sha1 download shape_is_known",
    "mxlite.image": """
        Augmenter CastAug ColorJitterAug ColorNormalizeAug ForceResizeAug HueJitterAug ImageIter LightingAug
        RandomGrayAug RandomOrderAug ResizeAug copyMakeBorder fixed_crop
    """,
    "mxlite.initializer": "InitDesc Uniform",
    "mxlite.io": "DataBatch DataDesc DataIter",
    "mxlite.kvstore": "KVStore",
    "mxlite.metric": "Accuracy CompositeEvalMetric EvalMetric",
    "mxlite.model": "BatchEndParam load_checkpoint load_params save_checkpoint",
    "mxlite.module.base_module": "BaseModule",
    "mxlite.module.executor_group": "DataParallelExecutorGroup",
    "mxlite.module.module": "Module",
    "mxlite.name": "NameManager",
    "mxlite.ndarray": """
        NDArray adam_update cast clip concat ftml_update ftrl_update lamb_update_phase1 lamb_update_phase2 load maximum
        mp_lamb_update_phase1 mp_lamb_update_phase2 mp_nag_mom_update mp_sgd_mom_update mp_sgd_update multi_lars
        multi_mp_sgd_mom_update multi_mp_sgd_update multi_sgd_mom_update multi_sgd_update multi_sum_sq multiply
        nag_mom_update normal preloaded_multi_mp_sgd_mom_update preloaded_multi_mp_sgd_update
        preloaded_multi_sgd_mom_update preloaded_multi_sgd_update rmsprop_update rmspropalex_update sgd_mom_update
        sgd_update signsgd_update signum_update square tile zeros zeros_like
    """,
    "mxlite.optimizer": "get_updater",
    "mxlite.rnn.rnn_cell": "BaseRNNCell",
    "mxlite.runtime": "Features",
    "mxlite.symbol": "Symbol load_json",
    "mxlite.util": "get_cuda_compute_capability getenv is_np_array is_np_shape np_array np_shape set_np setenv use_np",
    "numbers": "Number",
    "threading": "Lock",
}
#: Modules: those that have their own name, those of the package, and those that have another name.
_SAME = """
    bisect bz2 collections copy ctypes errno functools gzip json logging math multiprocessing numbers numpy operator os
    pickle platform random re shutil signal struct sys tarfile threading time traceback warnings zipfile
"""
_OWN = "autograd base context image initializer io libinfo metric ndarray recordio registry symbol"
_OTHERS = {
    "CachedOp": "mxlite.symbol._cached_op:CachedOp",
    "NDabs": "mxlite.ndarray:abs",
    "NDnorm": "mxlite.ndarray:norm",
    "ctx": "mxlite.context",
    "init": "mxlite.initializer",
    "kvs": "mxlite.kvstore",
    "mx": "mxlite",
    "mx_real_t": "numpy:float32",
    "nd": "mxlite.ndarray",
    "nd_load": "mxlite.ndarray:load",
    "nd_save": "mxlite.ndarray:save",
    "np": "numpy",
    "npt": "numpy.testing",
    "opt": "mxlite.optimizer",
    "py_array": "array:array",
    "rnd": "numpy.random",
    "sym": "mxlite.symbol",
    "sym_load": "mxlite.symbol:load",
}
#: Functions of mx.sym that its module of the class has too.
_MADE_SYMBOLS = "arange eye full histogram hypot linspace maximum minimum ones pow power split_v2 zeros".split()
#: What leads elsewhere in one module.
_ELSEWHERE = {
    ("gluon.data.dataloader", "io"): "io",
    ("initializer", "random"): "mxlite.random",
    ("io.io", "array"): "mxlite.ndarray:array",
    ("io.utils", "array"): "mxlite.ndarray:array",
    **{("symbol.symbol", name): f"mxlite.symbol:{name}" for name in _MADE_SYMBOLS},
    ("optimizer.optimizer", "array"): "mxlite.ndarray:array",
    ("optimizer.optimizer", "sqrt"): "mxlite.ndarray:sqrt",
    ("test_utils", "array"): "mxlite.ndarray:array",
}

#: The names that a module of 1.9.1 without `__all__` imports: `from module import *` gives them too.
_OPEN = {
    "attribute": "classproperty defaultdict string_types threading warnings with_metaclass",
    "autograd": """
        CFUNCTYPE Lock MXCallbackList NDArray NDArrayHandle POINTER Symbol SymbolHandle array c_array
        c_array_buf c_handle_array c_int c_void_p cast check_call ctypes mx_uint string_types traceback
    """,
    "callback": "logging math save_checkpoint time",
    "context": "check_call classproperty ctypes threading warnings with_metaclass",
    "contrib.autograd": """
        NDArray NDArrayHandle array c_array c_array_buf c_handle_array check_call ctypes functools mx_uint
        string_types zeros_like
    """,
    "contrib.io": "DataDesc DataIter nd",
    "contrib.quantization": """
        Context DataBatch DataDesc DataIter Module NDArray NDArrayHandle Symbol SymbolHandle c_array c_str c_str_array
        check_call cpu ctypes logging mx_uint nd_load nd_save ndarray np os py_str shutil sym_load warnings
    """,
    "contrib.tensorboard": "logging",
    "contrib.text.embedding": "base is_np_array logging nd os registry tarfile vocab warnings zipfile",
    "contrib.text.utils": "collections re",
    "contrib.text.vocab": "collections",
    "engine": "check_call ctypes",
    "executor": """
        ExecutorHandle NDArray NDArrayHandle SymbolHandle c_array_buf c_handle_array c_str_array check_call copy
        ctypes mx_int mx_uint ndarray np py_array py_str
    """,
    "executor_manager": "DataDesc cpu logging mx_real_t nd np",
    "gluon.contrib.estimator.utils": "Accuracy CompositeEvalMetric EvalMetric SoftmaxCrossEntropyLoss",
    "gluon.data.vision.transforms": """
        Block HybridBlock HybridSequential Sequential image is_np_array np numeric_types random
    """,
    "image": "Number io is_np_array json logging nd np numeric_types os random recordio sys warnings",
    "image.detection": """
        Augmenter CastAug ColorJitterAug ColorNormalizeAug ForceResizeAug HueJitterAug ImageIter LightingAug
        RandomGrayAug RandomOrderAug ResizeAug copyMakeBorder fixed_crop io is_np_array json logging nd np
        numeric_types random warnings
    """,
    "image.image": "Number io is_np_array json logging nd np numeric_types os random recordio sys warnings",
    "initializer": """
        NDArray alias create is_np_array json load logging ndarray np random re register registry sqrt
        string_types warnings
    """,
    "io.io": """
        DataIterHandle NDArray NDArrayHandle array c_str_array check_call concat ctypes logging mx_real_t
        mx_uint namedtuple np py_str sys threading tile
    """,
    "io.utils": "NDArray OrderedDict array np",
    "libinfo": "logging os platform",
    "library": "MXNetError check_call ctypes mx_uint os sys",
    "log": "logging warnings",
    "lr_scheduler": "cos logging pi",
    "metric": "OrderedDict math ndarray numeric_types numpy registry string_types",
    "model": """
        Context DataDesc DataParallelExecutorManager LogValidationMetricsCallback Uniform cpu get_updater io kvs
        logging metric mx_real_t namedtuple nd np opt os sym time warnings
    """,
    "module": "base_module bucketing_module executor_group module python_module sequential_module",
    "module.base_module": """
        BatchEndParam DataBatch DataDesc DataIter Uniform cpu logging metric ndarray np time warnings
    """,
    "module.bucketing_module": "BaseModule Module NameManager Uniform ctx load_params logging nd np sym warnings",
    "module.executor_group": "DataDesc OrderedDict ctx logging nd",
    "module.module": """
        BaseModule DataDesc DataParallelExecutorGroup InitDesc Uniform ctx load_checkpoint logging nd opt
        warnings zeros
    """,
    "module.python_module": "BaseModule Uniform logging nd",
    "module.sequential_module": "BaseModule Uniform copy logging",
    "monitor": "NDArray NDArrayHandle ctypes logging ndarray py_str re sqrt",
    "name": "classproperty threading warnings with_metaclass",
    "notebook.callback": "datetime defaultdict time",
    "operator": """
        CFUNCTYPE Lock MXCallbackList NDArray NDArrayHandle OpHandle POINTER Structure array c_array c_array_buf
        c_bool c_char c_char_p c_int c_str c_void_p cast check_call collections context ctypes
        ctypes2numpy_shared is_np_array mx_float mx_int mx_uint pointer py_str symbol traceback warnings
    """,
    "profiler": "KVStoreHandle ProfileHandle c_str c_str_array check_call ctypes py_str warnings",
    "random": "Context check_call ctypes integer_types",
    "recordio": "RecordIOHandle c_str check_call ctypes current_process namedtuple np numbers struct",
    "registry": "json string_types warnings",
    "rnn": """
        DataBatch DataDesc DataIter bisect functools init load_checkpoint ndarray np numeric_types random
        save_checkpoint string_types symbol warnings
    """,
    "rnn.io": "DataBatch DataDesc DataIter bisect ndarray np random",
    "rnn.rnn": "BaseRNNCell load_checkpoint save_checkpoint warnings",
    "rnn.rnn_cell": "functools init ndarray numeric_types string_types symbol warnings",
    "runtime": "check_call collections ctypes",
    "test_utils": """
        Context Features OrderedDict Symbol array bz2 contextmanager create_sparse_array create_sparse_array_zd
        current_context errno get_cuda_compute_capability getenv gzip json logging mx np npt numbers os platform
        rand_sparse_ndarray rnd setenv shuffle_csr_column_indices struct sys time traceback use_np zipfile
    """,
    "util": "c_str check_call ctypes functools inspect py_str threading",
    "visualization": "Symbol copy json re warnings",
}

#: The names that another one imports, which are there when they are asked for.
_CLOSED = {
    "base": "ctypes libinfo mx_real_t os platform re sys",
    "gluon.block": """
        DeferredInitializationError HookHandle MXNetError NDArray OrderedDict Parameter ParameterDict Symbol
        autograd copy defaultdict initializer is_np_array json load_json mx_real_t ndarray np np_array np_shape
        re symbol threading warnings
    """,
    "gluon.data.dataloader": """
        ThreadPool context io is_np_array is_np_shape multiprocessing nd np pickle set_np signal sys threading
    """,
    "gluon.data.dataset": "ndarray os recordio",
    "gluon.data.vision.datasets": "base check_sha1 download image is_np_array nd np os recordio struct warnings",
    "gluon.loss": "HybridBlock is_np_array ndarray np numeric_types",
    "gluon.nn.basic_layers": "Block HybridBlock is_np_array nd np sym warnings",
    "gluon.nn.conv_layers": "HybridBlock is_np_array numeric_types symbol",
    "gluon.parameter": """
        Context MXNetError OrderedDict autograd context cpu defaultdict initializer is_np_array is_np_shape
        mx_real_t ndarray np shape_is_known symbol warnings
    """,
    "gluon.rnn.rnn_cell": "Block HybridBlock LeakyReLU ndarray numeric_types string_types symbol",
    "gluon.rnn.rnn_layer": "is_np_array ndarray",
    "gluon.trainer": "KVStore Parameter ParameterDict",
    "gluon.utils": "collections is_np_array ndarray np os sys warnings",
    "ndarray._internal": "CachedOp",
    "ndarray.op": "CachedOp",
    "ndarray.ndarray": """
        Context DLPackHandle Features NDArrayHandle c_array c_array_buf c_handle_array c_str check_call ctypes
        ctypes2buffer current_context integer_types is_np_array mx_int mx_int64 mx_real_t mx_uint np numeric_types
        operator reduce string_types warnings
    """,
    "optimizer": "NDabs",
    "optimizer.optimizer": """
        NDArray NDabs NDnorm adam_update array cast clip ftml_update ftrl_update is_np_array lamb_update_phase1
        lamb_update_phase2 logging math maximum mp_lamb_update_phase1 mp_lamb_update_phase2 mp_nag_mom_update
        mp_sgd_mom_update mp_sgd_update multi_lars multi_mp_sgd_mom_update multi_mp_sgd_update multi_sgd_mom_update
        multi_sgd_update multi_sum_sq multiply mx_real_t nag_mom_update normal numpy os pickle
        preloaded_multi_mp_sgd_mom_update preloaded_multi_mp_sgd_update preloaded_multi_sgd_mom_update
        preloaded_multi_sgd_update py_str rmsprop_update rmspropalex_update sgd_mom_update sgd_update signsgd_update
        signum_update sqrt square warnings zeros
    """,
    "symbol.symbol": """
        arange eye full histogram hypot linspace maximum minimum mx_int64 ones pow power split_v2
        Context Executor MXNetError NDArray NDArrayHandle Number c_array c_array_buf c_handle_array c_str
        c_str_array check_call ctypes current_context integer_types is_np_shape mx_int mx_uint numeric_types
        py_str string_types warnings zeros
    """,
    "autograd": "c_char_p",
    "executor": "numpy",
    "gluon.data.vision.transforms": "warnings",
    "io.io": "OrderedDict",
    "module.module": "context",
    "monitor": "math",
    "recordio": "os",
    "util": "os",
}


def names(module: str) -> list[str]:
    """The names that a module, `test_utils`, gives by `import *` besides its own."""
    return _OPEN.get(module, "").split()


@cache
def _targets() -> dict[str, str]:
    """Where each name leads, whatever module it is in."""
    return {
        **{name: f"{module}:{name}" for module, listed in _SOURCES.items() for name in listed.split()},
        **{name: name for name in _SAME.split()},
        **{name: f"mxlite.{name}" for name in _OWN.split()},
        **_OTHERS,
    }


def find(module: str, name: str) -> Any:
    """What a module of 1.9.1 has under a name that it imports; None: nothing.

    Args:
        module: its name in mxlite, `mxlite.metric`.
    """
    short = module.partition(".")[2]
    if name not in names(short) and name not in _CLOSED.get(short, "").split():
        return None
    target = _ELSEWHERE.get((short, name)) or _targets().get(name)
    if target is None:
        return None
    source, _, attribute = target.partition(":")
    if source == "mxlite":  # where it is installed as mxnet, the module that says so in its version
        installed = sys.modules.get("mxnet")
        return installed if getattr(installed, "__name__", None) == source else import_module(source)
    found = import_module(source)
    return getattr(found, attribute) if attribute else found
