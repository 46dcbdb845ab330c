"""Functions of the user's own in vmap: by their static method `vmap`, or by a rule that is made of the others."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from mxlite.autograd._transforms.levels import Level, outside


class VmapInfo(NamedTuple):
    """What a function's `vmap` is told of the map."""

    batch_size: int
    randomness: str


def output_of_batch(level: Level, cls: Any, args: tuple, apply: Callable, space: Callable) -> Any:
    """What a function makes of arguments of which some are batched at the level: batched outputs.

    Args:
        apply: Runs a class of functions on arguments, and records that.
        space: Makes a context of a class.
    Raises: RuntimeError: the class says nothing of vmap, or contradicts itself.
    """
    own = hasattr(cls, "vmap") and not getattr(cls.vmap, "_is_default", False)
    made = bool(getattr(cls, "generate_vmap_rule", False))
    if own and made:
        raise RuntimeError(f"{cls.__name__}: a Function defines vmap, or sets generate_vmap_rule, not both")
    if not own and not made:
        raise RuntimeError(f"{cls.__name__}: vmap needs a static method vmap, or generate_vmap_rule = True")
    if getattr(cls.setup_context, "_is_default", False):
        raise RuntimeError(f"{cls.__name__}: vmap needs a Function with setup_context")
    arrays = level.front_end.array_class
    pairs = [level.whole(each) if isinstance(each, arrays) else (each, False) for each in args]
    wholes, flags = [each for each, _ in pairs], [flag for _, flag in pairs]
    if made:
        with outside(level):
            result = apply(_generated(level, cls, flags, space), wholes)
        dims: Any = 0
    else:
        with outside(level):
            info = VmapInfo(level.size, level.randomness)
            result, dims = cls.vmap(info, tuple(0 if flag else None for flag in flags), *wholes)
    several = isinstance(result, tuple)
    results = result if several else (result,)
    places = dims if isinstance(dims, tuple) else (dims,) * len(results)
    outputs = tuple(
        level.batch(each.movedim(dim, 0) if dim else each, dim is not None) if isinstance(each, arrays) else each
        for each, dim in zip(results, places)
    )
    return outputs if several else outputs[0]


def _generated(level: Level, cls: Any, flags: list[bool], context: Callable) -> Any:
    """The class of functions of whole arrays that runs the methods of `cls` on batched ones."""
    arrays = level.front_end.array_class

    def again(values: Any, flags: list[bool]) -> list:
        return [level.batch(each, flag) if isinstance(each, arrays) else each for each, flag in zip(values, flags)]

    def forward(*wholes: Any) -> Any:
        with level.entered():
            output = cls.forward(*again(wholes, flags))
            several = isinstance(output, tuple)
            given = output if several else (output,)
            made = tuple(level.with_axis(each) if isinstance(each, arrays) else each for each in given)
        return made if several else made[0]

    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        inner = ctx.inner = context(cls)
        inner.needs_input_grad = ctx.needs_input_grad
        several = isinstance(output, tuple)
        with level.entered():
            given = again(output if several else (output,), [True] * (len(output) if several else 1))
            cls.setup_context(inner, tuple(again(inputs, flags)), tuple(given) if several else given[0])
            if inner.dirty_tensors:
                raise RuntimeError(f"{cls.__name__}: generate_vmap_rule does not go with mark_dirty")
            saved = [None if each is None else level.whole(each) for each in inner.to_save]
            ctx.flags = [each is not None and each[1] for each in saved]
            ctx.save_for_backward(*(None if each is None else each[0] for each in saved))
            plain = [whole for each, whole in zip(given, output if several else (output,))
                     if any(each is one for one in inner.non_differentiable)]  # fmt: skip
            ctx.mark_non_differentiable(*plain)
            ctx.set_materialize_grads(inner.materialize_grads)

    def backward(ctx: Any, *grads: Any) -> Any:
        with level.entered():
            ctx.inner.to_save = tuple(again(ctx.saved_tensors, ctx.flags))
            found = cls.backward(ctx.inner, *again(grads, [True] * len(grads)))
            found = found if isinstance(found, tuple) else (found,)
            return tuple(level.with_axis(each) if isinstance(each, arrays) else each for each in found)

    methods = {"forward": forward, "setup_context": setup_context, "backward": backward}
    space = {name: staticmethod(method) for name, method in methods.items()}
    return type(cls.__name__, (), {"generate_vmap_rule": True, **space})
