"""What becomes of calls with certain arguments here: asked of mxlite by making such a call, on the smallest arrays.

A probe is told a call's arguments, as far as they are plain from the text, and runs what the program would run; if that
raises, the program stops there, with the same words. Nothing is said of arguments that nobody knows.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import warnings
from typing import Any, Callable, NamedTuple

from mxlite._cli._names.known import bare
from mxlite._cli._names.values import UNKNOWN


class Call(NamedTuple):
    """A call's plain arguments."""

    given: list[Any]
    named: dict[str, Any]

    def get(self, name: str, position: int | None = None) -> Any:
        """An argument, or None where it is not given, or nobody knows it."""
        value = self.named.get(name)
        if value is None and position is not None and position < len(self.given) and "*" not in self.named:
            value = self.given[position]
        return None if value is UNKNOWN else value


class Outcome(NamedTuple):
    """Why a call fails here, and what helps."""

    error: Exception
    helps: str = ""  #: an option of `mxlite run`
    when: str = ""  #: what else it needs


#: What runs a program for GPUs.
ON_THE_CPU = "--cpu"


def _fails(*parts: Any, helps: str = "") -> Outcome | None:
    """Runs a probe, remembered by its arguments: the outcome if it raises."""
    try:
        error = _error(*parts)
    except TypeError:  # an argument that has no hash: a dict
        error = _error.__wrapped__(*parts)
    return None if error is None else Outcome(error, helps)


@functools.cache
def _error(probe: Callable[..., Any], *arguments: Any) -> Exception | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            probe(*arguments)
    except Exception as error:
        return bare(error)
    return None


def _mx(name: str) -> Any:
    return importlib.import_module(f"mxlite.{name}")


# ---- MXNet: devices ----


def _array_on(device: str, number: int) -> None:
    import mxlite as mx

    mx.nd.zeros((1,), ctx=mx.Context(device, number))


def _gpu(call: Call) -> Outcome | None:
    number = call.get("device_id", 0)
    return _fails(_array_on, "gpu", number if isinstance(number, int) and number > 0 else 0, helps=ON_THE_CPU)


def _context(call: Call) -> Outcome | None:
    kind = call.get("device_type", 0)
    return _fails(_array_on, kind, 0, helps=ON_THE_CPU) if isinstance(kind, str) and kind.startswith("gpu") else None


def _device_text(call: Call) -> Outcome | None:
    """`ctx="gpu(0)"` of any call."""
    for name in ("ctx", "context", "device"):
        if str(call.get(name)).startswith("gpu"):
            return _fails(_array_on, "gpu", 0, helps=ON_THE_CPU)
    return None


def _gpu_memory(call: Call) -> Outcome | None:
    return _fails(_mx("context").gpu_memory_info, 0, helps=ON_THE_CPU)


# ---- MXNet: stores ----


def _create(call: Call) -> Outcome | None:
    kind = call.get("name", 0)
    return _fails(_mx("kvstore").create, kind) if isinstance(kind, str) and not _of_workers(kind) else None


def _of_workers(kind: str) -> bool:
    """Whether making a store looks for other workers, which is none of a reader's business; without MPI it fails."""
    several = kind.lower() in ("dist", "dist_sync", "dist_device_sync", "dist_sync_device")
    return several and importlib.util.find_spec("mpi4py") is not None


def _trained(kind: str, compression: str, contexts: int) -> None:
    """A step of a Trainer on one context, or several."""
    import mxlite as mx

    parameter = mx.gluon.Parameter("probe", shape=(1,))
    parameter.initialize(ctx=[mx.cpu(each) for each in range(contexts)])
    named = {"compression_params": {"type": compression}} if compression else {}
    trainer = _mx("gluon").Trainer([parameter], "sgd", kvstore=kind, **named)
    with mx.autograd.record():
        losses = [each * 2 for each in parameter.list_data()]
    mx.autograd.backward(losses)
    trainer.step(1)


def _store_of(name_at: int | None, compression_at: int | None) -> Callable[[Call], Outcome | None]:
    """A probe of what takes `kvstore=` and `compression_params=`: Trainer, Module, its `fit`."""

    def probe(call: Call) -> Outcome | None:
        kind, compression = call.get("kvstore", name_at), call.get("compression_params", compression_at)
        text = compression.get("type", "2bit") if isinstance(compression, dict) and compression else ""
        text = "2bit" if text is UNKNOWN else text
        kind = kind if isinstance(kind, str) and not _of_workers(kind) else "device"
        if kind == "device" and not text:
            return None
        outcome, several = _fails(_trained, kind, text, 1), _fails(_trained, kind, text, 2)
        return outcome or (several and several._replace(when="with several contexts"))

    return probe


def _compressing(call: Call) -> Outcome | None:
    return _fails(lambda: _mx("kvstore").create("local").set_gradient_compression({"type": "2bit"}))


# ---- MXNet: other back ends ----


def _optimize_for(call: Call) -> Outcome | None:
    """A symbol's method takes the back end first, a block's behind an input."""
    backend = call.get("backend", 0)
    if isinstance(backend, str) and not ("backend" in call.named and call.given):
        return _fails(lambda: _mx("symbol").var("probe").optimize_for(backend))
    backend = call.get("backend", 1)
    if not isinstance(backend, str):
        return None
    return _fails(lambda: _mx("gluon").nn.Dense(1).optimize_for(_mx("ndarray").zeros((1, 1)), backend=backend))


#: The probe of each function and class, by its canonical name (`Known.canonical`), and of each method, by ".name": a
#: method is looked up by its name alone, because the class of its object is seldom known.
MXNET: dict[str, Callable[[Call], Outcome | None]] = {
    "context.gpu": _gpu,
    "context.Context": _context,
    "context.gpu_memory_info": _gpu_memory,
    "kvstore.kvstore.create": _create,
    "gluon.trainer.Trainer": _store_of(3, 4),
    "module.module.Module": _store_of(None, None),
    ".fit": _store_of(None, None),
    ".init_optimizer": _store_of(0, None),
    ".set_gradient_compression": _compressing,
    ".optimize_for": _optimize_for,
    "*": _device_text,
}


# ---- PyTorch ----


def _tensor_on(device: str) -> None:
    importlib.import_module("mxlite.torch").zeros(1, device=device)


def _cuda(call: Call) -> Outcome | None:
    return _fails(_tensor_on, "cuda", helps=ON_THE_CPU)


def _moved(call: Call) -> Outcome | None:
    return _on(call.get("device", 0))


def _on(device: Any) -> Outcome | None:
    if isinstance(device, str) and device.partition(":")[0] in ("cuda", "mps", "xpu", "xla", "hip", "mtia", "meta"):
        return _fails(_tensor_on, device, helps=ON_THE_CPU if device.startswith("cuda") else "")
    return None


def _torch_device_text(call: Call) -> Outcome | None:
    return _on(call.get("device"))


TORCH: dict[str, Callable[[Call], Outcome | None]] = {
    ".cuda": _cuda,
    ".to": _moved,
    "torch._kinds.device": _moved,
    "*": _torch_device_text,
}
PROBES = {"mxnet": MXNET, "torch": TORCH}
