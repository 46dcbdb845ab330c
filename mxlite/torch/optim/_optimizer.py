"""Optimizer: parameters in groups with options, what is remembered of each parameter, and both in a dictionary."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from mxlite.torch._convert import cast
from mxlite.torch._nodes import unrecorded
from mxlite.torch._tensor import Tensor
from mxlite.torch.autograd import enable_grad
from mxlite.torch.nn._module import clear_gradients, typename


class Optimizer:
    """The base class: a subclass has `_update(group, parameter, gradient, state)`, or a `step` of its own.

    Args:
        params: Parameters; or dictionaries with "params" and the options of that group.
        defaults: Options of groups that do not give them.
    """

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

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own: {"params": ..., "lr": ...}."""
        if not isinstance(param_group, dict):
            raise TypeError(f"add_param_group: a group is a dict, got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer: a set of parameters has no order; give a list")
        params = [params] if isinstance(params, Tensor) else list(params)
        if params and all(isinstance(each, tuple) for each in params):  # of named_parameters
            params = [each for _, each in params]
        for each in params:
            if not isinstance(each, Tensor):
                raise TypeError(f"optimizer: a parameter is a tensor, got {typename(each)}")
            if not each.is_leaf:
                raise ValueError(
                    f"optimizer: a parameter is a leaf; one was made by an operation ({each.grad_fn.name()})"
                )
        known = {id(each) for group in self.param_groups for each in group["params"]}
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
                        gradient = -gradient if group["maximize"] else gradient.detach()
                        self._update(group, parameter, gradient, self.state[parameter])
        return loss

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no step")

    # ---- state ----

    def state_dict(self) -> dict[str, Any]:
        """{"state": what is remembered, by the number of the parameter, "param_groups": options and numbers}."""
        numbers = {
            id(each): place
            for place, each in enumerate(each for group in self.param_groups for each in group["params"])
        }
        groups = [{**group, "params": [numbers[id(each)] for each in group["params"]]} for group in self.param_groups]
        for group in groups:
            group["params"] = group.pop("params")  # last
        return {
            "state": {numbers[id(each)]: state for each, state in self.state.items() if state},
            "param_groups": groups,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict returned, for parameters in the same order.

        Raises: ValueError: there are other numbers of groups or parameters.
        """
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
            self.state[parameter] = {name: _fitted(name, value, parameter) for name, value in state.items()}
        self.param_groups = [
            {
                **copy.deepcopy({name: value for name, value in theirs.items() if name != "params"}),
                "params": ours["params"],
            }
            for theirs, ours in zip(groups, own)
        ]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params")
        return text + ")"


def _fitted(name: str, value: Any, parameter: Any) -> Any:
    """A copy of what is remembered, in the dtype of its parameter."""
    if not isinstance(value, Tensor):
        return copy.deepcopy(value)
    if name == "step" or not isinstance(parameter, Tensor):
        return value.detach().clone()
    return cast(value.detach().clone(), parameter._dtype)


def require_options(*checks: tuple[str, float, bool]) -> None:
    """Raises: ValueError: an option, (its name in the message, its value, whether it does), does not do."""
    for name, value, fine in checks:
        if not fine:
            raise ValueError(f"optimizer: {name} does not do: {value}")
