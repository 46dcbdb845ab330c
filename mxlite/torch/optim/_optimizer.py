"""Optimizer: parameters in groups with options, what is remembered of each parameter, and both in a dictionary."""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from mxlite.torch._convert import cast
from mxlite.torch._dtypes import float32
from mxlite.torch._errors import warn
from mxlite.torch._nodes import unrecorded
from mxlite.torch._tensor import Tensor, full_of
from mxlite.torch.autograd import enable_grad
from mxlite.torch.nn._module import clear_gradients, typename
from mxlite.torch.nn._state import RemovableHandle


class Optimizer:
    """The base class: a subclass has `_update(group, parameter, gradient, state)`, or a `step` of its own.

    Args:
        params: Parameters; or dictionaries with "params" and the options of that group.
        defaults: Options of groups that do not give them.
    """

    #: What `_update` finds as zeros in the state before the first step of a parameter.
    _remembers: tuple[str, ...] = ()

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        for name in ("capturable", "differentiable"):
            if defaults.get(name):
                raise NotImplementedError(f"mxlite.torch: optimizers have no {name}=True")
        if isinstance(params, Tensor):
            raise TypeError("optimizer: params are tensors or dicts in a list, got " + typename(params))
        self.state: dict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer: there are no parameters")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _start(self, given: dict[str, Any], order: str = "", **fine: bool) -> None:
        """Begins with the arguments of `__init__`, which are the options.

        Args:
            order: The options that come first in a group, where they are not those of the arguments.
            fine: Whether an option does, where it is not one that all optimizers limit alike.
        Raises: ValueError: one does not.
        """
        names = (*order.split(), *(name for name in given if name not in ("self", "params", "__class__")))
        options = {name: given[name] for name in names}
        if options.get("fused") and options.get("foreach"):
            raise RuntimeError(f"{type(self).__name__}: give fused or foreach, not both")
        for name, value in options.items():
            if not (fine[name] if name in fine else name not in _LIMITS or _LIMITS[name](value)):
                raise ValueError(f"{type(self).__name__}: {name} does not do: {value}")
        Optimizer.__init__(self, given["params"], options)

    def _hooks_of(self, kind: str) -> tuple[Callable, ...]:
        return tuple(self.__dict__.get("_hooks", {}).get(kind, {}).values())

    def __init_subclass__(cls) -> None:
        if "step" in cls.__dict__:
            cls.step = _hooked(cls.__dict__["step"])

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own: {"params": ..., "lr": ...}."""
        if not isinstance(param_group, dict):
            raise TypeError(f"add_param_group: a group is a dict, got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer: a set of parameters has no order; give a list")
        params = [params] if isinstance(params, Tensor) else list(params)
        if params and all(isinstance(each, tuple) for each in params):  # of named_parameters
            param_group = {**param_group, "param_names": [name for name, _ in params]}
            params = [each for _, each in params]
        for each in params:
            if not isinstance(each, Tensor):
                raise TypeError(f"optimizer: a parameter is a tensor, got {typename(each)}")
            if not each.is_leaf:
                raise ValueError(
                    f"optimizer: a parameter is a leaf; one was made by an operation ({each.grad_fn.name()})"
                )
        known = {id(each) for group in self.param_groups for each in group["params"]}
        if len({*map(id, params)}) < len(params):
            warn("optimizer: a parameter is twice in its group")
        if any(id(each) in known for each in params):
            raise ValueError("optimizer: a parameter is in two groups")
        self.param_groups.append({**param_group, "params": params, **{
            name: value for name, value in self.defaults.items() if name not in param_group
        }})  # fmt: skip

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Removes the gradients of the parameters, or fills them with zeros."""
        for group in self.param_groups:
            clear_gradients(group["params"], set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates each parameter that has a gradient; `closure` computes the gradients first, and returns the loss."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with unrecorded():
            for group in self.param_groups:
                for parameter in group["params"]:
                    gradient = parameter.grad
                    if gradient is not None:
                        gradient = -gradient if group.get("maximize") else gradient.detach()
                        state = self.state[parameter]
                        if not state:
                            state.update(self._first(group, parameter))
                        if "step" in state:
                            state["step"] += 1
                        self._update(group, parameter, gradient, state)
        return loss

    def _first(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        """What is remembered of a parameter before its first step."""
        names = self._names(group)
        return {"step": 0, **{name: zeros_like(parameter) for name in names}} if names else {}

    def _names(self, group: dict[str, Any]) -> Iterable[str]:
        """The names of what begins as zeros."""
        return self._remembers

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no step")

    # ---- state ----

    def state_dict(self) -> dict[str, Any]:
        """{"state": what is remembered, by the number of the parameter, "param_groups": options and numbers}."""
        for hook in self._hooks_of("state_dict_pre"):
            hook(self)
        numbers = {
            id(each): place
            for place, each in enumerate(each for group in self.param_groups for each in group["params"])
        }
        groups = [{**group, "params": [numbers[id(each)] for each in group["params"]]} for group in self.param_groups]
        for group in groups:
            group["params"] = group.pop("params")  # last
        made = {
            "state": {numbers[id(each)]: self._exported(state) for each, state in self.state.items() if state},
            "param_groups": groups,
        }
        for hook in self._hooks_of("state_dict_post"):
            made = hook(self, made) or made
        return made

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict returned, for parameters in the same order.

        Raises: ValueError: there are other numbers of groups or parameters.
        """
        for hook in self._hooks_of("load_state_dict_pre"):
            state_dict = hook(self, state_dict) or state_dict
        groups, own = state_dict["param_groups"], self.param_groups
        if len(groups) != len(own):
            raise ValueError(f"load_state_dict: {len(own)} groups are expected, got {len(groups)}")
        sizes, expected = ([len(group["params"]) for group in each] for each in (groups, own))
        if sizes != expected:
            raise ValueError(f"load_state_dict: groups of {expected} parameters are expected, got {sizes}")
        parameters = {
            number: parameter
            for theirs, ours in zip(groups, own)
            for number, parameter in zip(theirs["params"], ours["params"])
        }
        self.state = defaultdict(dict)
        for number, state in state_dict["state"].items():
            parameter = parameters.get(number, number)
            self.state[parameter] = {name: self._fitted(name, value, parameter) for name, value in state.items()}
        self.param_groups = [
            {
                **copy.deepcopy({name: value for name, value in theirs.items() if name != "params"}),
                "params": ours["params"],
            }
            for theirs, ours in zip(groups, own)
        ]
        for hook in self._hooks_of("load_state_dict_post"):
            hook(self)

    def _numbers(self) -> tuple[str, ...]:
        """Numbers that are remembered, which dictionaries have as tensors; none of other people's optimizers."""
        return () if type(self)._update is Optimizer._update else ("step", "eta", "mu", "mu_product")

    def _exported(self, state: dict[str, Any]) -> dict[str, Any]:
        """What is remembered, as PyTorch has it."""
        numbers = self._numbers()
        return {name: full_of((), each, float32) if name in numbers else each for name, each in state.items()}

    def _fitted(self, name: str, value: Any, parameter: Any) -> Any:
        """A copy of what is remembered, in the dtype of its parameter."""
        if name in self._numbers() and isinstance(parameter, Tensor):
            return int(value) if name == "step" else float(value)
        if not isinstance(value, Tensor):
            return copy.deepcopy(value)
        made = value.detach().clone()
        return cast(made, parameter._dtype) if isinstance(parameter, Tensor) and name != "step" else made

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params")
        return text + ")"


#: Hooks of the steps of all optimizers.
_of_all: dict[str, OrderedDict] = {"step_pre": OrderedDict(), "step_post": OrderedDict()}


def pre_hook_of_all(hook: Callable) -> RemovableHandle:
    """register_optimizer_step_pre_hook: as Optimizer.register_step_pre_hook, of all optimizers."""
    return RemovableHandle(_of_all["step_pre"], hook)


def post_hook_of_all(hook: Callable) -> RemovableHandle:
    """register_optimizer_step_post_hook: as Optimizer.register_step_post_hook, of all optimizers."""
    return RemovableHandle(_of_all["step_post"], hook)


def _hooked(step: Callable) -> Callable:
    """A method `step` that calls the optimizer's hooks, and leaves a mark for schedules."""

    @wraps(step)
    def run(self: Optimizer, *args: Any, **named: Any) -> Any:
        for hook in (*_of_all["step_pre"].values(), *self._hooks_of("step_pre")):
            found = hook(self, args, named)
            if found is not None:
                args, named = found
        result = step(self, *args, **named)
        if "_stepped" in self.__dict__:  # a schedule asks
            self._stepped = True
        for hook in (*self._hooks_of("step_post"), *_of_all["step_post"].values()):
            hook(self, args, named)
        return result

    return run


Optimizer.step = _hooked(Optimizer.step)  # type: ignore[method-assign]


def _registering(kind: str) -> Callable:
    def register(self: Optimizer, hook: Callable, prepend: bool = False) -> RemovableHandle:
        hooks = self.__dict__.setdefault("_hooks", {}).setdefault(kind, OrderedDict())
        return RemovableHandle(hooks, hook, prepend)

    register.__name__ = register.__qualname__ = f"register_{kind}_hook"
    register.__doc__ = "Has hook(optimizer, ...) called then; what it returns takes the place of what it was given."
    return register


for _kind in (
    "step_pre",
    "step_post",
    *(f"{way}_{when}" for way in ("state_dict", "load_state_dict") for when in ("pre", "post")),
):
    setattr(Optimizer, f"register_{_kind}_hook", _registering(_kind))

#: What options must be.
_LIMITS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys("lr eps weight_decay momentum lr_decay initial_accumulator_value momentum_decay".split(),
                    lambda value: value >= 0),
    "rho": lambda value: 0 <= value <= 1,
    "betas": lambda value: all(0 <= beta < 1 for beta in value),
}  # fmt: skip


def zeros_like(parameter: Tensor) -> Tensor:
    """Zeros of a parameter's shape, dtype and layout."""
    return parameter.detach().clone().zero_()


def decayed(group: dict[str, Any], parameter: Tensor, gradient: Tensor) -> Tensor:
    """The gradient with weight decay, which makes the parameter smaller at once where it is decoupled."""
    decay = group["weight_decay"]
    if decay and group.get("decoupled_weight_decay"):
        parameter.mul_(1 - float(group["lr"]) * decay)
    elif decay:
        gradient = gradient.add(parameter, alpha=decay)
    return gradient
