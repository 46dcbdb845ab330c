"""What a module's tensors are in dictionaries: state_dict and load_state_dict, their hooks, and state of other kinds.

`State` is a base class of Module; no object is of it alone. A class may override each of the methods that save and
load a single module, which are called for every module within another, too.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, Callable, NamedTuple

from mxlite.torch._errors import warn, warn_of_old
from mxlite.torch._nodes import unrecorded
from mxlite.torch._tensor import Tensor
from mxlite.torch.nn.parameter import Parameter

#: The key of what get_extra_state returns, behind the module's prefix.
_EXTRA = "_extra_state"


class Loaded(NamedTuple):
    """What load_state_dict returns: names that either side lacks."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


Loaded.__name__ = Loaded.__qualname__ = "_IncompatibleKeys"


class RemovableHandle:
    """A hook of a module; `remove()`, or the end of a with-block, takes it away."""

    numbers = itertools.count()

    def __init__(self, hooks: OrderedDict, hook: Any, prepend: bool = False) -> None:
        self.hooks, self.id = hooks, next(self.numbers)
        hooks[self.id] = hook
        if prepend:
            hooks.move_to_end(self.id, last=False)

    def remove(self) -> None:
        """Takes the hook away; nothing happens where it is gone already."""
        self.hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


#: The attributes that hold hooks of dictionaries.
HOOKS = ("_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")


