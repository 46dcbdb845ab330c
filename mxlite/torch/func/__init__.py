"""`torch.func`: derivatives of functions as functions, functions of batches, and modules as functions of parameters.

Arguments and results are tensors, or trees of them (tuples, lists, dicts). The function runs recorded, once, on tensors
of its own; all derivatives are differentiable themselves, by each other and by backward.
"""

from __future__ import annotations

from typing import Any, Callable

from mxlite._public import show as _show
from mxlite.autograd._transforms.batches import mapped as _mapped
from mxlite.autograd._transforms.run import Run
from mxlite.autograd._transforms.trees import flatten, same_structure
from mxlite.torch._basic import zeros_of
from mxlite.torch._calls import functions
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._nodes import unrecorded
from mxlite.torch._shape.parts import stack
from mxlite.torch._tensor import Tensor, full_of
from mxlite.torch.func._functional_call import functional_call

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize"]
__all__ += ["stack_module_state", "vjp", "vmap"]


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """(func(*primals), a function of gradients of the outputs that gives those of the primals, a tuple), and aux.

    Args:
        has_aux: Whether func returns (output, aux), of which aux is not differentiated.
    Raises: RuntimeError: a result is no tensor; the returned function: gradients have another structure or shape.
    """
    run = Run(FRONT_END, func, primals, has_aux, "vjp")

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        if not same_structure(cotangents, run.tree):
            raise RuntimeError("vjp: gradients have the structure of the outputs, these have another")
        heads = flatten(cotangents)[0]
        for head, output in zip(heads, run.outputs):
            if head.shape != output.shape:
                raise RuntimeError(f"vjp: a gradient has shape {list(head.shape)}, its output {list(output.shape)}")
        return run.build(run.pull(run.outputs, heads))

    return (run.output(), pull, *run.aux)


def jvp(func: Callable, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> tuple:
    """(func(*primals), how that changes when the primals move along the tangents), and aux.

    Args:
        strict: Whether an output that does not depend on the primals is an error; else its tangent is zeros.
    Raises: RuntimeError: there is no tuple of primals, or the tangents have another structure or shape.
    """
    if not isinstance(primals, tuple) or not flatten(primals)[0]:
        raise RuntimeError("jvp: primals is a tuple with at least one tensor")
    if not same_structure(primals, tangents):
        raise RuntimeError("jvp: tangents have the structure of the primals, these have another")
    moves = flatten(tangents)[0]
    for primal, move in zip(flatten(primals)[0], moves):
        if primal.shape != move.shape:
            raise RuntimeError(f"jvp: a tangent has shape {list(move.shape)}, its primal {list(primal.shape)}")
    run = Run(FRONT_END, func, primals, has_aux, "jvp")
    return (run.output(), run.build_output(run.pusher(strict)(moves)), *run.aux)


def linearize(func: Callable, *primals: Any) -> tuple[Any, Callable]:
    """(func(*primals), a function of tangents of the primals that gives those of the outputs), func being run once."""
    run = Run(FRONT_END, func, primals, False, "linearize")
    push = run.pusher()

    def move(*tangents: Any) -> Any:
        if not same_structure(primals, tangents):
            raise RuntimeError("linearize: tangents have the structure of the primals, these have another")
        return run.build_output(push(flatten(tangents)[0]))

    return run.output(), move


def _chosen(func: Callable, argnums: Any, args: tuple, kwargs: dict) -> tuple[Callable, tuple, Callable]:
    """The function of the arguments that `argnums` names, these arguments, and how a result for them is returned."""
    several = isinstance(argnums, tuple)
    numbers = argnums if several else (argnums,)
    for number in numbers:
        if not isinstance(number, int):
            raise RuntimeError(f"argnums is an int or a tuple of ints, got {type(number).__name__}")
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"argnums has {number}, but there are {len(args)} positional arguments")
    places = [number % len(args) for number in numbers]
    if len(set(places)) != len(places) or not places:
        raise RuntimeError(f"argnums names arguments, each once, got {argnums}")

    def run(*given: Any) -> Any:
        left = dict(zip(places, given))
        return func(*(left.get(place, each) for place, each in enumerate(args)), **kwargs)

    return run, tuple(args[place] for place in places), lambda made: made if several else made[0]


