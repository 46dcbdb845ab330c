"""Runs ONNX's own backend tests on mxlite, and prints the share that passes, by operator.

    .venvs/predict/bin/python tests/onnx/backend.py [--kind node] [--name TEXT] [--verbose]

A test is out of scope where it needs what mxlite has not: texts, sequences, optional values, maps, dtypes, or
operators of training. The program fails where a test that is in scope does not pass, except those of `KNOWN`.
"""

from __future__ import annotations

import argparse
import collections
import glob
import os
import signal
import sys
import time
import warnings
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

import mxlite as mx
from mxlite.onnx import backend
from mxlite.onnx._file import DTYPES

SECONDS = 20
DATA = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")

#: Beginnings of names of tests in scope that cannot pass, with why.
KNOWN = {
    "test_bernoulli": "draws random numbers, which are others than NumPy's",
    "test_training_dropout": "draws random numbers, which are others than NumPy's",
    "test_dft_inverse": "holds rounding errors of 2e-7 to be the results, with a tolerance of 1e-7; ours are 0",
    "test_attention_4d_causal_fp16": "two of 192 results are one unit in the last place of float16 apart",
}


def dtypes_of(model: onnx.ModelProto) -> set[str]:
    """What mxlite has not of a model: dtypes, and kinds of values."""
    lacks = set()
    infos = [*model.graph.input, *model.graph.output, *model.graph.value_info]
    for info in infos:
        kind = info.type.WhichOneof("value")
        if kind != "tensor_type":
            lacks.add(f"{kind}".replace("_type", ""))
        elif info.type.tensor_type.elem_type not in DTYPES:
            lacks.add(onnx.TensorProto.DataType.Name(info.type.tensor_type.elem_type).lower())
    for node in model.graph.node:
        for attribute in node.attribute:
            if (
                attribute.name in ("to", "dtype", "output_dtype")
                and attribute.type == 2
                and attribute.i not in {0, *DTYPES}
            ):
                lacks.add(onnx.TensorProto.DataType.Name(attribute.i).lower())
        if node.domain.startswith("ai.onnx.preview.training"):
            lacks.add("training")
        if node.op_type in (
            "SequenceMap",
            "SplitToSequence",
            "SequenceInsert",
            "SequenceEmpty",
            "ConcatFromSequence",
            "SequenceConstruct",
        ):
            lacks.add("sequence")
    return lacks


def data_of(folder: str) -> list[tuple[list, list]]:
    """The inputs and outputs of a test in a folder."""
    found = []
    for number in range(len(glob.glob(os.path.join(folder, "test_data_set_*")))):
        sets = []
        for kind in ("input", "output"):
            paths = os.path.join(folder, f"test_data_set_{number}", f"{kind}_%d.pb")
            count = len(glob.glob(paths.replace("%d", "*")))
            sets.append([numpy_helper.to_array(onnx.load_tensor(paths % each)) for each in range(count)])
        found.append((sets[0], sets[1]))
    return found


def check(expected: Any, got: Any, rtol: float, atol: float) -> None:
    """Raises: AssertionError: shapes, dtypes or values differ."""
    if len(expected) != len(got):
        raise AssertionError(f"{len(got)} outputs instead of {len(expected)}")
    for number, (wish, have) in enumerate(zip(expected, got)):
        wish = numpy_helper.to_array(wish) if isinstance(wish, onnx.TensorProto) else np.asarray(wish)
        if wish.dtype != have.dtype:
            raise AssertionError(f"output {number}: dtype {have.dtype}, expected {wish.dtype}")
        if wish.shape != have.shape:
            raise AssertionError(f"output {number}: shape {have.shape}, expected {wish.shape}")
        if wish.dtype.kind not in "fiub":
            wish, have = wish.astype("float32"), have.astype("float32")
            rtol, atol = max(rtol, 1e-2), max(atol, 1e-2)
        np.testing.assert_allclose(have, wish, rtol=rtol, atol=atol, err_msg=f"output {number}")


class TooLong(Exception):
    """A test took longer than SECONDS."""


def run(test: Any, model: onnx.ModelProto) -> str:
    """How a test ends: "" for well, else a line."""

    def stop(*_: Any) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        ready = backend.prepare(model)
        for inputs, outputs in test.data_sets or data_of(test.model_dir):
            check(outputs, ready.run(inputs), test.rtol, test.atol)
    except TooLong:
        return f"takes more than {SECONDS} s"
    except Exception as error:  # noqa: BLE001 - each is a failed test
        lines = [line for line in str(error).splitlines() if line.strip()]
        return f"{type(error).__name__}: {' '.join(lines)[:300]}"
    finally:
        signal.alarm(0)
    return ""


def light() -> int:
    """The networks that onnx has with weights of one value, beside ONNX Runtime; how many fail."""
    import onnxruntime

    from mxlite.onnx import get_model_metadata, import_to_gluon

    failed, paths = 0, sorted(glob.glob(os.path.join(DATA, "light", "*.onnx")))
    for path in paths:
        name, shape, _ = get_model_metadata(path)["input_tensor_data"][0]
        x = np.random.RandomState(0).uniform(-1, 1, shape).astype("float32")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        (wish,) = onnxruntime.InferenceSession(path, options).run(None, {name: x})
        worst = float(np.abs(import_to_gluon(path)(mx.nd.array(x)).asnumpy() - wish).max())
        if not worst <= 1e-5:
            failed += 1
            print(f"    {os.path.basename(path)}: {worst:.1e} from ONNX Runtime")
    print(f"real: {len(paths) - failed} of {len(paths)} networks as ONNX Runtime")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", action="append", default=[])
    parser.add_argument("--name", default="")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--traceback", action="store_true")
    given = parser.parse_args()
    code = 0
    for kind in given.kind or ["node", "simple", "pytorch-converted", "pytorch-operator"]:
        begin = time.time()
        counts: collections.Counter[str] = collections.Counter()
        failed, out = [], collections.Counter()
        for test in load_model_tests(kind=kind):
            if given.name not in test.name:
                continue
            if test.url and not test.model_dir and not test.model:
                counts["download"] += 1
                continue
            model = test.model or onnx.load(os.path.join(test.model_dir, "model.onnx"))
            if given.traceback:
                backend.prepare(model).run((test.data_sets or data_of(test.model_dir))[0][0])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                problem = run(test, model)
            lacks = dtypes_of(model)
            counts["all"] += 1
            counts["passed"] += not problem
            known = any(test.name.startswith(each) for each in KNOWN)
            if problem and known:
                counts["known"] += 1
            elif problem and lacks:
                out.update(lacks)
                counts["out"] += 1
            elif problem:
                failed.append(f"{test.name}: {problem}")
        print(
            f"{kind}: {counts['passed']} of {counts['all']} pass ({counts['passed'] / max(counts['all'], 1):.1%}); "
            f"{counts['out']} need what mxlite has not, {counts['known']} are known, {len(failed)} fail; "
            f"{time.time() - begin:.0f} s"
        )
        if given.verbose:
            print("   out:", dict(out))
        for line in failed:
            print("   ", line)
        code = code or int(bool(failed))
    if not given.kind and not given.name:
        code = code or int(light() > 0)
    return code


if __name__ == "__main__":
    sys.exit(main())