class State:
    """The part of Module that saves and loads it."""

    #: Goes into the dictionary's `_metadata`, for `_load_from_state_dict` to know how old what it loads is.
    _version: int = 1

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    # ---- for subclasses to override ----

    def get_extra_state(self) -> Any:
        """What state_dict keeps beside tensors, for a subclass to say. Raises: RuntimeError."""
        raise RuntimeError(f"get_extra_state: {type(self).__name__} has none; a subclass that has some overrides it")

    def set_extra_state(self, state: Any) -> None:
        """Takes over what get_extra_state returned, for a subclass to say. Raises: RuntimeError."""
        raise RuntimeError(f"set_extra_state: {type(self).__name__} has none; a subclass that has some overrides it")

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Adds the module's own tensors and extra state, not those of the modules within it."""
        for name, members in self._kept():
            destination[prefix + name] = members[name] if keep_vars else members[name].detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: dict, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Takes over the module's own tensors and extra state; adds to the lists what does not fit."""
        for hook in tuple(self._hooks("_load_state_dict_pre_hooks").values()):
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        found = self._fitting(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        with unrecorded():
            for name, own, given in found:
                if not assign:
                    if own.is_meta and not given.is_meta:
                        warn(f"load_state_dict: {prefix}{name} is on the meta device, without values; give assign=True")
                    own.copy_(given)
                elif isinstance(own, Parameter):
                    setattr(self, name, Parameter(given, own.requires_grad))
                else:
                    setattr(self, name, given)
        if type(self).set_extra_state is not State.set_extra_state and prefix + _EXTRA in state_dict:
            self.set_extra_state(state_dict[prefix + _EXTRA])

    def _may_lack(self, name: str, version: int | None) -> bool:
        """Whether dictionaries of that version need not have a tensor."""
        return False

    # ---- saving ----

    def _kept(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Names of the module's own tensors in its dictionary, and the members that they are among."""
        for members in (self._parameters, self._buffers):
            for name, tensor in members.items():
                if tensor is not None and name not in self._non_persistent_buffers_set:
                    yield name, members

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Parameters, persistent buffers and extra state by dotted names; tensors share memory with the module's."""
        if args:  # destination, prefix, keep_vars, as older programs give them
            warn_of_old("state_dict(destination, prefix, keep_vars)", "their names", FutureWarning)
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])
        found: Any = destination
        if found is None:
            found = OrderedDict()
            found._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(found, "_metadata"):
            found._metadata[prefix[:-1]] = metadata
        for hook in tuple(self._hooks("_state_dict_pre_hooks").values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(found, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=found, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook, may_replace in tuple(self._hooks("_state_dict_hooks").values()):
            answer = hook(self, found, prefix, metadata)
            if answer is not None and not may_replace:
                raise RuntimeError(f"state_dict: a post hook must return None, not {type(answer).__name__}")
            found = found if answer is None else answer
        return found

    # ---- loading ----

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Loaded:
        """Copies what state_dict returned into the parameters and buffers.

        Nothing is copied if there is an error, unless a module within it loads by a method or hooks of its own.

        Args:
            strict: Whether a name that either side lacks is an error.
            assign: Whether the given tensors take the place of the module's own.
        Raises: TypeError: no dictionary; RuntimeError: names (`strict`) or shapes that do not match.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"load_state_dict: a state is a dict, got {type(state_dict)}")
        given: Any = OrderedDict(state_dict)
        metadata = getattr(state_dict, "_metadata", None)
        if metadata is not None:
            given._metadata = metadata
        ways = [lambda module: module._load_from_state_dict]
        if self._loads_plainly():
            ways.insert(0, lambda module: module._fitting)
        for way in ways:
            loaded, problems = Loaded([], []), []
            self._load(given, "", metadata, assign, way, (loaded, problems))
            if strict:
                self._add_names(*loaded, problems)
            if problems:
                lines = "\n\t".join(problems)
                raise RuntimeError(f"load_state_dict of {type(self).__name__}:\n\t{lines}")
        return loaded

    @staticmethod
    def _add_names(missing: list[str], unexpected: list[str], problems: list[str]) -> None:
        for problem, names in (("the module has none of", unexpected), ("the state has none of", missing)):
            if names:
                problems.insert(0, f"{problem} " + ", ".join(f'"{each}"' for each in names))

    def _load(
        self, given: Any, prefix: str, metadata: Any, assign: bool, way: Callable, found: tuple[Loaded, list[str]]
    ) -> None:
        """Has this module and those within it load, each with its own part of the dictionary."""
        own = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            own["assign_to_params_buffers"] = True
        loaded, problems = found
        way(self)(given, prefix, own, True, *loaded, problems)
        for name, module in self._modules.items():
            if module is not None:
                start = f"{prefix}{name}."
                part = OrderedDict((key, value) for key, value in given.items() if key.startswith(start))
                module._load(part, start, metadata, assign, way, found)
        for hook in tuple(self._hooks("_load_state_dict_post_hooks").values()):
            answer = hook(self, loaded)
            if answer is not None:
                raise AssertionError(f"load_state_dict: a post hook must return None, not {type(answer).__name__}")

    def _loads_plainly(self) -> bool:
        """Whether no method of a subclass and no hook has a say in loading this module and those within it."""
        return (
            type(self)._load_from_state_dict is State._load_from_state_dict
            and not self._hooks("_load_state_dict_pre_hooks")
            and not self._hooks("_load_state_dict_post_hooks")
            and all(module._loads_plainly() for module in self._modules.values() if module is not None)
        )

    def _fitting(
        self, state_dict: Any, prefix: str, local_metadata: dict, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> list[tuple[str, Tensor, Tensor]]:  # fmt: skip
        """Names, own tensors and those to load of the module itself; adds to the lists what does not fit."""
        found, own = [], {}
        for name, members in self._kept():
            key, tensor = prefix + name, members[name]
            own[name] = tensor
            if key not in state_dict:
                if strict and not self._may_lack(name, local_metadata.get("version")):
                    missing_keys.append(key)
                continue
            given = state_dict[key]
            if not isinstance(given, Tensor):
                error_msgs.append(f'parameter "{key}" is a tensor in a state, got {type(given)}')
            elif given.shape != tensor.shape:
                error_msgs.append(f'"{key}" has shape {given.shape} in the state and {tensor.shape} in the module')
            else:
                found.append((name, tensor, given))
        takes_extra = type(self).set_extra_state is not State.set_extra_state
        if strict and takes_extra and prefix + _EXTRA not in state_dict:
            missing_keys.append(prefix + _EXTRA)
        for key in state_dict if strict else ():
            if key.startswith(prefix) and not (takes_extra and key == prefix + _EXTRA):
                name, *rest = key[len(prefix) :].split(".", 1)
                if name not in (self._modules if rest else own):
                    unexpected_keys.append(key)
        return found

    # ---- hooks ----

    def _hooks(self, kind: str) -> OrderedDict:
        return self.__dict__.get(kind) or OrderedDict()  # a module that was pickled before there were any

    def _add_hook(self, kind: str, hook: Any) -> RemovableHandle:
        return RemovableHandle(self.__dict__.setdefault(kind, OrderedDict()), hook)

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Has hook(module, prefix, keep_vars) called before each state_dict."""
        return self._add_hook("_state_dict_pre_hooks", hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Has hook(module, state_dict, prefix, local_metadata) called after each state_dict; it returns None."""
        return self._add_hook("_state_dict_hooks", (hook, False))

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        """The same; what it returns takes the place of the dictionary."""
        return self._add_hook("_state_dict_hooks", (hook, True))

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Has hook(module, *arguments of _load_from_state_dict) called before the module loads; it may edit them."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable, with_module: bool = False) -> RemovableHandle:
        """The same; `with_module`: whether the module is its first argument."""
        return self._add_hook("_load_state_dict_pre_hooks", _OfModule(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Has hook(module, missing and unexpected names) called after it has loaded; it may edit the lists."""
        return self._add_hook("_load_state_dict_post_hooks", hook)


class _OfModule:
    """A hook with the module that it is told of; a copy of the module's is told of the copy."""

    def __init__(self, hook: Callable, module: State) -> None:
        self.hook, self.module = hook, module

    def __call__(self, *args: Any) -> Any:
        return self.hook(self.module, *args)
