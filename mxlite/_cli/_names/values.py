"""What expressions come to, as far as that is plain from a program's text: conditions, options, texts of devices."""

from __future__ import annotations

import ast
import operator
import sys
from typing import Any, Callable

#: Said of an argument: nobody knows without running the program.
UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda self: "?", "__bool__": lambda self: False})()

_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (len, int, str, bool, float, range, list, tuple, max, min)
}
_METHODS = ("split", "lower", "upper", "strip", "startswith", "endswith", "format")
_LONGEST = 10_000  #: texts and lists above are not computed


class _UnknownError(Exception):
    """An expression is not plain."""


class Values:
    """The plain values of a program: of names with one assignment, of options without a command line, of functions
    of the package that `ask` knows.

    Args:
        chain: gives the dotted name that an expression refers to ("torch.cuda.is_available"); None where it refers to
            nothing of a package.
        ask: what a function of that name returns here; raises KeyError for others.
        missing: whether there is no such name here; `hasattr` asks it.
    """

    def __init__(
        self,
        trees: list[ast.Module],
        chain: Callable[[ast.expr], str | None],
        ask: Callable[[str], Any],
        missing: Callable[[str], bool],
    ) -> None:
        self._chain, self._ask, self._missing = chain, ask, missing
        self._given: dict[str, ast.expr] = {}
        self._options: dict[str, dict[str, Any]] = {}
        self._parsed: set[str] = set()
        self._set_later: set[str] = set()
        self._busy: set[str] = set()
        self.by_options = False
        counts: dict[str, int] = {}
        for tree in trees:
            for node in ast.walk(tree):
                self._look(node, counts)
        self._given = {name: value for name, value in self._given.items() if counts[name] == 1}

    def _look(self, node: ast.AST, counts: dict[str, int]) -> None:
        """Counts what binds names; keeps assignments and options."""
        bound: list[str] = []
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound = [node.id]
        elif isinstance(node, ast.arg):
            bound = [node.arg]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound = [node.name]
        elif isinstance(node, ast.alias):
            bound = [(node.asname or node.name).partition(".")[0]]
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            bound = node.names
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound = [node.name]
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            self._set_later.add(node.attr)
        elif isinstance(node, ast.Assign):
            self._assigned(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            self._option(node, node.func.attr)
        for name in bound:
            counts[name] = counts.get(name, 0) + 1

    def _assigned(self, node: ast.Assign) -> None:
        value = node.value
        for target in node.targets:
            first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
            if isinstance(first, ast.Name) and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                if value.func.attr in ("parse_args", "parse_known_args"):
                    self._parsed.add(first.id)
            if isinstance(target, ast.Name):
                self._given[target.id] = value

    def _option(self, node: ast.Call, method: str) -> None:
        """An option of argparse or optparse: what it is when nobody gives it."""
        if method == "set_defaults":
            self._options.update({each.arg: {"default": each.value} for each in node.keywords if each.arg})
        if method not in ("add_argument", "add_option"):
            return
        flags = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        named = {each.arg: each.value for each in node.keywords if each.arg}
        if not flags or not flags[0].startswith("-"):
            return  # a positional one: nobody knows
        long = next((flag for flag in flags if flag.startswith("--")), flags[0])
        name = long.lstrip("-").replace("-", "_")
        if isinstance(named.get("dest"), ast.Constant):
            name = named["dest"].value  # type: ignore[attr-defined]
        if isinstance(named.get("required"), ast.Constant) and named["required"].value:  # type: ignore[attr-defined]
            return
        self._options[name] = named

    # ---- what comes out ----

    def of(self, node: ast.expr) -> Any:
        """An expression's value, or UNKNOWN; `by_options` says whether options could make it another one."""
        self.by_options = False
        return self._try(node)

    def taken(self, loop: ast.comprehension) -> Any:
        """The values that a comprehension's loop takes, without those that its conditions leave out, or UNKNOWN."""
        values = self.of(loop.iter)
        if values is UNKNOWN or not loop.ifs or not isinstance(loop.target, ast.Name) or len(values) > _LONGEST:
            return values
        name, found = loop.target.id, []
        before = self._given.get(name)
        for value in values:
            self._given[name] = ast.Constant(value)
            if all(self._try(test) for test in loop.ifs) or UNKNOWN in map(self._try, loop.ifs):
                found.append(value)
        del self._given[name]
        if before is not None:
            self._given[name] = before
        return found

    def _try(self, node: ast.expr) -> Any:
        try:
            return self._value(node)
        except _UnknownError:
            return UNKNOWN
        except Exception:  # what the program itself would raise: no value
            return UNKNOWN

    def _value(self, node: ast.expr) -> Any:
        found = getattr(self, f"_of_{type(node).__name__}", None)
        if found is None:
            raise _UnknownError
        return found(node)

    def _of_Constant(self, node: ast.Constant) -> Any:  # noqa: N802
        return node.value

    def _of_Name(self, node: ast.Name) -> Any:  # noqa: N802
        if node.id == "__name__":
            return "__main__"
        if node.id not in self._given or node.id in self._busy:
            raise _UnknownError
        self._busy.add(node.id)
        try:
            return self._value(self._given[node.id])
        finally:
            self._busy.discard(node.id)

    def _of_Attribute(self, node: ast.Attribute) -> Any:  # noqa: N802
        if isinstance(node.value, ast.Name) and node.value.id in self._parsed and node.attr not in self._set_later:
            return self._default(node.attr)
        name = self._chain(node) or ""
        if name in ("sys.version_info", "sys.version_info.major", "sys.version", "sys.platform"):
            return operator.attrgetter(name[len("sys.") :])(sys)
        if name in ("six.PY2", "six.PY3"):
            return name.endswith("3")
        raise _UnknownError

    def _default(self, name: str) -> Any:
        if name not in self._options:
            raise _UnknownError
        self.by_options = True
        named = self._options[name]
        action = named["action"].value if isinstance(named.get("action"), ast.Constant) else None
        if "default" not in named:
            return {"store_true": False, "store_false": True}.get(action or "")
        value = self._value(named["default"])
        kind = named.get("type")
        if isinstance(value, str) and isinstance(kind, ast.Name) and kind.id in ("int", "float"):
            return float(value) if kind.id == "float" else int(value)
        return value

    def _of_List(self, node: ast.List | ast.Tuple | ast.Set) -> Any:  # noqa: N802
        return [self._value(each) for each in node.elts]

    def _of_Tuple(self, node: ast.Tuple) -> Any:  # noqa: N802
        return tuple(self._of_List(node))

    _of_Set = _of_List  # noqa: N815

    def _of_Dict(self, node: ast.Dict) -> Any:  # noqa: N802
        if None in node.keys:
            raise _UnknownError
        return {self._value(key): self._try(value) for key, value in zip(node.keys, node.values) if key is not None}

    def _of_UnaryOp(self, node: ast.UnaryOp) -> Any:  # noqa: N802
        value = self._value(node.operand)
        return not value if isinstance(node.op, ast.Not) else -value if isinstance(node.op, ast.USub) else +value

    def _of_BoolOp(self, node: ast.BoolOp) -> Any:  # noqa: N802
        ending = isinstance(node.op, ast.Or)
        values = [self._try(each) for each in node.values]
        for value in values:
            if value is not UNKNOWN and bool(value) is ending:
                return value
        if UNKNOWN in values:
            raise _UnknownError
        return values[-1]

    def _of_Compare(self, node: ast.Compare) -> Any:  # noqa: N802
        left = self._value(node.left)
        for op, right in zip(node.ops, node.comparators):
            value = self._value(right)
            if not _COMPARE[type(op)](left, value):
                return False
            left = value
        return True

    def _of_BinOp(self, node: ast.BinOp) -> Any:  # noqa: N802
        left, right = self._value(node.left), self._value(node.right)
        if type(node.op) not in _BINARY or (isinstance(node.op, ast.Mult) and _long(left) and _long(right)):
            raise _UnknownError
        found = _BINARY[type(node.op)](left, right)
        if hasattr(found, "__len__") and len(found) > _LONGEST:
            raise _UnknownError
        return found

    def _of_IfExp(self, node: ast.IfExp) -> Any:  # noqa: N802
        return self._value(node.body if self._value(node.test) else node.orelse)

    def _of_Subscript(self, node: ast.Subscript) -> Any:  # noqa: N802
        return self._value(node.value)[self._value(node.slice)]

    def _of_Call(self, node: ast.Call) -> Any:  # noqa: N802
        name = self._chain(node.func)
        if name is not None:
            try:
                return self._ask(name)
            except KeyError:
                raise _UnknownError from None
        if node.keywords:
            raise _UnknownError
        if isinstance(node.func, ast.Name) and node.func.id == "hasattr" and len(node.args) == 2:
            owner = self._chain(node.args[0])
            if owner is None or "()" in owner:
                raise _UnknownError
            return not self._missing(f"{owner}.{self._value(node.args[1])}")
        given = [self._value(each) for each in node.args]
        if isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
            if node.func.id in ("list", "tuple") and given and _long(given[0]):
                raise _UnknownError
            return _FUNCTIONS[node.func.id](*given)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            text = self._value(node.func.value)
            if isinstance(text, str):
                return getattr(text, node.func.attr)(*given)
        raise _UnknownError


def _long(value: Any) -> bool:
    """Whether a number, or a list's length, is such that nothing should be made of it."""
    return (len(value) if hasattr(value, "__len__") else abs(value)) > 100
