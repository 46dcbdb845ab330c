"""ParameterDict: the parameters of a block, or of a block and all blocks in it."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import Any

import numpy as np

from mxlite import initializer, ndarray
from mxlite._notebook import tables
from mxlite._public.near import did_you_mean
from mxlite.base import dtype_name
from mxlite.context import Context
from mxlite.error import MXTypeError, WrongValueError
from mxlite.gluon._parameter import Constant, Parameter
from mxlite.gluon.utils import _brief_print_list, _indent
from mxlite.ndarray.ndarray import NDArray

_NAMING = (
    "Both networks must have the same prefixes: names begin with the prefixes of blocks, which name_scope() gives to "
    "the blocks made within it"
)


def _merged(mine: Any, wanted: Any) -> tuple[int, ...] | None:
    """A shape with what either of two knows; None where they contradict each other."""
    if len(mine) != len(wanted) or any(a != b and a > 0 and b > 0 for a, b in zip(mine, wanted)):
        return None
    return tuple(a if a > 0 else b for a, b in zip(mine, wanted))


class ParameterDict:
    """Parameters by name; all names that `get` makes begin with `prefix`.

    Args:
        shared: A dictionary whose parameters `get` finds too; blocks share parameters so.
    """

    def __init__(self, prefix: str = "", shared: ParameterDict | None = None) -> None:
        self._prefix = prefix
        self._params: dict[str, Parameter] = {}
        self._shared = shared

    def __repr__(self) -> str:
        name = f"{self._prefix} " if self._prefix else ""
        content = "\n".join(f"  {_indent(repr(each), 2)}" for each in self.values())
        return f"{name}(\n{content}\n)"

    def _repr_html_(self) -> str:
        """For a notebook: the parameters as a table."""
        rows = [
            [name, str(each.shape), np.dtype(each.dtype).name, each.grad_req] for name, each in self._params.items()
        ]
        return tables.table(["parameter", "shape", "dtype", "gradient"], rows, title=f"ParameterDict {self._prefix}")

    def __getitem__(self, key: str) -> Parameter:
        if key not in self._params:
            raise KeyError(f"there is no parameter {key!r}{did_you_mean(key, self._params)}")
        return self._params[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def items(self) -> ItemsView[str, Parameter]:
        """Names and parameters."""
        return self._params.items()

    def keys(self) -> KeysView[str]:
        """The full names."""
        return self._params.keys()

    def values(self) -> ValuesView[Parameter]:
        """The parameters."""
        return self._params.values()

    @property
    def prefix(self) -> str:
        """How the names of parameters begin that `get` makes."""
        return self._prefix

    # ---- one parameter ----

    def _get_impl(self, name: str) -> Parameter | None:
        """The parameter of a full name; one of the shared dictionary is taken into this one."""
        if name not in self._params and self._shared is not None and name in self._shared._params:
            self._params[name] = self._shared._params[name]
        return self._params.get(name)

    def get(self, name: str, **kwargs: Any) -> Parameter:
        """The parameter `prefix + name`; where there is none, a new one of these keywords (those of Parameter).

        Raises: ValueError: the parameter that is there has another value for one of the keywords.
        """
        name = self.prefix + name
        param = self._get_impl(name)
        if param is None:
            param = self._params[name] = Parameter(name, **kwargs)
            return param
        for key, value in kwargs.items():
            existing = getattr(param, key, None)
            if existing is None:
                setattr(param, "_shape" if key == "shape" else key, value)
            elif value is not None:
                self._agree(param, key, value, existing)
        return param

    @staticmethod
    def _agree(param: Parameter, key: str, value: Any, existing: Any) -> None:
        """Sees that a parameter has an attribute; of a shape it takes what was unknown."""
        if key == "shape":
            value = (value,) if isinstance(value, (int, np.integer)) else value
            shape = _merged(existing, value)
            if shape is not None:
                param._shape = shape
                return
        elif key == "dtype" and dtype_name(value) == dtype_name(existing):
            return
        if key == "shape" or value != existing:
            raise WrongValueError(
                f"Parameter '{param.name}' has {key} '{existing}', so it cannot be got with {key} '{value}'"
            )

    def get_constant(self, name: str, value: Any = None) -> Constant:
        """The constant `prefix + name`; where there is none, a new one with this value.

        Raises: KeyError: there is none, and no value; ValueError: it has another value, or is no constant.
        """
        name = self.prefix + name
        param = self._get_impl(name)
        if param is None:
            if value is None:
                raise KeyError(f"there is no constant '{name}'; with `value=` it is made")
            param = self._params[name] = Constant(name, value)
        elif value is not None:
            if not isinstance(param, Constant):
                raise WrongValueError(f"'{name}' is a Parameter, not a constant")
            wanted = value.asnumpy() if isinstance(value, NDArray) else np.asarray(value)
            if not np.array_equal(param.value.asnumpy(), wanted):
                raise WrongValueError(f"Constant '{name}' already exists but its value does not match the new value")
        return param  # type: ignore[return-value]

    def update(self, other: ParameterDict | Mapping[str, Parameter]) -> None:
        """Takes all parameters of another dictionary.

        Raises: ValueError: both have a parameter of one name, and these are two.
        """
        for name, param in other.items():
            if self._params.setdefault(name, param) is not param:
                raise WrongValueError(f"update: both have a Parameter '{name}', and they are two")

    # ---- all parameters ----

    def initialize(
        self,
        init: Any = initializer.Uniform(),  # noqa: B008 - 1.9.1's default
        ctx: Context | Sequence[Context] | None = None,
        verbose: bool = False,
        force_reinit: bool = False,
    ) -> None:
        """Gives values to all parameters; `init` to those without an initializer. See Parameter.initialize."""
        if verbose:
            init.set_verbosity(verbose=verbose)
        for each in self.values():
            each.initialize(None, ctx, init, force_reinit=force_reinit)

    def zero_grad(self) -> None:
        """Sets all gradients to zero."""
        for each in self.values():
            each.zero_grad()

    def reset_ctx(self, ctx: Context | Sequence[Context]) -> None:
        """Moves all parameters to other contexts."""
        for each in self.values():
            each.reset_ctx(ctx)

    def list_ctx(self) -> list[Context]:
        """The contexts that any parameter is in."""
        return list(dict.fromkeys(ctx for each in self.values() for ctx in each.list_ctx()))

    def setattr(self, name: str, value: Any) -> None:
        """Sets an attribute of all parameters: `setattr("grad_req", "null")`."""
        for each in self.values():
            setattr(each, name, value)

    # ---- files ----

    def save(self, filename: str, strip_prefix: str = "") -> None:
        """Writes all parameters to a file, by their names without `strip_prefix`.

        Raises: ValueError: a name does not begin so; RuntimeError: a parameter is not initialized.
        """
        arrays = {}
        for param in self.values():
            if not param.name.startswith(strip_prefix):
                raise ValueError(
                    f"save: the name of Parameter '{param.name}' does not begin with strip_prefix '{strip_prefix}'. "
                    "Perhaps the block shares parameters of others, or "
                    "blocks in it were made outside of name_scope()."
                )
            arrays[param.name[len(strip_prefix) :]] = param._reduce()
        ndarray.save(filename, arrays)

    def load(
        self,
        filename: str,
        ctx: Context | Sequence[Context] | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Reads parameters of a file that `save` wrote.

        Args:
            ctx: Where parameters go that are not initialized; None: cpu(0).
            allow_missing: Whether the file may lack parameters.
            ignore_extra: Whether it may have others.
            restore_prefix: What is put before the names of the file.
            cast_dtype: Whether dtypes may differ; values are converted to the parameter's dtype, or with
                dtype_source="saved" the parameter to that of the file.
        Raises: ValueError: names, shapes or dtypes differ; TypeError: the arrays of the file have no names.
        """
        arrays = named(ndarray.load(filename), filename)
        self.load_dict(arrays, ctx, allow_missing, ignore_extra, restore_prefix, filename, cast_dtype, dtype_source)

    def load_dict(
        self,
        param_dict: Mapping[str, NDArray],
        ctx: Context | Sequence[Context] | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        filename: str | None = None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """`load` of arrays by name; `filename` is for messages."""
        origin = f"file: {filename}" if filename else "param_dict"
        for name in self.keys():
            if not name.startswith(restore_prefix):
                raise WrongValueError(
                    f"restore_prefix is '{restore_prefix}' but Parameters name '{name}' does not start with "
                    f"'{restore_prefix}'."
                )
        found = {restore_prefix + _without_kind(name): array for name, array in param_dict.items()}
        if not allow_missing:
            for name in self.keys():
                if name not in found:
                    held = _brief_print_list(map(_without_kind, param_dict))
                    raise WrongValueError(
                        f"Parameter '{name}' is missing in {origin}, which contains parameters: {held}. "
                        f"{_other_prefix(name, restore_prefix or self.prefix, param_dict)}{_NAMING}"
                    )
        for name, array in found.items():
            if name in self._params:
                self[name]._load_init(array, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)
            elif not ignore_extra:
                raise WrongValueError(
                    f"Parameter '{name[len(restore_prefix) :]}' of {origin} is none of these: "
                    f"{_brief_print_list(self.keys())}. With ignore_extra=True it is left out. {_NAMING}"
                )


_KINDS = ("arg:", "aux:")


def _without_kind(name: str) -> str:
    """A name of a file of a Module, which begins with the kind of the array."""
    return name[4:] if name.startswith(_KINDS) else name


def has_whole_names(arrays: Mapping[str, NDArray], params: ParameterDict) -> bool:
    """Whether arrays have the whole names of parameters: as `export` writes some of them, or all."""
    known = [_without_kind(name) in params.keys() for name in arrays]
    return all(known) or any(each and name.startswith(_KINDS) for each, name in zip(known, arrays))


def _other_prefix(name: str, prefix: str, arrays: Iterable[str]) -> str:
    """A sentence for a missing parameter that is there behind another prefix; "" if it is not."""
    own = name[len(prefix) :] if name.startswith(prefix) else name
    for each in map(_without_kind, arrays):
        other = each[: len(each) - len(own)]
        if each.endswith(own) and own and (not other or other.endswith("_")):
            if other == prefix:
                return f"There it is '{each}', and '{prefix}' is put before the names there. "
            return (
                f"There it is '{each}': names there begin with '{other}', and these parameters' with '{prefix}'. A "
                f"block made with prefix='{other}' has those names. "
            )
    return ""


def named(arrays: Any, filename: Any) -> dict[str, NDArray]:
    """The arrays of a file by name. Raises: TypeError: they have none."""
    if isinstance(arrays, dict):
        return arrays
    if arrays:
        raise MXTypeError(f"{filename}: its {len(arrays)} arrays have no names, so they are no parameters")
    return {}
