"""Modules without a file: inner paths that programs import from (`torch.nn.modules.conv`), `backends`, `version`.

And install(): the package as `torch`, so that scripts that import it run unedited.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from mxlite._install import install_as
from mxlite._public import show

#: Paths, and the modules whose names they have.
_PATHS = {
    "nn.modules": "nn",
    **{f"nn.modules.{name}": "nn" for name in """activation adaptive batchnorm container conv distance dropout flatten
       fold instancenorm lazy linear loss module normalization padding pixelshuffle pooling rnn sparse transformer
       upsampling utils""".split()},
    **{f"utils.data.{name}": "utils.data" for name in ("dataset", "dataloader", "sampler")},
    **{f"optim.{name}": "optim" for name in """optimizer sgd adam adamw adamax nadam radam adagrad adadelta rmsprop
       rprop asgd lbfgs""".split()},
    **{f"nn.utils.{name}": "nn.utils" for name in ("clip_grad", "convert_parameters", "fusion", "memory_format",
                                                   "init", "stateless")},
    "random": "", "functional": "", "serialization": "", "storage": "", "utils.hooks": "utils",
}  # fmt: skip

#: Names that only these paths have, and where they are here.
_INNER = {
    "_BatchNorm": "nn._norms._BatchNorm", "_InstanceNorm": "nn._norms._InstanceNorm", "_Loss": "nn._plain._Loss",
    "_NormBase": "nn._norms._OfChannels", "_ConvNd": "nn._linear._Convolution", "_WeightedLoss": "nn._plain._Loss",
    "_ConvTransposeNd": "nn._linear._Turned", "Optimizer": "optim.Optimizer", "Tensor": "Tensor",
    "fork_rng": "_make.generator.fork_rng", "RemovableHandle": "nn._state.RemovableHandle",
    "BackwardHook": "nn._backward_hooks.BackwardHooks",
    "consume_prefix_in_state_dict_if_present": "nn.utils.without_prefix",
    "register_optimizer_step_pre_hook": "optim._optimizer.pre_hook_of_all",
    "register_optimizer_step_post_hook": "optim._optimizer.post_hook_of_all",
}  # fmt: skip
_OF_ALL = ("forward_pre", "forward", "backward", "full_backward", "full_backward_pre")
_SIZES = {"_single": 1, "_pair": 2, "_triple": 3, "_quadruple": 4}

#: What `backends` says: there are no libraries beside ours. Names in capitals are flags, which have no effect.
_BACKENDS = {
    "cudnn": {"enabled": True, "benchmark": False, "deterministic": False, "allow_tf32": True, "is_available": False,
              "version": None},
    "cuda": {"is_built": False}, "cuda.matmul": {"allow_tf32": False}, "openmp": {"is_available": True},
    "mps": {"is_available": False, "is_built": False}, "mkl": {"is_available": False},
    "mkldnn": {"is_available": False, "enabled": True},
}  # fmt: skip


def _sized(count: int, given: Any) -> tuple:
    """A number as so many."""
    return tuple(given) if isinstance(given, Iterable) else (given,) * count


def _inner(target: str, name: str) -> Any:
    if target == "mxlite.torch.nn" and name in _SIZES:
        return partial(_sized, _SIZES[name])
    kind = name[len("register_module_") : -len("_hook")]
    if target == "mxlite.torch.nn" and name in {f"register_module_{each}_hook" for each in _OF_ALL}:
        return partial(import_module("mxlite.torch.nn._module").register_for_all, kind)
    if name in _INNER:
        module, _, name = f"mxlite.torch.{_INNER[name]}".rpartition(".")
        return getattr(import_module(module), name)
    return getattr(import_module(target), name, None)


def _make(path: str, document: str, get: Any = None, **held: Any) -> None:
    full = f"mxlite.torch.{path}"
    made = sys.modules[full] = ModuleType(full, document)
    made.__dict__.update(held, __all__=list(held))
    show(made.__dict__, get)
    parent, _, name = full.rpartition(".")
    if parent in sys.modules and not hasattr(type(sys.modules[parent]), name):
        vars(sys.modules[parent]).setdefault(name, made)


def make(version: str) -> None:
    """Makes the modules."""
    _make("version", "Which version this is.", __version__=version, cuda=None, hip=None, debug=False)
    _make("backends", "Libraries that PyTorch has beside its own: there are none here.")
    for path, names in _BACKENDS.items():
        calls = [name for name in names if name[:3] in ("is_", "ver")]
        held = {**names, **{name: partial(names.get, name) for name in calls}}
        _make(f"backends.{path}", "A library that there is not; its flags have no effect.", **held)
    for path, target in _PATHS.items():
        target = f"mxlite.torch.{target}".rstrip(".")
        _make(path, f"The names of {target}.", partial(_inner, target))


# ---- as torch ----

#: Modules that are imported on first use; under another name they would be imported a second time.
_PARTS = (
    "func", "nn.init", "nn.utils", "nn.utils.rnn", "nn.utils.parametrize", "nn.utils.parametrizations",
    "nn.utils.prune", "optim.lr_scheduler", "optim.swa_utils", "utils.data", "testing",
)  # fmt: skip


def install() -> None:
    """Puts mxlite.torch into sys.modules as `torch`, and its parts as torch.autograd, torch.nn, ...

    Raises: RuntimeError: PyTorch itself is imported already.
    """
    for name in _PARTS:
        import_module(f"mxlite.torch.{name}")
    install_as("torch", "mxlite.torch", "mxlite.torch.install")
