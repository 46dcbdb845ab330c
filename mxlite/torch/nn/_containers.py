"""Sequential, ModuleList, ModuleDict, ParameterList and ParameterDict: modules and parameters in order."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from mxlite.torch._tensor import Tensor
from mxlite.torch.nn._module import Module, typename
from mxlite.torch.nn.parameter import Parameter


class _Listed(Module):
    """Members under the names "0", "1", ...: children, unless a subclass says otherwise."""

    _held = "_modules"

    def _all(self) -> list[Any]:
        return list(self.__dict__[self._held].values())

    def _replace(self, members: Iterable[Any]) -> None:
        own = self.__dict__[self._held]
        members = list(members)
        own.clear()
        for place, member in enumerate(members):
            self._add(str(place), member)

    def _add(self, name: str, member: Any) -> None:
        self.add_module(name, member)

    def _place(self, index: Any) -> int:
        index, count = operator.index(index), len(self)
        if not -count <= index < count:
            raise IndexError(f"index {index} is outside {count} modules")
        return index % count

    def __len__(self) -> int:
        return len(self.__dict__[self._held])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._all())

    def __contains__(self, member: Any) -> bool:
        return any(member is each for each in self._all())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            made = type(self)()
            made._replace(self._all()[index])
            return made
        return self._all()[self._place(index)]

    def __setitem__(self, index: Any, member: Any) -> None:
        setattr(self, list(self.__dict__[self._held])[self._place(index)], member)

    def __delitem__(self, index: Any) -> None:
        members = self._all()
        del members[index if isinstance(index, slice) else self._place(index)]
        self._replace(members)

    def append(self, module: Any) -> Any:
        """Adds one at the end; returns itself."""
        self._add(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Any]) -> Any:
        """Adds several at the end; returns itself."""
        for each in list(modules):
            self.append(each)
        return self

    def insert(self, index: int, module: Any) -> Any:
        """Adds one before another; returns itself."""
        members = self._all()
        members.insert(index, module)
        self._replace(members)
        return self

    def pop(self, key: Any = -1) -> Any:
        """Takes one away, and returns it."""
        member = self[key]
        del self[key]
        return member


class Sequential(_Listed):
    """Modules that are called one after another: Sequential(a, b), or of an OrderedDict, whose keys are their names."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self._replace(args)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return super().__getitem__(index)

    def insert(self, index: int, module: Any) -> Any:  # noqa: D102
        if not -len(self) <= index <= len(self):
            raise IndexError(f"insert: a place is from {-len(self)} to {len(self)}, got {index}")
        return super().insert(index, module)

    def forward(self, input: Any) -> Any:
        """The last module's result; each has the result of the one before."""
        for module in self._modules.values():
            input = module(input)  # noqa: A001
        return input

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"Sequential: + takes another Sequential, got {type(other)}")
        return Sequential(*self, *other)


class ModuleList(_Listed):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self._replace(modules or ())

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    __iadd__ = _Listed.extend

    def _lines(self) -> list[str]:
        """Neighbours with equal texts are one line: `(0-1): 2 x ReLU()`."""
        groups: list[list[Any]] = []
        for place, text in enumerate(map(repr, self._all())):
            if groups and groups[-1][2] == text:
                groups[-1][1] = place
            else:
                groups.append([place, place, text])
        lines = []
        for first, last, text in groups:
            name = f"({first})" if first == last else f"({first}-{last})"
            count = "" if first == last else f"{last - first + 1} x "
            lines.append(f"{name}: {count}{text}".replace("\n", "\n  "))
        return lines


class ParameterList(_Listed):
    """A list of parameters; tensors become parameters."""

    _held = "_parameters"

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        super().__init__()
        self._replace(values or ())

    def _add(self, name: str, member: Any) -> None:
        if not isinstance(member, Tensor):
            raise TypeError(f"mxlite.torch: a ParameterList holds tensors, not {typename(member)}")
        setattr(self, name, member if isinstance(member, Parameter) else Parameter(member))

    def extra_repr(self, kind: Any = lambda each: each.dtype) -> str:  # noqa: D102
        return "\n".join(
            f"  ({name}): Parameter containing: [{kind(each)} of size {'x'.join(map(str, each.shape))}]"
            for name, each in self._parameters.items()
        )


class _Named(Module):
    """Members by name: children, unless a subclass says otherwise."""

    _held = "_modules"

    def __init__(self, members: Any = None) -> None:
        super().__init__()
        if members is not None:
            self.update(members)

    @property
    def _own(self) -> dict[str, Any]:
        return self.__dict__[self._held]

    def update(self, members: Any) -> None:
        """Adds those of a dictionary, or of pairs of names and members."""
        if not isinstance(members, Iterable):
            raise TypeError(f"{type(self).__name__}: update takes names and members, not {typename(members)}")
        for name, member in members.items() if hasattr(members, "items") else members:
            self[name] = member

    def __getitem__(self, key: str) -> Any:
        return self._own[key]

    def __setitem__(self, key: str, member: Any) -> None:
        self.add_module(key, member)

    def __delitem__(self, key: str) -> None:
        del self._own[key]

    def __len__(self) -> int:
        return len(self._own)

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __contains__(self, key: str) -> bool:
        return key in self._own

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._own.keys()

    def values(self) -> Iterable[Any]:
        """The members."""
        return self._own.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The names and members."""
        return self._own.items()

    def pop(self, key: str) -> Any:
        """Takes one away, and returns it."""
        return self._own.pop(key)

    def clear(self) -> None:
        """Takes all away."""
        self._own.clear()


class ModuleDict(_Named):
    """A dictionary of modules."""


class ParameterDict(_Named):
    """A dictionary of parameters; tensors become parameters."""

    _held = "_parameters"

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __setitem__(self, key: str, member: Any) -> None:
        if not isinstance(member, Tensor):
            raise TypeError(f"mxlite.torch: a ParameterDict holds tensors, not {typename(member)}")
        self.register_parameter(key, member if isinstance(member, Parameter) else Parameter(member))

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter of a name, or a default."""
        return self._own.get(key, default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter of a name, which is the default where there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def copy(self) -> ParameterDict:
        """Another dictionary of the same parameters."""
        return type(self)(self._own)

    def __or__(self, other: Any) -> ParameterDict:
        return type(self)({**self._own, **other._own})

    def extra_repr(self) -> str:  # noqa: D102
        return ParameterList.extra_repr(self, Tensor.type)  # type: ignore[arg-type]
