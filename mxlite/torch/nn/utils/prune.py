"""`torch.nn.utils.prune`: weights of which a mask makes parts 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mxlite._public import show as _show
from mxlite.torch._calls import functions as _functions
from mxlite.torch._math.norms import vector_norm as _vector_norm
from mxlite.torch._nodes import unrecorded as _unrecorded
from mxlite.torch._tensor import Tensor
from mxlite.torch.nn._module import Module
from mxlite.torch.nn.utils.parametrizations import Older as _Older


def _count(amount: float, size: int) -> int:
    """How many of so many an amount is: a number, or a part from 0 to 1. Raises: ValueError: it is neither."""
    if not (0 <= amount <= 1 if isinstance(amount, float) else 0 <= amount <= size):
        raise ValueError(f"prune: amount is a part from 0 to 1, or a number up to {size}, got {amount}")
    return round(amount * size) if isinstance(amount, float) else amount


class BasePruningMethod(_Older):
    """A forward pre-hook that multiplies a weight by a mask; a subclass has compute_mask(t, default_mask).

    PRUNING_TYPE: "unstructured": elements that are 0 already are left out of `t`; "structured", "global": it is whole.
    """

    PRUNING_TYPE = "global"
    name = _tensor_name = ""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for importances `t`."""
        raise NotImplementedError(f"{type(self).__name__}: a pruning method defines compute_mask")

    def compute(self, module: Module) -> Tensor:  # noqa: D102
        return getattr(module, f"{self.name}_orig") * getattr(module, f"{self.name}_mask")

    @classmethod
    def apply(  # type: ignore[override] # as PyTorch's
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prunes a parameter, or prunes further what is pruned; returns the hook."""
        made = cls(*args, **kwargs)
        made.name = made._tensor_name = name
        known = next((hook for hook, _ in module._forward_pre_hooks.values() if _is_of(hook, name)), None)
        original = getattr(module, f"{name}_orig") if known else module._parameters[name]
        with _unrecorded():
            before = getattr(module, f"{name}_mask") if known else _functions["ones_like"](original)
            scores = original.detach() if importance_scores is None else importance_scores
            mask = before.clone()
            if cls.PRUNING_TYPE == "unstructured":
                left = before != 0
                mask[left] = made.compute_mask(scores[left], default_mask=before[left])
            else:
                mask = made.compute_mask(scores * before, default_mask=before) * before
        if known is None:
            module.register_buffer(f"{name}_mask", mask)
            _Older.apply(made, module, {"_orig": original}, {})
        else:
            setattr(module, f"{name}_mask", mask)
            setattr(module, name, made.compute(module))
        return made


def _is_of(hook: Any, name: str) -> bool:
    return isinstance(hook, BasePruningMethod) and name in (hook.name, "")


class _Some(BasePruningMethod):
    """Prunes the elements of the lowest scores, or at random."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        self.amount = amount

    def _scores(self, t: Tensor) -> Tensor:
        return t.abs()

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:  # noqa: D102
        count, mask = _count(self.amount, t.numel()), default_mask.clone()
        mask.view(-1)[self._scores(t).reshape(-1).topk(count, largest=False).indices] = 0
        return mask


class L1Unstructured(_Some):
    """Prunes the smallest elements."""


class RandomUnstructured(_Some):
    """Prunes elements at random."""

    def _scores(self, t: Tensor) -> Tensor:
        return _functions["rand_like"](t)


class Identity(_Some):
    """Prunes nothing."""

    def __init__(self) -> None:
        super().__init__(0)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask."""

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:  # noqa: D102
        return default_mask * self.mask.to(default_mask.dtype)


class LnStructured(BasePruningMethod):
    """Prunes the parts along a dimension whose norm of order n is the smallest."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, n: float, dim: int = -1) -> None:
        self.amount, self.n, self.dim = amount, n, dim

    def _scores(self, t: Tensor) -> Tensor:
        return _vector_norm(t, self.n, tuple(axis for axis in range(t.ndim) if axis != self.dim % t.ndim))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:  # noqa: D102
        scores, mask = self._scores(t), default_mask.clone()
        scores = scores.masked_fill(~mask.transpose(0, self.dim).flatten(1).any(1), float("inf"))
        left = int((scores != float("inf")).sum())
        mask.transpose(0, self.dim)[scores.topk(_count(self.amount, left), largest=False).indices] = 0
        return mask


class RandomStructured(LnStructured):
    """Prunes parts along a dimension at random."""

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount, 1, dim)

    def _scores(self, t: Tensor) -> Tensor:
        return _functions["rand"](t.shape[self.dim])


def _function(cls: type[BasePruningMethod], document: str) -> Any:
    def prune(module: Module, name: str, *args: Any, **kwargs: Any) -> Module:
        cls.apply(module, name, *args, **kwargs)
        return module

    prune.__doc__ = f"{document}; returns the module."
    return prune


identity = _function(Identity, "Has a mask of ones")
random_unstructured = _function(RandomUnstructured, "Prunes elements at random: (module, name, amount)")
l1_unstructured = _function(L1Unstructured, "Prunes the smallest elements: (module, name, amount)")
random_structured = _function(RandomStructured, "Prunes parts at random: (module, name, amount, dim)")
ln_structured = _function(LnStructured, "Prunes the parts of the smallest norms: (module, name, amount, n, dim)")
custom_from_mask = _function(CustomFromMask, "Prunes by a mask: (module, name, mask)")


def global_unstructured(
    parameters: Iterable[tuple[Module, str]], pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None, **kwargs: Any,
) -> None:  # fmt: skip
    """Prunes parameters, pairs of a module and a name, as if they were one."""
    pairs, given = list(parameters), importance_scores or {}
    with _unrecorded():
        found = [given.get(each, getattr(*each).detach()) for each in pairs]
        masks = [
            getattr(module, f"{name}_mask", _functions["ones_like"](each)) for (module, name), each in zip(pairs, found)
        ]
        flat, before = (_functions["cat"]([each.reshape(-1) for each in all_of]) for all_of in (found, masks))
        left, mask = before != 0, before.clone()
        mask[left] = pruning_method(**kwargs).compute_mask(flat[left], before[left])
    for (module, name), each, part in zip(pairs, found, mask.split([each.numel() for each in found])):
        custom_from_mask(module, name, part.reshape(each.shape))


def remove(module: Module, name: str) -> Module:
    """Makes the pruned weight a parameter again, as it is. Raises: ValueError: it is not pruned."""
    return BasePruningMethod.remove(module, name, ("_orig", "_mask"))


def is_pruned(module: Module) -> bool:
    """Whether the module, or one within it, has pruned weights."""
    return any(_is_of(hook, "") for each in module.modules() for hook, _ in each._forward_pre_hooks.values())


_show(globals())
