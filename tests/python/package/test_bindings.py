"""bindings/cases.json, which programs in other languages run, is what its script writes; the packages stay small."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import mxlite as mx
from mxlite.ndarray._operators import Operator, operator_names

pytestmark = pytest.mark.one_binding

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "bindings" / "cases.json"
AGAIN = "; tools/make_binding_cases.py writes it again"
ARRAYS = ("inputs", "outputs", "heads", "gradients")


@pytest.fixture(scope="module")
def script():
    """tools/make_binding_cases.py as a module."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import make_binding_cases
    finally:
        sys.path.remove(str(ROOT / "tools"))
    return make_binding_cases


def _without_values(row: dict) -> dict:
    """A row with its arrays' values taken out."""
    bare = {key: [{**each, "values": len(each["values"])} for each in row[key]] for key in ARRAYS if key in row}
    return {**row, **bare}


def test_the_file_is_what_the_script_writes(script) -> None:
    """Everything but the last bits of computed values, which are the processor's."""
    stored = json.loads(FILE.read_text(encoding="ascii"))["cases"]
    made = json.loads(script.text_of(script.make()))["cases"]
    assert [row["id"] for row in stored] == [row["id"] for row in made], f"{FILE} has other rows{AGAIN}"
    for old, new in zip(stored, made):
        assert _without_values(old) == _without_values(new), f"{old['id']}{AGAIN}"
        for key in ARRAYS:
            for one, two in zip(old.get(key, ()), new.get(key, ())):
                got, wanted = (np.array(each["values"], dtype=np.float64) for each in (one, two))
                close = {"rtol": one.get("rtol", 0.0), "atol": one.get("atol", 0.0)}
                np.testing.assert_allclose(got, wanted, **close, err_msg=f"{old['id']}: {key}{AGAIN}")


def test_node_knows_every_operator_and_its_parameters() -> None:
    """What make_types.js writes is compared in full where there is Node.js (`make test-bindings`)."""
    text = (ROOT / "bindings" / "node" / "operators.d.ts").read_text(encoding="ascii")
    found = {
        name: set(re.findall(r"(\w+)\??: ", rest))
        for name, rest in re.findall(r"^  (\w+)\((?:\.\.\.given|params)(.*)$", text, re.M)
    }
    operators = {name: Operator(name) for name in operator_names()}
    assert list(found) == sorted(operators), "bindings/node/make_types.js writes operators.d.ts again"
    for name, operator in operators.items():
        missing = {param for param, _, _ in operator.params if param != operator.counted} - found[name]
        assert not missing, f"{name} has {missing}; bindings/node/make_types.js writes operators.d.ts again"


def test_the_file_holds_what_runners_count_on() -> None:
    text = FILE.read_text(encoding="ascii")
    rows = json.loads(text)["cases"]
    assert len(text) < 350_000 and len({row["id"] for row in rows}) == len(rows) >= 150
    assert "\\" not in text.replace('\\"', "")
    assert not any(word in text for word in (": true", ": false", ": null"))
    for row in rows:
        assert ("error" in row) != ("outputs" in row) and row["train"] in (0, 1), row["id"]
        assert ("heads" in row) == ("gradients" in row), row["id"]
        assert all(isinstance(value, str) for value in row["params"].values()), row["id"]
        for each in [each for key in ARRAYS for each in row.get(key, ())]:
            assert each["dtype"] in ("float32", "float64", "int32") and each["shape"], row["id"]
            assert len(each["values"]) == np.prod(each["shape"]) > 0, row["id"]
    dtypes = {each["dtype"] for row in rows for key in ARRAYS for each in row.get(key, ())}
    assert dtypes == {"float32", "float64", "int32"}
    assert sum("gradients" in row for row in rows) >= 100 and sum("error" in row for row in rows) >= 20


def test_float32_is_read_back_bit_for_bit() -> None:
    """Values of float32, read as double and rounded, keep their digits: a reader needs no float32 parser."""
    for row in json.loads(FILE.read_text(encoding="ascii"))["cases"]:
        for each in [each for key in ARRAYS for each in row.get(key, ()) if each["dtype"] == "float32"]:
            for value in each["values"]:
                assert float(str(np.float32(value))) == float(value) or value == "nan", (row["id"], value)


# What is not counted of a language's folder: build files, programs that write code, what these wrote, other tests.
LEFT_OUT = {
    "cpp": ["Makefile", "CMakeLists.txt", "make_ops.cpp", "tests.cpp"],
    "rust": [
        "Cargo.toml",
        "rustfmt.toml",
        "build.rs",
        "make_sys.py",
        "src/sys.rs",
        "tests/binding.rs",
        "tests/lifetimes.rs",
    ],
    "node": ["package.json", "make_types.js", "index.d.ts", "operators.d.ts", "arrays.js", "test/node.test.js"],
    "java": ["Makefile", "tools/MakeOps.java", "test/Tests.java"],
    "perl": ["Makefile.PL", "t/binding.t"],
    "lua": ["tests.lua"],
    "web": ["package.json", "index.d.ts", "bits.mjs", "test/web.test.mjs"],
}
BUILT = {"target", "node_modules", "Cargo.lock", "package-lock.json"}
RUNNERS = {
    "cpp": "conformance.cpp",
    "rust": "tests/cases.rs",
    "node": "conformance.js",
    "java": "test/Cases.java",
    "perl": "t/cases.t",
    "lua": "conformance.lua",
    "web": "test/cases.test.mjs",
}


def test_every_folder_is_counted() -> None:
    folders = {path.name for path in (ROOT / "bindings").iterdir() if path.is_dir()}
    assert folders == {*LEFT_OUT, "predict"}  # which is programs, and no package
    assert set(LEFT_OUT) == set(RUNNERS)


def test_the_shipped_model_predicts_what_the_programs_must_print() -> None:
    """bindings/predict: the answers that programs in C, Go and Java are compared with."""
    folder = ROOT / "bindings/predict"
    data = np.fromfile(ROOT / "examples/data/digits.u8", "uint8").reshape(-1, 65)[1437:]
    symbol, arguments, states = mx.model.load_checkpoint(str(folder / "digits"), 0)
    module = mx.mod.Module(symbol)
    module.bind([("data", (len(data), 64))], [("softmax_label", (len(data),))], for_training=False)
    module.set_params(arguments, states)
    module.forward(mx.io.DataBatch([mx.nd.array(data[:, :64].astype("float32") / 16)]), is_train=False)
    digits = module.get_outputs()[0].asnumpy().argmax(axis=1)
    lines = [" ".join(map(str, digits[at : at + 10])) for at in range(0, len(digits), 10)]
    lines.append(f"held-out accuracy {(digits == data[:, 64]).mean():.3f}")
    assert (folder / "predicted.txt").read_text(encoding="ascii").splitlines() == lines


@pytest.mark.parametrize("language", sorted(LEFT_OUT))
def test_a_binding_is_under_800_lines(language: str) -> None:
    folder = ROOT / "bindings" / language
    counted = {}
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        if path.is_file() and not BUILT & set(inside.parts) and inside.parts[0] != "examples":
            counted[inside.as_posix()] = path.read_bytes().count(b"\n")
    for name in ["README.md", *LEFT_OUT[language]]:
        del counted[name]  # fails for one that is no more
    counted.pop(".gitignore", None)
    if language == "cpp":
        counted["mxlite.hpp"] = (ROOT / "include/mxlite/mxlite.hpp").read_bytes().count(b"\n")
    assert RUNNERS[language] in counted and len(counted) >= 2
    assert sum(counted.values()) < 800, counted
