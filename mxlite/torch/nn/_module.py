"""Module: what has parameters, buffers and modules of its own, and computes something with them."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Callable

from mxlite._notebook import layers
from mxlite.torch._basic import empty_of, laid_as, placed
from mxlite.torch._convert import moved, target_of
from mxlite.torch._dtypes import bfloat16, float16, float32, float64
from mxlite.torch._dtypes import dtype as _dtype
from mxlite.torch._kinds import channels_last, channels_last_3d
from mxlite.torch._nodes import unrecorded
from mxlite.torch._tensor import Tensor
from mxlite.torch.nn._backward_hooks import BackwardHooks, on_last_node
from mxlite.torch.nn._state import HOOKS, RemovableHandle, State
from mxlite.torch.nn.parameter import Buffer, Parameter


def typename(value: Any) -> str:
    """How a message names the type of a value."""
    return value.type() if isinstance(value, Tensor) else type(value).__name__


#: The three kinds of members, by the attribute that holds them: their class, what messages call them, and what a
#: message says an attribute may be.
_KINDS: dict[str, tuple[type, str, str]] = {
    "_parameters": (Parameter, "parameter", "a torch.nn.Parameter or None"),
    "_buffers": (Tensor, "buffer", "a torch.Tensor or None"),
    "_modules": (object, "child module", "a torch.nn.Module or None"),
}


#: Hooks of all modules, by kind and number.
of_all: dict[str, OrderedDict] = {}


def _of_all(kind: str) -> list[tuple]:
    return list(of_all[kind].values()) if kind in of_all else []


def register_for_all(kind: str, hook: Callable, *, with_kwargs: bool = False, always_call: bool = False) -> Any:
    """Has a hook called for each module, before those of its own, as register_`kind`_hook says."""
    more = (always_call,) if kind == "forward" else ()
    return RemovableHandle(of_all.setdefault(kind, OrderedDict()), (hook, with_kwargs, *more))


class Module(State):
    """The base class of layers and networks.

    A subclass calls `super().__init__()`, sets Parameters and Modules as attributes, and has a `forward`.
    """

    training: bool
    dump_patches = call_super_init = False
    #: Hooks on gradients: none until one is registered, and whether they are full ones.
    _backward_hooks: Any = None
    _backward_pre_hooks: Any = None
    _is_full_backward_hook: bool | None = None
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    def __init__(self) -> None:
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _modules={},
            _forward_pre_hooks=OrderedDict(),
            _forward_hooks=OrderedDict(),
            **{kind: OrderedDict() for kind in HOOKS},
        )

    def forward(self, *_: Any, **__: Any) -> Any:
        """What the module computes, for a subclass to say.

        Raises: NotImplementedError.
        """
        raise NotImplementedError(f"{type(self).__name__}: a module that is called defines forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (
            self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks or of_all
        ):
            return self.forward(*args, **kwargs)
        for hook, with_kwargs in (*_of_all("forward_pre"), *self._forward_pre_hooks.values()):
            found = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if with_kwargs and found is not None:
                if not isinstance(found, tuple) or len(found) != 2:
                    raise RuntimeError(
                        f"a forward pre-hook with kwargs returns None or the pair (args, kwargs), not {found}"
                    )
                args, kwargs = found
            elif found is not None:
                args = found if isinstance(found, tuple) else (found,)
        whole = self._is_full_backward_hook is not False and (self._backward_hooks or self._backward_pre_hooks)
        general = {kind: [hook for hook, _ in _of_all(kind)] for kind in ("full_backward_pre", "full_backward")}
        hooks = BackwardHooks(self, *general.values()) if whole or any(general.values()) else None
        if hooks:
            args = hooks.inputs(args)
        after, result = [*_of_all("forward"), *self._forward_hooks.values()], None
        try:
            result = self.forward(*args, **kwargs)
            while after:
                hook, with_kwargs = after.pop(0)[:2]
                found = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
                result = result if found is None else found
        except Exception:
            for hook, with_kwargs in (each[:2] for each in after if each[2:] == (True,)):
                with contextlib.suppress(Exception):
                    hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            raise
        if hooks:
            result = hooks.outputs(result)
        elif self._backward_hooks or of_all:
            for hook in (*(hook for hook, _ in _of_all("backward")), *(self._backward_hooks or {}).values()):
                on_last_node(self, hook, args, result)
        return result

    # ---- attributes ----

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for kind in _KINDS:
            if kind in own and name in own[kind]:
                return own[kind][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _pair(self) -> tuple[Any, Any]:
        """`weight` and `bias`: parameters, found without `__getattr__`, or the tensors that stand in their places."""
        own = self._parameters
        try:
            return own["weight"], own["bias"]
        except KeyError:
            return self.weight, self.bias

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, (Parameter, Module)):
            kind = "_modules" if isinstance(value, Module) else "_parameters"
            if kind not in own:
                word = "module" if kind == "_modules" else "parameters"
                raise AttributeError(f"{type(self).__name__}: super().__init__() comes before {word} are assigned")
            for members in (own, own["_buffers"], own["_parameters"], own["_modules"]):
                if members is not own[kind]:
                    members.pop(name, None)
            own["_non_persistent_buffers_set"].discard(name)
            if kind == "_parameters":
                self.register_parameter(name, value)
            else:
                own[kind][name] = value
            return
        if isinstance(value, Buffer):
            own["_parameters"].pop(name, None)
            own["_modules"].pop(name, None)
            own.pop(name, None)
            self.register_buffer(name, value, value._persistent)
            return
        for kind, (cls, word, expected) in _KINDS.items():
            if name in own.get(kind, ()):
                if value is not None and (cls is not Tensor or not isinstance(value, Tensor)):
                    raise TypeError(f"{word} '{name}' is {expected}, not '{typename(value)}'")
                own[kind][name] = value
                return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for kind in _KINDS:
            if name in self.__dict__.get(kind, ()):
                del self.__dict__[kind][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        members = (name for kind in _KINDS for name in self.__dict__[kind])
        return sorted(name for name in {*object.__dir__(self), *members} if not name[:1].isdigit())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _register(self, kind: str, name: Any, value: Any, word: str) -> None:
        """Raises: AttributeError, TypeError, KeyError: it is too early, or the name does not do."""
        if kind not in self.__dict__:
            raise AttributeError(f"{type(self).__name__}: super().__init__() comes before a {word} is added")
        if not isinstance(name, str):
            raise TypeError(f"the name of a {word} is a text, not {typename(name)}")
        if "." in name:
            raise KeyError(f"the name of a {word} has no dot, got {name!r}")
        if not name:
            raise KeyError(f"the name of a {word} is not empty")
        if hasattr(self, name) and name not in self.__dict__[kind]:
            raise KeyError(f"the name '{name}' is taken: it is an attribute of {type(self).__name__}")
        if isinstance(value, Tensor) and value.grad_fn is not None and isinstance(value, Parameter):
            raise ValueError(
                f"parameter '{name}' is a leaf; this tensor was made by an operation ({value.grad_fn.name()})"
            )
        self.__dict__[kind][name] = value

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter, or a name that has none (yet)."""
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"parameter '{name}' is a torch.nn.Parameter or None, not '{typename(param)}'")
        self._register("_parameters", name, param, "parameter")

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that is no parameter; `persistent`: whether state_dict has it."""
        if isinstance(name, str) and tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"buffer '{name}' is a torch.Tensor or None, not '{typename(tensor)}'")
        self._register("_buffers", name, tensor, "buffer")
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a module as a child."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"child module '{name}' is a torch.nn.Module or None, not {typename(module)}")
        self._register("_modules", name, module, "module")

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as add_module."""
        self.add_module(name, module)

    # ---- what it holds ----

    def _members(self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in module.__dict__[kind].items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield f"{path}.{name}" if path else name, member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Names and parameters, of its modules too if `recurse`; each parameter once."""
        return self._members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, of its modules too if `recurse`."""
        return (each for _, each in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Names and buffers, of its modules too if `recurse`."""
        return self._members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, of its modules too if `recurse`."""
        return (each for _, each in self.named_buffers(recurse=recurse))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Names and modules directly within it, each module once."""
        return self._members("_modules", "", False, True)

    def children(self) -> Iterator[Module]:
        """The modules directly within it."""
        return (each for _, each in self.named_children())

    def named_modules(
        self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Names and modules: itself, and all within it, at any depth."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """Itself, and all modules within it."""
        return (each for _, each in self.named_modules())

    def get_submodule(self, target: str) -> Module:
        """The module of a dotted name.

        Raises: AttributeError: there is none.
        """
        found = self
        for name in target.split(".") if target else ():
            if not hasattr(found, name):
                raise AttributeError(f"{type(found).__name__} has no attribute `{name}`")
            found = getattr(found, name)
            if not isinstance(found, Module):
                raise AttributeError(f"`{name}` of {target!r} is no module")
        return found

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name.

        Raises: AttributeError: there is none.
        """
        return self._of_target(target, Parameter, "nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a dotted name.

        Raises: AttributeError: there is none.
        """
        return self._of_target(target, Tensor, "buffer")

    def _of_target(self, target: str, cls: type, word: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        found = getattr(module, name)
        if not isinstance(found, cls) or (cls is Tensor and name not in module._buffers):
            raise AttributeError(f"`{name}` of {target!r} is no {word}")
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts a module at a dotted name.

        Args:
            strict: Whether there has to be one.
        Raises: ValueError: no name, or what is no module; AttributeError: nothing is there.
        """
        path, _, name = target.rpartition(".")
        if not target or not isinstance(module, Module):
            raise ValueError("set_submodule: takes a dotted name and a module")
        held = self.get_submodule(path)
        if strict and not hasattr(held, name):
            raise AttributeError(f"{type(held).__name__} has no attribute `{name}`")
        if not isinstance(getattr(held, name, module), Module):
            raise AttributeError(f"`{name}` of {target!r} is no nn.Module")
        setattr(held, name, module)

    # ---- of all that it holds ----

    def apply(self, fn: Callable[[Module], Any]) -> Any:
        """Calls a function of each module within it, then of itself; returns itself."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Any:
        """Switches it, and all within it, to training or (`mode` False) to evaluation; returns itself."""
        if not isinstance(mode, bool):
            raise ValueError(f"train: mode is True or False, got {mode!r}")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        """Switches it to evaluation; returns itself."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Whether its parameters want gradients; returns itself."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Removes the gradients of its parameters, or fills them with zeros."""
        clear_gradients(self.parameters(), set_to_none)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Replaces the values of parameters, of their gradients, and of buffers by what a function makes of them.

        Args:
            recurse: Whether those of all modules within it, too.
        """
        for module in self.children() if recurse else ():
            module._apply(fn)
        with unrecorded():
            for parameter in self._parameters.values():
                if parameter is not None:
                    _replace_data(parameter, fn)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Converts floating parameters and buffers to a dtype: to(dtype), to(device, dtype), to(tensor).

        Raises: TypeError: no floating dtype, or another argument; RuntimeError: `copy`; AssertionError: a device that
            there is not; NotImplementedError: from the device meta (to_empty() makes values).
        """
        kind, copies, where = target_of(args, kwargs)
        if copies:
            raise RuntimeError("nn.Module.to: copy=True, but a module is converted itself; copy.deepcopy makes another")
        if kind is not None and not kind.is_floating_point:
            raise TypeError(f"Module.to: a dtype is floating, got {kind}")
        laid = kwargs.get("memory_format")
        if laid is not None:
            ndim = {channels_last: 4, channels_last_3d: 5}.get(laid)
            self._apply(lambda tensor: tensor.to(memory_format=laid) if ndim in (None, tensor.ndim) else tensor)
        return self._to(kind, where)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:  # noqa: A002 - PyTorch's name
        """Gives parameters and buffers new memory on a device, with any values; returns itself."""
        return self._apply(lambda tensor: laid_as(placed(empty_of, device), tensor, tensor._dtype), recurse)

    def _to(self, kind: _dtype | None, where: Any = None) -> Any:
        cast = lambda tensor: tensor.to(kind) if kind and tensor._dtype.is_floating_point else tensor  # noqa: E731
        return self._apply(lambda tensor: moved(cast(tensor), where))

    def type(self, dst_type: Any) -> Any:
        """All parameters and buffers as a dtype; returns itself."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self) -> Any:
        """Floating parameters and buffers as float32; returns itself."""
        return self._to(float32)

    def double(self) -> Any:
        """Floating parameters and buffers as float64; returns itself."""
        return self._to(float64)

    def bfloat16(self) -> Any:
        """Floating parameters and buffers as bfloat16; returns itself."""
        return self._to(bfloat16)

    def share_memory(self) -> Any:
        """Itself: threads share it."""
        return self

    def half(self) -> Any:
        """Floating parameters and buffers as float16; returns itself."""
        return self._to(float16)

    def cpu(self) -> Any:
        """Itself, on the CPU."""
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Any:
        """Itself under `mxlite run --cpu`. Raises: AssertionError: there is no CUDA."""
        return self.to("cuda")

    # ---- hooks ----

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Has hook(module, args) called before each forward; what it returns replaces the arguments.

        Args:
            with_kwargs: Whether it is hook(module, args, kwargs), which returns None or both.
        """
        return RemovableHandle(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Has hook(module, args, output) called after each forward; what it returns replaces the output.

        Args:
            with_kwargs: Whether it is hook(module, args, kwargs, output).
            always_call: Whether it is called where forward, or a hook before it, fails, too; its errors are then lost.
        """
        return RemovableHandle(self._forward_hooks, (hook, with_kwargs, always_call), prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Has hook(module, grad_inputs, grad_outputs) called when the gradients of the arguments are there.

        Both are tuples, for the positional arguments and the results; what it returns replaces the former.

        Raises: RuntimeError: the module has hooks of register_backward_hook.
        """
        return self._add_backward_hook("_backward_hooks", hook, prepend, True)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Has hook(module, grad_outputs) called when the gradients of the results are there; it may replace them."""
        return self._add_backward_hook("_backward_pre_hooks", hook, prepend, self._is_full_backward_hook)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Has a hook called by the last operation of forward alone; register_full_backward_hook is what is meant.

        Raises: RuntimeError: the module has full backward hooks.
        """
        return self._add_backward_hook("_backward_hooks", hook, False, False)

    def _add_backward_hook(self, kind: str, hook: Callable, prepend: bool, full: bool | None) -> RemovableHandle:
        if full is not None and self._is_full_backward_hook not in (None, full):
            raise RuntimeError("a module has either full backward hooks or those of register_backward_hook, not both")
        self._is_full_backward_hook = full
        if getattr(self, kind) is None:
            setattr(self, kind, OrderedDict())
        return RemovableHandle(getattr(self, kind), hook, prepend)

    # ---- text ----

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the parentheses, for a subclass to say."""
        return ""

    def _lines(self) -> list[str]:
        """The text of each child, indented below its name."""
        return [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = [*(extra.split("\n") if extra else ()), *self._lines()]
        if len(lines) == 1 and extra:
            return f"{self._get_name()}({extra})"
        body = "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{self._get_name()}({body})"

    def _repr_html_(self) -> str:
        """For a notebook: the modules and their parameters as a table."""
        return layers.html(self._get_name(), self._layers(0, ""))

    def _layers(self, depth: int, name: str) -> Iterator[tuple[int, str, str, list[layers.Held]]]:
        held = [
            layers.Held(key, each.shape, each._dtype.name, each.requires_grad, id(each))
            for key, each in self._parameters.items()
            if each is not None
        ]
        text = repr(self)
        yield depth, name or self._get_name(), self._get_name() if "\n" in text else text, held
        for key, child in self._modules.items():
            if child is not None:
                yield from child._layers(depth + 1, key)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _replace_data(parameter: Tensor, fn: Callable[[Tensor], Tensor]) -> None:
    """Gives a parameter and its gradient the values that a function makes of them, in any dtype and shape."""
    gradient, made = parameter.grad, fn(parameter)
    if made is not parameter:
        parameter.data = made
    if gradient is not None:
        found = fn(gradient)
        if found is not gradient:
            parameter.grad = found


def clear_gradients(tensors: Any, set_to_none: bool) -> None:
    """Removes the gradients of tensors, or fills them with zeros."""
    for tensor in tensors:
        if set_to_none:
            tensor.grad = None
        elif tensor.grad is not None:
            tensor.grad.detach_().zero_()