def grad_and_value(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """A function that gives (the gradients of func, what func returns), of a function whose result has no dimensions.

    Args:
        argnums: The arguments that are differentiated, an int or a tuple of ints.
        has_aux: Whether func returns (output, aux); then so is the value.
    Raises: RuntimeError: the result is no tensor without dimensions.
    """

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen, primals, returned = _chosen(func, argnums, args, kwargs)
        run = Run(FRONT_END, chosen, primals, has_aux, "grad")
        if not isinstance(run.tree, Tensor) or run.tree.ndim:
            what = f"one of {run.tree.ndim}" if isinstance(run.tree, Tensor) else type(run.tree).__name__
            raise RuntimeError(f"grad: the function returns a tensor without dimensions, got {what}")
        found = run.build(run.pull(run.outputs, [full_of((), 1, run.tree._dtype)]))
        return returned(found), (run.output(), *run.aux) if has_aux else run.output()

    return wrapper


def grad(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """A function that gives the gradients of func, or (the gradients, aux); arguments are those of grad_and_value."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


def _each(like: Tensor, function: Callable, others: list, dims: list, chunk_size: int | None = None) -> list:
    """What a function makes of zeros with a one at each element of `like`, together, a list of tensors; in the places
    of `like`'s dimensions, in front (`dims` 0) or behind those of the others, whose shapes are `others`' shapes."""
    count = like.numel()
    shapes = [(*each.shape[:dim], *like.shape, *each.shape[dim:]) for each, dim in zip(others, dims)]
    if not count:
        return [zeros_of(shape, each._dtype) for shape, each in zip(shapes, others)]
    basis = functions["eye"](count, dtype=like._dtype).reshape((count, *like.shape))
    found = _mapped(FRONT_END, function, 0, tuple(dims), "different", chunk_size)(basis)
    return [part.reshape(shape) for part, shape in zip(found, shapes)]


def jacrev(
    func: Callable, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None, **_: Any
) -> Callable:
    """A function that gives the Jacobian of func, by rows: a backward for all elements of an output together.

    Returns: for each output a tree of the arguments that `argnums` names, of tensors with the shape of the output, then
        that of the argument.

    Args:
        chunk_size: How many rows are computed together; None: all.
    """
    _require_chunk("jacrev", chunk_size)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen, primals, returned = _chosen(func, argnums, args, kwargs)
        run = Run(FRONT_END, chosen, primals, has_aux, "jacrev")
        made = []
        for output in run.outputs:
            pull = lambda head, output=output: tuple(run.pull([output], [head]))  # noqa: E731
            columns = _each(output, pull, run.inputs, [0] * len(run.inputs), chunk_size)
            made.append(returned(run.build(columns)))
        found = run.build_output(made)
        return (found, *run.aux) if has_aux else found

    return wrapper


def jacfwd(func: Callable, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error") -> Callable:
    """A function that gives the Jacobian of func, all columns of an argument together; shapes are those of jacrev.

    Args:
        randomness: Has no effect: func runs once.
    """

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen, primals, returned = _chosen(func, argnums, args, kwargs)
        run = Run(FRONT_END, chosen, primals, has_aux, "jacfwd")
        push, columns = run.pusher(), []
        for number, each in enumerate(run.inputs):
            still: list = [None] * len(run.inputs)
            before, behind = still[:number], still[number + 1 :]
            move = lambda tangent, a=before, b=behind: tuple(push([*a, tangent, *b]))  # noqa: E731
            columns.append(_each(each, move, run.outputs, [output.ndim for output in run.outputs]))
        made = [returned(run.build(column[o] for column in columns)) for o in range(len(run.outputs))]
        found = run.build_output(made)
        return (found, *run.aux) if has_aux else found

    return wrapper


def hessian(func: Callable, argnums: Any = 0) -> Callable:
    """A function that gives the Hessian of func: the Jacobian, column by column, of its Jacobian, row by row."""
    return jacfwd(jacrev(func, argnums), argnums)


def _require_chunk(name: str, chunk_size: int | None) -> None:
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"{name}: chunk_size is None or above 0, got {chunk_size}")


def vmap(
    func: Callable,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """A function that applies func to all parts of its arguments along a dimension, and stacks the results.

    func runs once, on tensors that stand for all parts, without that dimension. Their values are not one part's, so
    that `item()` and branches on them are errors. An operator without a rule for batches runs part by part, with a
    warning.

    Args:
        in_dims: The dimension of the parts of all arguments, or a tuple (a tree) of one for each; None: the argument is
            given whole, as are keyword arguments.
        out_dims: Where the results have that dimension; None: they do not depend on it.
        randomness: What random functions do: "error", or "different" or the "same" numbers for each part.
        chunk_size: How many parts are computed together; None: all.
    Raises: ValueError: dimensions do not fit the arguments or results, or there are no parts; RuntimeError: a random
        function is called with randomness="error".
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"vmap: randomness is 'error', 'different' or 'same', got {randomness!r}")
    _require_chunk("vmap", chunk_size)
    return _mapped(FRONT_END, func, in_dims, out_dims, randomness, chunk_size)


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of modules of one class, by name, each stacked along a new first dimension.

    What requires a gradient is a new leaf. With vmap over functional_call it runs all modules at once.

    Raises: RuntimeError: there are none, of several classes, or some are in training and some not.
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: there are no models")
    if any(type(each) is not type(models[0]) for each in models):
        raise RuntimeError("stack_module_state: models have one class")
    if any(each.training != models[0].training for each in models):
        raise RuntimeError("stack_module_state: models are all in training, or all in evaluation")

    def stacked(members: list[dict]) -> dict[str, Tensor]:
        made = {}
        for name, first in members[0].items():
            if any(each[name].requires_grad != first.requires_grad for each in members):
                raise RuntimeError(f"stack_module_state: '{name}' requires a gradient in some models")
            with unrecorded():
                made[name] = stack([each[name] for each in members])
            made[name].requires_grad_(first.requires_grad)
        return made

    return stacked([dict(each.named_parameters()) for each in models]), stacked(
        [dict(each.named_buffers()) for each in models]
    )


_show(globals())
