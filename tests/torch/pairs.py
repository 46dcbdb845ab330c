"""Pairs of features: each of pair_features.py alone and one after the other, in each context in which saved values are
kept in another form. `check_pairs.py` runs them on PyTorch and on mxlite.torch.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from compare import builtin, numbers_of
from pair_features import FEATURES, Kept, Retained, variable

ORDERS = 3


# ---- contexts ----


def _under_hooks(pack: Callable, unpack: Callable) -> Callable:
    def context(torch: Any, run: Callable, x: Any) -> Any:
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: unpack(torch, kept)):
            return run(x)

    return context


def _numpy(torch: Any, kept: Any) -> Any:
    return torch.tensor(kept.tolist(), dtype=getattr(torch, str(kept.dtype)))


def _checkpointed(**options: Any) -> Callable:
    def context(torch: Any, run: Callable, x: Any) -> Any:
        from importlib import import_module

        return import_module(f"{torch.__name__}.utils.checkpoint").checkpoint(run, x, **options)

    return context


def _nested(*contexts: Callable) -> Callable:
    def context(torch: Any, run: Callable, x: Any) -> Any:
        for inner in reversed(contexts[1:]):
            run = _within(torch, inner, run)
        return contexts[0](torch, run, x)

    return context


def _within(torch: Any, context: Callable, run: Callable) -> Callable:
    return lambda x: context(torch, run, x)


def _offloaded(torch: Any, run: Callable, x: Any) -> Any:
    """Saved values lie as bytes in another place."""
    store: list[tuple[bytes, Any, Any]] = []

    def pack(tensor: Any) -> int:
        values = tensor.detach().numpy()
        store.append((values.tobytes(), values.dtype, values.shape))
        return len(store) - 1

    def unpack(torch: Any, place: int) -> Any:
        content, dtype, shape = store[place]
        return torch.from_numpy(np.frombuffer(content, dtype).reshape(shape).copy())

    return _under_hooks(pack, unpack)(torch, run, x)


_identity = _under_hooks(lambda t: t, lambda torch, kept: kept)
_clone = _under_hooks(lambda t: t.detach().clone(), lambda torch, kept: kept)
_through_numpy = _under_hooks(lambda t: t.detach().numpy().copy(), _numpy)
_checkpoint = _checkpointed(use_reentrant=False)
_reentrant = _checkpointed(use_reentrant=True)

CONTEXTS: dict[str, Callable] = {
    "plain": lambda torch, run, x: run(x),
    "identity": _identity,
    "numpy": _through_numpy,
    "clone": _clone,
    "offloaded": _offloaded,
    "checkpoint": _checkpoint,
    "checkpoint to its end": _checkpointed(use_reentrant=False, early_stop=False),
    "reentrant": _reentrant,
    "checkpoint in checkpoint": _nested(_checkpoint, _checkpoint),
    "hooks in checkpoint": _nested(_checkpoint, _clone),
    "checkpoint in hooks": _nested(_clone, _checkpoint),
    "hooks in hooks": _nested(_through_numpy, _identity),
    "reentrant in checkpoint": _nested(_checkpoint, _reentrant),
    "checkpoint in reentrant": _nested(_reentrant, _checkpoint),
    "reentrant in hooks": _nested(_clone, _reentrant),
    "reentrant in reentrant": _nested(_reentrant, _reentrant),
}


# ---- outcomes ----


def _chained(torch: Any, names: tuple[str, ...], log: list) -> Callable:
    def run(x: Any) -> Any:
        for name in names:
            x = FEATURES[name](torch, x, log)
        return x

    return run


def _noted(log: list) -> list:
    """What was logged; of tensors that were to retain their gradients, these."""
    found = [("retained", numbers_of(each.tensor.grad)) if isinstance(each, Retained) else each for each in log]
    return [each for each in found if not isinstance(each, Kept)]


class Ended(str):
    """The class of an error, as text; with its message."""

    message = ""

    @staticmethod
    def by(problem: Exception) -> Ended:
        made = Ended(f"error {builtin(problem)}")
        made.message = str(problem)
        return made


def _derivatives(torch: Any, names: tuple[str, ...], context: str) -> tuple[list, list]:
    """Value and derivatives of each order, or the error that ended them; and what was noted."""
    found: list = []
    log: list = []
    x = variable(torch, 0.5, 0.8, 1.3)
    try:
        y = CONTEXTS[context](torch, _chained(torch, names, log), x)
        for _ in range(ORDERS):
            found.append((numbers_of(y), y.requires_grad))
            if not y.requires_grad:
                break
            (y,) = torch.autograd.grad((y * y).sum(), x, create_graph=True, allow_unused=True)
            if y is None:
                break
        found.append(None if y is None else (numbers_of(y), y.requires_grad))
    except Exception as problem:  # noqa: BLE001 - its class is the result
        found.append(Ended.by(problem))
    return found, _noted(log)


def _added_up(torch: Any, names: tuple[str, ...], context: str) -> tuple[Any, list]:
    """What backward() adds up, and what was noted."""
    log: list = []
    x = variable(torch, 0.5, 0.8, 1.3)
    x.register_post_accumulate_grad_hook(lambda x: log.append(("accumulated", numbers_of(x.grad))))
    try:
        y = CONTEXTS[context](torch, _chained(torch, names, log), x)
        (y * y).sum().backward()
    except Exception as problem:  # noqa: BLE001
        return Ended.by(problem), _noted(log)
    return numbers_of(x.grad), _noted(log)


def outcome(torch: Any, names: tuple[str, ...], context: str) -> dict[str, Any]:
    """What a chain of features comes to in a context: derivatives, what backward adds up, and what each noted."""
    derivatives, noted = _derivatives(torch, names, context)
    added_up, noted_then = _added_up(torch, names, context)
    return {"derivatives": derivatives, "noted": noted, "added up": added_up, "noted then": noted_then}


def chains() -> list[tuple[str, ...]]:
    """Each feature alone, and each after each."""
    names = list(FEATURES)
    return [*((name,) for name in names), *((first, second) for first in names for second in names)]
