"""The type stubs say what there is: every function and method, with its arguments. mypy: tools/check_types.py."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import mxlite as mx
import mxlite.torch  # noqa: F401 - two constant tensors live from then on

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
import describe  # noqa: E402
import make_pyi  # noqa: E402

pytestmark = pytest.mark.one_binding

PROGRAMS = sorted((Path(__file__).resolve().parents[2] / "clients" / "typed" / "programs").glob("*.py"))

STUBS = make_pyi.stubs()
ARRAYS = {"ndarray/ndarray": mx.nd.NDArray, "symbol/symbol": mx.sym.Symbol}
MODULES = tuple(name[: -len(".pyi")] for name in STUBS if name[: -len(".pyi")] not in ARRAYS)


def _functions(body: list[ast.stmt]) -> dict[str, list[ast.FunctionDef]]:
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


def _arguments(function: ast.FunctionDef) -> set[str]:
    given = function.args
    rows = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg]
    return {row.arg.rstrip("_") for row in rows if row is not None}


def _module(stub: str) -> str:
    return "mxlite." + stub.replace("/__init__", "").replace("/", ".")


def test_the_modules() -> None:
    modules = {
        f"{package}/{name}" for package in ("ndarray", "symbol") for name in ("__init__", "op", "_internal", "random")
    }
    assert modules | {"gluon/nn/conv_layers", "gluon/model_zoo/vision/__init__"} <= set(MODULES)


def test_stubs_do_not_depend_on_the_order_of_sets() -> None:
    """Wheels have the same bytes each time."""
    program = "import make_pyi, sys; sys.stdout.write(repr(sorted(make_pyi.stubs().items())))"
    folder = str(Path(make_pyi.__file__).parent)
    seen = {
        subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r}); {program}"],
            env=dict(os.environ, PYTHONHASHSEED=seed),
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


@pytest.mark.parametrize("stub", MODULES)
def test_every_name_is_there(stub: str) -> None:
    tree = ast.parse(STUBS[f"{stub}.pyi"])
    names = set(_functions(tree.body))
    names |= {each.asname for node in tree.body if isinstance(node, ast.ImportFrom) for each in node.names}
    names |= {
        each.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for each in node.targets
        if isinstance(each, ast.Name)
    }
    module = importlib.import_module(_module(stub))
    wanted = {name for name in dir(module) if inspect.isfunction(getattr(module, name, None)) and name[:2] != "__"}
    assert wanted - names - {"handles_of"} == set()


@pytest.mark.parametrize("stub", MODULES)
def test_arguments_are_those_of_the_functions(stub: str) -> None:
    module = importlib.import_module(_module(stub))
    for name, overloads in _functions(ast.parse(STUBS[f"{stub}.pyi"]).body).items():
        function = getattr(module, name)
        operator = make_pyi.operator_of(function)
        if operator is None:
            continue
        if stub.startswith("symbol"):
            wanted = set(inspect.signature(function).parameters) - {"out", "kwargs"} | {"name", "attr"}
        else:
            code = function.__code__
            wanted = set(code.co_varnames[: code.co_argcount]) | {"out", "name"}
        if operator.operator.variadic:
            inputs = [] if stub.startswith("symbol") else operator.operator.inputs[:1]
            wanted |= {row[0] for row in [*inputs, *operator.operator.params]}
            wanted |= {operator.operator.counted} - {""}
        for each in overloads:
            assert _arguments(each) == wanted, f"{stub}: {name}"


def test_every_member_of_ndarray_is_there() -> None:
    (cls,) = (node for node in ast.parse(STUBS["ndarray/ndarray.pyi"]).body if isinstance(node, ast.ClassDef))
    names = set(_functions(cls.body))
    names |= {node.target.id for node in cls.body if isinstance(node, ast.AnnAssign)}
    assert {name for name in dir(mx.nd.NDArray) if name[0] != "_"} - names <= {"free"}
    assert {"__add__", "__radd__", "__iadd__", "__eq__", "__getitem__", "__setitem__", "__len__"} <= names


def test_every_member_of_symbol_that_does_not_only_raise_is_there() -> None:
    (cls,) = (node for node in ast.parse(STUBS["symbol/symbol.pyi"]).body if isinstance(node, ast.ClassDef))
    names = set(_functions(cls.body))
    refused = {"as_in_context", "asnumpy", "asscalar", "backward", "copy", "detach", "wait_to_read", "__bool__"}
    refused |= {"gradient", "optimize_for", "get_backend_symbol"}
    assert {name for name in dir(mx.sym.Symbol) if name[0] != "_"} - names <= {"free"} | refused
    assert {"__add__", "__radd__", "__eq__", "__getitem__", "__iter__", "__neg__", "__matmul__"} <= names
    assert not names & refused


def test_classes_made_from_tables_have_the_arguments_of_their_constructors() -> None:
    stub = STUBS["gluon/nn/conv_layers.pyi"]
    made = {node.name: node for node in ast.parse(stub).body if isinstance(node, ast.ClassDef)}
    assert len(made) == 18
    for name, node in made.items():
        (constructor,) = node.body[1:]
        assert isinstance(constructor, ast.FunctionDef)
        wanted = set(inspect.signature(getattr(mx.gluon.nn, name).__init__).parameters) - {"kwargs"}
        assert _arguments(constructor) == wanted, name


def test_what_blocks_take_is_what_their_options_say() -> None:
    tree = ast.parse((Path(mx.__file__).parent / "gluon" / "_typing.py").read_text(encoding="utf-8"))
    (options,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "BlockOptions")
    named = {node.target.id for node in options.body if isinstance(node, ast.AnnAssign)}
    assert named == set(inspect.signature(mx.gluon.Block.__init__).parameters) - {"self"}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_what_checkers_accept_runs(path: Path) -> None:
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize(
    ("text", "kind", "values", "default"),
    [
        ("int, required", "int", (), None),
        ("float", "float", (), None),
        ("Shape(tuple), optional, default=[]", "Shape(tuple)", (), "[]"),
        ("int or None, optional, default='None'", "int or None", (), "None"),
        ("{'a', 'b'}, required", "enum", ("a", "b"), None),
        ("{None, 'csr'},optional, default='None'", "enum", ("None", "csr"), "None"),
        (", optional, default=None", "", (), "None"),
    ],
)
def test_parameters_are_taken_apart(text: str, kind: str, values: tuple, default: str | None) -> None:
    found = describe.parameter("x", text, "")
    assert (found.kind, found.values, found.default) == (kind, values, default)
    assert found.required == (default is None)


def test_inputs_that_may_be_left_out() -> None:
    counts = {
        name: describe.describe(name).needed for name in ("FullyConnected", "LeakyReLU", "softmax", "dot", "_ones")
    }
    assert counts == {"FullyConnected": 2, "LeakyReLU": 1, "softmax": 1, "dot": 2, "_ones": 0}


def test_outputs_that_depend_on_a_parameter() -> None:
    found = describe.describe("SliceChannel").choice
    assert found is not None and (found.name, found.one, found.several) == ("num_outputs", ("1",), ("2",))
    assert describe.describe("moments").outputs == 2 and describe.describe("exp").choice is None
