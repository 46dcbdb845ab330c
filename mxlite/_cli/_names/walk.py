"""What a program uses of packages, in the order in which it runs: found without running it.

Imports and chains of attributes are followed through the program's names, calls through its functions and classes.
Conditions that are plain (`if mx.context.num_gpus():`, options that are not given) decide; others make a use a maybe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple

from mxlite._cli._names.sources import Source
from mxlite._cli._names.uses import CERTAIN, DEAD, MAYBE, UNCALLED, Reach, Use, caught_by, imported, last, leaves
from mxlite._cli._names.values import UNKNOWN, Values

#: What a parameter of that name is in MXNet's code: mx.nd or mx.sym, as `hybrid_forward(self, F, x)` gets it.
_GIVEN = {"F": "mxnet.nd"}
#: Functions whose arguments are exceptions that the `with` block may raise.
_CATCHING = ("suppress", "raises", "assertRaises", "assertRaisesRegex", "assert_raises")
_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_OPTIONS = "with other options"
_ENDING = ("sys.exit", "os._exit", "exit", "quit")
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class _Class(NamedTuple):
    node: ast.ClassDef
    bases: list[str | None]  #: names of the program's own classes, or None for others
    outer: list[str]  #: what the others are in packages ("" if nobody knows)
    methods: dict[str, Any]
    source: Source


class Walker(ast.NodeVisitor):
    """Walks trees as one program, one after another; `uses` has what was found.

    Args:
        ask: what a function of a package returns here ("mxnet.num_gpus"); raises KeyError for others.
        has: whether a class of a package has a method.
        star: what `from module import *` gives: full names by names; None: nobody knows.
        missing: whether importing a name fails here, as far as one knows.
        fails: whether calling it fails.
    """

    def __init__(
        self,
        sources: list[tuple[Source, ast.Module]],
        ask: Callable[[str], Any],
        has: Callable[[str, str], bool],
        star: Callable[[str], dict[str, str] | None],
        missing: Callable[[str], bool],
        fails: Callable[[str], bool],
    ) -> None:
        self.uses: dict[tuple[str, str, str], Use] = {}
        self.bound: set[str] = set()  #: all names that the program binds
        self.free: dict[str, Use] = {}  #: names that it reads and nobody of these packages gave it
        self._has, self._star, self._missing, self._fails = has, star, missing, fails
        self.given: set[str] = set()  #: names of packages that the program assigns
        self.stars: list[str] = []  #: modules that gave all their names
        self._registered: dict[str, str] = {}  #: classes by the texts that programs use them by
        self._scope: dict[str, str] = {}
        self._functions: dict[str, list[tuple[Any, dict[str, str], Source]]] = {}
        self._classes: dict[str, _Class] = {}
        self.methods: dict[str, list[tuple[Any, dict[str, str], Source]]] = {}  #: of its own classes
        self._owners: dict[int, str] = {}  #: of methods: "Class."
        self._walked: dict[int, list[tuple[int, frozenset[str]]]] = {}
        self._reach, self._caught, self._depth = Reach(CERTAIN), frozenset[str](), 0
        self._values = Values([tree for _, tree in sources], self._chain, ask, missing)
        for source, tree in sources:
            self._source = source
            for node in ast.walk(tree):  # functions use what is imported and defined below them
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    self._bind(node, note=False)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    self.bound.add(node.id)
                elif isinstance(node, (*_Function, ast.ClassDef)):
                    self.bound.add(node.name)
                elif isinstance(node, ast.arg):
                    self.bound.add(node.arg)
        for source, tree in sources:
            self._source = source
            self._statements(tree.body)
        self._walk_the_rest()

    def _walk_the_rest(self) -> None:
        """Functions that nothing called; walking them may define others."""
        while True:
            every = [each for held in (self._functions, self.methods) for name in held for each in held[name]]
            left = [each for each in every if id(each[0]) not in self._walked]
            if not left:
                return
            for node, scope, source in left:
                name = self._owners.get(id(node), "") + node.name
                when = f"if {name}() is called" if node.name != "__init__" else f"if a {name.split('.')[0]} is made"
                self._enter(node, scope, source, Reach(UNCALLED, when))

    # ---- notes ----

    def _note(self, name: str, kind: str, node: Any, given: Any = (), named: Any = None) -> None:
        use = Use(name, kind, self._source, node.lineno, self._reach, self._caught, list(given), dict(named or {}))
        key = (name, kind, use.place)
        before = self.uses.get(key)
        if before is not None:
            worse = (before.reach.state, len(before.caught)) > (use.reach.state, len(use.caught))
            if not worse:
                return
            del self.uses[key]  # it comes where it is reached for certain
        self.uses[key] = use

    def _bind(self, node: ast.Import | ast.ImportFrom, note: bool = True) -> None:
        """Takes over what an import makes known, and notes its names."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                self._scope[alias.asname or root] = alias.name if alias.asname else root
                self.bound.add(alias.asname or root)
                if note:
                    self._note(alias.name, "import", node)
            return
        for alias in node.names:
            self.bound.add(alias.asname or alias.name)
            if node.level:
                self._scope.pop(alias.asname or alias.name, None)
                continue
            if alias.name == "*":
                if note:
                    self.stars.append(node.module or "")
                    self._note(node.module or "", "star", node)
                self._scope.update(self._star(node.module or "") or {})
                continue
            name = f"{node.module}.{alias.name}"
            self._scope[alias.asname or alias.name] = name
            if note:
                self._note(name, "import", node)

    def visit_Import(self, node: ast.Import) -> None:  # noqa: N802
        self._bind(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:  # noqa: N802
        self._bind(node)

    # ---- chains ----

    def _chain(self, node: ast.expr) -> str | None:
        """The dotted name that an expression refers to; "a.B()" is an object of the class a.B; None: of no package."""
        if isinstance(node, ast.Name):
            return self._scope.get(node.id)
        if isinstance(node, ast.Attribute):
            before = self._chain(node.value)
            return None if before is None else f"{before}.{node.attr}"
        if isinstance(node, ast.Call):
            before = self._chain(node.func)
            if before in (None, "importlib.import_module") and node.args:
                return self._by_text(node, before is not None)
            return None if before is None or before.endswith(")") else f"{before}()"
        return None

    def _by_text(self, node: ast.Call, importing: bool) -> str | None:
        """What `getattr(mx, "nd")`, `__import__("mxnet")` and `importlib.import_module("mxnet.nd")` stand for."""
        function = node.func.id if isinstance(node.func, ast.Name) else ""
        text = node.args[-1].value if isinstance(node.args[-1], ast.Constant) else None
        if not isinstance(text, str):
            return None
        if function == "getattr" and len(node.args) == 2:
            before = self._chain(node.args[0])
            return None if before is None else f"{before}.{text}"
        if len(node.args) == 1 and function == "__import__":
            return text.partition(".")[0]
        return text if importing and len(node.args) == 1 and text[:1] != "." else None

    def visit_Name(self, node: ast.Name) -> None:  # noqa: N802
        if not isinstance(node.ctx, ast.Load):
            return
        for function in self._functions.get(node.id, ()):
            self._enter(*function, self._reach)
        if node.id in self._classes:
            self._make(node.id)
        name = self._scope.get(node.id)
        if name is not None and not name.endswith(")"):
            self._note(name, "name", node)
        elif name is None and node.id not in self.bound and node.id not in self.free:
            self.free[node.id] = Use(node.id, "name", self._source, node.lineno, self._reach, self._caught)

    def visit_Attribute(self, node: ast.Attribute) -> None:  # noqa: N802
        name = self._chain(node)
        if not isinstance(node.ctx, ast.Load):
            if name is not None:
                self.given.add(name)
            self.visit(node.value)
            return
        if name is not None and "()" not in name:
            self._note(name, "name", node)
            return
        self._note(name or f".{node.attr}", "name", node)
        for function in self.methods.get(node.attr, ()):
            self._enter(*function, self._reach)
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:  # noqa: N802
        self.visit(node.func)
        for each in (*node.args, *node.keywords):
            self.visit(each)
            value = each.value if isinstance(each, ast.keyword) else each
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value in self._registered:
                self._make(self._registered[value.value])
        if isinstance(node.func, ast.Name) and node.func.id in self._classes:
            for base in self._outer(node.func.id, set()):
                self._note(base, "call", node, named={"*": UNKNOWN, "**": UNKNOWN})
        name = self._chain(node.func)
        whole = self._chain(node)
        if whole is not None and "()" not in whole:  # by text: getattr(mx, "nd")
            self._note(whole, "name", node)
            return
        if isinstance(node.func, ast.Name) and node.func.id == "map" and (mapped := self._chain(node.args[0])):
            self._note(mapped, "call", node, [UNKNOWN])
        if isinstance(node.func, ast.Name) and node.func.id == "setattr" and len(node.args) == 3:
            self.given.add(f"{self._chain(node.args[0])}.{self._values.of(node.args[1])}")
        if name is None and isinstance(node.func, ast.Attribute):
            name = f".{node.func.attr}"
        if name is None:
            return
        given = [UNKNOWN if isinstance(each, ast.Starred) else self._values.of(each) for each in node.args]
        named = {each.arg or "**": self._values.of(each.value) for each in node.keywords}
        if any(isinstance(each, ast.Starred) for each in node.args):
            named["*"] = UNKNOWN
        self._note(name, "call", node, given, named)

    # ---- assignments ----

    def _assign(self, target: ast.expr, name: str | None) -> None:
        if isinstance(target, ast.Name):
            if name is None:
                self._scope.pop(target.id, None)
            else:
                self._scope[target.id] = name
        elif isinstance(target, (ast.Tuple, ast.List)):
            for each in target.elts:
                self._assign(each, None)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, None)
        else:
            self.visit(target)

    def visit_Assign(self, node: ast.Assign) -> None:  # noqa: N802
        self.visit(node.value)
        for target in node.targets:
            self._assign(target, self._chain(node.value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:  # noqa: N802
        if node.value is not None:
            self.visit(node.value)
            self._assign(node.target, self._chain(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:  # noqa: N802
        self.visit(node.value)
        self._assign(node.target, None)

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for each in nodes:
            self.visit(each)

    # ---- what decides ----

    def _under(self, reach: Reach, walk: Callable[[], None], keep: bool = True) -> None:
        """Walks something that is reached only so; `keep`: what it assigns holds behind it."""
        before, scope = self._reach, dict(self._scope)
        if reach.state > before.state:
            self._reach = reach
        elif (
            reach.state == MAYBE and before.when and reach.when != _OPTIONS and len(before.when) + len(reach.when) < 80
        ):
            self._reach = Reach(before.state, f"{before.when}, {reach.when}")
        walk()
        self._reach = before
        if not keep:
            self._scope = scope

    def _branches(self, test: ast.expr, yes: Callable[[], None], no: Callable[[], None]) -> None:
        value = self._values.of(test)
        by_options = self._values.by_options
        text = self._text(test)
        other = MAYBE if value is UNKNOWN or by_options else DEAD
        yes_reach = Reach(CERTAIN if value is not UNKNOWN and value else other, f"if {text}")
        no_reach = Reach(CERTAIN if value is not UNKNOWN and not value else other, f"unless {text}")
        self._under(yes_reach, yes, yes_reach.state != DEAD)
        self._under(no_reach, no, no_reach.state != DEAD)

    @staticmethod
    def _text(node: ast.expr) -> str:
        text = ast.unparse(node)
        return text if len(text) <= 60 else text[:57] + "..."

    def visit_If(self, node: ast.If) -> None:  # noqa: N802
        self.visit(node.test)
        self._branches(node.test, lambda: self._statements(node.body), lambda: self._statements(node.orelse))

    def visit_IfExp(self, node: ast.IfExp) -> None:  # noqa: N802
        self.visit(node.test)
        self._branches(node.test, lambda: self.visit(node.body), lambda: self.visit(node.orelse))

    def visit_BoolOp(self, node: ast.BoolOp) -> None:  # noqa: N802
        self.visit(node.values[0])
        rest = ast.BoolOp(node.op, node.values[1:]) if len(node.values) > 2 else node.values[1]

        def others() -> None:
            self.visit(rest)

        def nothing() -> None:
            pass

        both = (others, nothing) if isinstance(node.op, ast.And) else (nothing, others)
        self._branches(node.values[0], *both)

    def visit_Compare(self, node: ast.Compare) -> None:  # noqa: N802
        # `ctx == mx.gpu()` makes nothing there.
        self.visit(node.left)
        self._under(Reach(DEAD), lambda: self._visit_all(node.comparators))

    def visit_Subscript(self, node: ast.Subscript) -> None:  # noqa: N802
        # `{"gpu": mx.gpu(), "cpu": mx.cpu()}[kind]` takes one of them.
        taken = isinstance(node.value, (ast.Dict, ast.Tuple, ast.List))
        when = f"if {self._text(node.slice)} takes it"
        self._under(Reach(MAYBE if taken else CERTAIN, when), lambda: self.visit(node.value))
        self.visit(node.slice)

    def visit_While(self, node: ast.While) -> None:  # noqa: N802
        self.visit(node.test)
        value = self._values.of(node.test)
        never = value is not UNKNOWN and not value
        self._under(Reach(DEAD if never else CERTAIN), lambda: self._statements(node.body))
        self._statements(node.orelse)

    def _rounds(self, values: ast.expr, comprehension: ast.comprehension | None = None) -> Reach:
        """Whether a loop has a round: a range that is not known may have none; data are there."""
        value = self._values.of(values) if comprehension is None else self._values.taken(comprehension)
        if value is not UNKNOWN:
            empty = hasattr(value, "__len__") and len(value) == 0
            return Reach(MAYBE if empty and self._values.by_options else DEAD if empty else CERTAIN, _OPTIONS)
        if isinstance(values, ast.Call) and isinstance(values.func, ast.Name) and values.func.id in ("range", "xrange"):
            number = values.args[-1 if len(values.args) < 3 else 1] if values.args else values
            return Reach(MAYBE, f"if {ast.unparse(number)} is above 0")
        return Reach(CERTAIN)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:  # noqa: N802
        self.visit(node.iter)
        self._assign(node.target, None)
        reach = self._rounds(node.iter)
        # The body of a loop over epochs or batches is taken to run, also where the number of rounds is unknown.
        self._under(Reach(DEAD if reach.state == DEAD else CERTAIN), lambda: self._statements(node.body))
        self._statements(node.orelse)

    visit_AsyncFor = visit_For  # noqa: N815

    def _comprehension(self, node: Any) -> None:
        reach, before = Reach(CERTAIN), dict(self._scope)
        for each in node.generators:
            self.visit(each.iter)
            reach = max(reach, self._rounds(each.iter, each))
            self._assign(each.target, None)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        parts += [test for each in node.generators for test in each.ifs]
        self._under(reach, lambda: self._visit_all(parts))
        self._scope = before

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension  # noqa: N815

    # ---- exceptions ----

    def _catching(self, names: set[str], walk: Callable[[], None]) -> None:
        before = self._caught
        self._caught = before | names
        walk()
        self._caught = before

    def visit_Try(self, node: Any) -> None:  # noqa: N802
        names: set[str] = set()
        for handler in node.handlers:
            if not self._ends(handler.body[-1], raising=True):
                names |= caught_by(handler.type)
        self._catching(names, lambda: self._statements(node.body))
        fails = bool(names) and self._body_fails(node.body, bool(names & _IMPORT_ERRORS))
        if not fails:
            self._statements(node.orelse)
        reach = Reach(CERTAIN if fails else MAYBE, f"if {self._source.place(node.lineno + 1)} fails")
        for handler in node.handlers:
            self._under(reach, lambda: self._statements(handler.body), keep=fails)  # noqa: B023 - at once
        self._statements(node.finalbody)

    visit_TryStar = visit_Try  # noqa: N815

    def _body_fails(self, body: list[ast.stmt], importing: bool) -> bool:
        """Whether what a `try` statement tries is known to fail: an import, a name that is not there, a GPU."""
        if importing and any(map(self._missing, imported(body))):
            return True
        for node in (node for each in body for node in ast.walk(each)):
            if isinstance(node, (ast.Attribute, ast.Call)):
                name = self._chain(node.func if isinstance(node, ast.Call) else node)
                if name is not None and "()" not in name:
                    if self._fails(name) if isinstance(node, ast.Call) else self._missing(name):
                        return True
        return False

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:  # noqa: N802
        names: set[str] = set()
        for item in node.items:
            self.visit(item.context_expr)
            call = item.context_expr
            if isinstance(call, ast.Call) and last(call.func) in _CATCHING:
                names |= {last(each) for each in call.args} - {""}
            if item.optional_vars is not None:
                self._assign(item.optional_vars, None)
        self._catching(names, lambda: self._statements(node.body))

    visit_AsyncWith = visit_With  # noqa: N815

    # ---- statements ----

    def _statements(self, body: list[ast.stmt]) -> None:
        for at, each in enumerate(body):
            self.visit(each)
            rest = body[at + 1 :]
            behind = self._behind(each)
            if rest and behind.state != CERTAIN:
                self._under(behind, lambda: self._statements(rest), keep=behind.state != DEAD)  # noqa: B023 - at once
                return

    def _behind(self, node: ast.stmt) -> Reach:
        """Whether the program comes to what is behind a statement of a block."""
        if self._ends(node):
            return Reach(DEAD)
        if isinstance(node, ast.If) and not self._decided(node):
            if leaves(node.body):
                return Reach(MAYBE, f"unless {self._text(node.test)}")
            if leaves(node.orelse):
                return Reach(MAYBE, f"if {self._text(node.test)}")
        if isinstance(node, ast.Try) and any(leaves(handler.body) for handler in node.handlers):
            fails = self._body_fails(node.body, True)
            return Reach(DEAD if fails else MAYBE, f"unless {self._source.place(node.lineno + 1)} fails")
        return Reach(CERTAIN)

    def _decided(self, node: ast.If) -> bool:
        return self._values.of(node.test) is not UNKNOWN and not self._values.by_options

    def _ends(self, node: ast.stmt, raising: bool = False) -> bool:
        """Whether nothing behind a statement runs; `raising`: whether it ends the program, or raises."""
        if isinstance(node, ast.Raise):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            return (self._chain(function) or (function.id if isinstance(function, ast.Name) else "")) in _ENDING
        if isinstance(node, ast.If):
            if not self._decided(node):
                return False
            body = node.body if self._values.of(node.test) else node.orelse
            return bool(body) and self._ends(body[-1], raising)
        return not raising and isinstance(node, (ast.Return, ast.Continue, ast.Break))

    # ---- functions and classes ----

    def _function(self, node: Any) -> None:
        for each in node.decorator_list:
            self.visit(each)
            function = each.func if isinstance(each, ast.Call) else each
            name = self._chain(function)
            if name is not None and not isinstance(each, ast.Call):
                self._note(name, "call", each, [UNKNOWN])
        defaults = [each for each in (*node.args.defaults, *node.args.kw_defaults) if each is not None]
        reach = Reach(MAYBE, f"if {node.name}() is called without it")
        self._under(reach, lambda: self._visit_all(defaults))
        self._scope.pop(node.name, None)
        self._functions.setdefault(node.name, []).append((node, dict(self._scope) if self._depth else {}, self._source))

    visit_FunctionDef = visit_AsyncFunctionDef = _function  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:  # noqa: N802
        before = dict(self._scope)
        self._parameters(node.args)
        self.visit(node.body)
        self._scope = before

    def _parameters(self, arguments: ast.arguments) -> None:
        for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
            if each is not None:
                self._scope.pop(each.arg, None)
                if each.arg in _GIVEN:
                    self._scope[each.arg] = _GIVEN[each.arg]

    def _enter(self, node: Any, scope: dict[str, str], source: Source, reach: Reach) -> None:
        """Walks a function's body, once for each way to it that says more than those before."""
        ways = self._walked.setdefault(id(node), [])
        if any(state <= reach.state and caught <= self._caught for state, caught in ways):
            return
        ways.append((reach.state, self._caught))
        outer, self._scope = self._scope, {**self._scope, **scope}
        own, self._source = self._source, source
        before, self._reach = self._reach, reach
        self._depth += 1
        self._parameters(node.args)
        self._statements(node.body)
        self._depth -= 1
        self._scope, self._source, self._reach = outer, own, before

    def visit_ClassDef(self, node: ast.ClassDef) -> None:  # noqa: N802
        for each in (*node.decorator_list, *node.keywords):
            self.visit(each)
        bases, outer = [], []
        for base in node.bases:
            own = base.id if isinstance(base, ast.Name) and base.id in self._classes else None
            if own is None:
                self.visit(base)
                outer.append(self._chain(base) or last(base))
            bases.append(own)
        methods = {each.name: each for each in node.body if isinstance(each, _Function)}
        scope = dict(self._scope) if self._depth else {}
        for name, method in methods.items():
            self._owners[id(method)] = f"{node.name}."
            self.methods.setdefault(name, []).append((method, scope, self._source))
            for each in method.decorator_list:
                self.visit(each)
        self._classes[node.name] = _Class(node, bases, outer, methods, self._source)
        self._scope.pop(node.name, None)
        before = dict(self._scope)
        self._depth += 1
        self._statements([each for each in node.body if not isinstance(each, _Function)])
        self._depth -= 1
        self._scope = before
        for each in node.decorator_list:  # a registered class is used by name
            texts = each.args if isinstance(each, ast.Call) else []
            self._registered[node.name.lower()] = node.name
            for text in texts:
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    self._registered[text.value] = node.name

    def _make(self, name: str) -> None:
        """Walks what making an object of a class runs, and what the packages of its bases call."""
        outer = self._outer(name, set())
        for each in self._family(name, set()):
            for method, node in each.methods.items():
                special = method[:2] == "__" or any(self._has(base, method) for base in outer)
                if special:
                    self._enter(node, {}, each.source, self._reach)

    def _family(self, name: str, seen: set[str]) -> list[_Class]:
        if name in seen or name not in self._classes:
            return []
        seen.add(name)
        each = self._classes[name]
        return [each, *(one for base in each.bases if base for one in self._family(base, seen))]

    def _outer(self, name: str, seen: set[str]) -> list[str]:
        return [base for each in self._family(name, seen) for base in each.outer if base not in ("object", "")]
