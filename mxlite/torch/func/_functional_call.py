"""functional_call: a module with other tensors in the place of its parameters and buffers, for one call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mxlite.torch._tensor import Tensor

if TYPE_CHECKING:
    from mxlite.torch.nn._module import Module


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """module(*args, **kwargs) with tensors in the place of parameters and buffers, which are back afterwards.

    Args:
        parameter_and_buffer_dicts: A dict of tensors by dotted name, or a sequence of such dicts. What the module sets
            in the place of one of its tensors is in the dict afterwards.
        args: A tuple of arguments, or one argument.
        tie_weights: Whether a tensor also stands under the other names of what it replaces.
        strict: Whether each parameter and buffer must be given, and nothing else.
    Raises: ValueError: no dict, or a name is in several; TypeError: what is given is no tensor; RuntimeError: `strict`.
    """
    several = isinstance(parameter_and_buffer_dicts, (tuple, list))
    dicts = parameter_and_buffer_dicts if several else [parameter_and_buffer_dicts]
    if not all(isinstance(each, dict) for each in dicts):
        raise ValueError("functional_call: takes a dict of tensors by name, or a tuple or list of dicts")
    given = {name: value for each in dicts for name, value in each.items()} if several else dicts[0]
    if len(given) != sum(map(len, dicts)):
        raise ValueError("functional_call: a name is in several of the dicts")
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, given, tie_weights, strict):
        return module(*arguments, **(kwargs or {}))


@contextmanager
def _replaced(module: Module, given: dict[str, Any], tie_weights: bool, strict: bool) -> Iterator[None]:
    for value in given.values():
        if not isinstance(value, Tensor):
            raise TypeError(f"functional_call: takes tensors, got {type(value).__name__}")
    places: dict[str, tuple[dict, str]] = {}
    for kind in ("_parameters", "_buffers"):
        for path, each in module.named_modules(remove_duplicate=False):
            members = each.__dict__[kind]
            places.update({f"{path}.{name}" if path else name: (members, name) for name in members})
    known = {name for name, (members, key) in places.items() if members[key] is not None}
    old = {name: places[name][0][places[name][1]] for name in places}
    tied = {id(old[name]): value for name, value in given.items() if name in known} if tie_weights else {}
    chosen = {name: given.get(name, tied.get(id(old[name]))) for name in known}
    if strict and (given.keys() - known or None in chosen.values()):
        lacking = sorted(name for name, value in chosen.items() if value is None)
        raise RuntimeError(
            f"functional_call: strict=True: not given: {lacking}; not in the module: {sorted(given.keys() - known)}"
        )
    if tie_weights and any(
        name in given and given[name] is not tied[id(old[name])] for name in known if id(old[name]) in tied
    ):
        raise ValueError("functional_call: one parameter has several names, and these are given several values")
    try:
        for name, value in chosen.items():
            if value is not None:
                members, key = places[name]
                members[key] = value
        yield
    finally:
        for name, (members, key) in places.items():
            if name in given and key in members:
                given[name] = members[key]
            members[key] = old[name]
