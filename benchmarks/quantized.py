"""Networks in int8: mxlite beside ONNX Runtime and OpenVINO, and each in float32, in turns.

    python benchmarks/quantized.py [--engines PYTHON_WITH_ONNXRUNTIME_AND_OPENVINO] [--threads 2] [--rounds 7]
        [--only TEXT] [--page docs/quantization.md]

The networks are those of predict.py. mxlite quantizes them with `quantize_net` (limits from one batch); for the others
`onnxruntime.quantization` writes the same layers as ONNX with QuantizeLinear and DequantizeLinear nodes, uint8
activations and int8 weights with a scale for each channel, from the same batch. Both read that file. All files are
written to benchmarks/out/quantized once (BERT's take minutes); delete them where quantization has changed.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import subprocess
import sys

import numpy as np
from predict import ENGINES, Case, measure
from predict import OUT as FLOATS
from predict_networks import shape_of
from process import Worker

HERE = pathlib.Path(__file__).resolve(strict=False).parent
OUT = HERE / "out" / "quantized"
CASES = [
    Case("resnet18_v1", 1, 20, 1.0),
    Case("resnet18_v1", 8, 3, 1.0),
    Case("resnet50_v1", 1, 10, 1.0),
    Case("resnet50_v1", 8, 2, 1.0),
    Case("mobilenet_v2_1_0", 1, 60, 1.0),
    Case("mobilenet_v2_1_0", 8, 8, 1.0),
    Case("bert_128", 1, 4, 1.0),
]


def _batch(name: str) -> np.ndarray:
    return np.random.RandomState(0).standard_normal(shape_of(name, 1)).astype("float32")


def write_mxlite(name: str) -> None:
    """OUT/NAME-symbol.json and -0000.params, unless they are there."""
    import mxlite as mx
    from mxlite.contrib import quantization

    if (OUT / f"{name}-0000.params").exists():
        return
    path = str(FLOATS / name)
    net = mx.gluon.SymbolBlock.imports(f"{path}-symbol.json", ["data"], f"{path}-0000.params")
    x = mx.nd.array(_batch(name))
    small = quantization.quantize_net(net, calib_mode="naive", calib_data=[x])
    small.hybridize()
    small(x).wait_to_read()
    small.export(str(OUT / name))


def write_onnx(name: str) -> None:
    """OUT/NAME.onnx; runs under the interpreter that has ONNX Runtime."""
    import onnx
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    whole, ready = f"{FLOATS / name}.onnx", f"{OUT / name}-float32.onnx"
    quant_pre_process(whole, ready, skip_symbolic_shape=True)
    data = onnx.load(ready).graph.input[0].name

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]
        left = [{data: _batch(name)}]

        def get_next(self) -> dict | None:
            return self.left.pop() if self.left else None

    kinds = {"activation_type": quantization.QuantType.QUInt8, "weight_type": quantization.QuantType.QInt8}
    form = {"quant_format": quantization.QuantFormat.QDQ, "per_channel": True}
    quantization.quantize_static(ready, f"{OUT / name}.onnx", Reader(), **form, **kinds)


def workers(args: argparse.Namespace) -> list[Worker]:
    """A process of each engine for the networks in int8, and one for those of float32."""
    pythons = {"mxlite": sys.executable, **(dict.fromkeys(ENGINES, args.engines) if args.engines else {})}
    found = []
    for engine, python in pythons.items():
        for kind, folder in (("", OUT), (" float32", FLOATS)):
            command = [python, str(HERE / "predict_worker.py"), engine, str(folder), str(args.threads)]
            found.append(Worker(engine + kind, command, args.threads))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="cases whose name and batch have this text")
    parser.add_argument("--page", default="")
    parser.add_argument("--write", nargs="*", help="of the program itself: writes these networks as ONNX")
    args = parser.parse_args()
    for name in args.write or ():
        write_onnx(name)
    if args.write is not None:
        return 0
    OUT.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, str(HERE / "predict_networks.py"), str(FLOATS)], check=True)
    cases = [case for case in CASES if args.only in f"{case.name} {case.batch}"]
    names = sorted({case.name for case in cases})
    for name in names:
        write_mxlite(name)
    lacking = [name for name in names if not (OUT / f"{name}.onnx").exists()]
    if args.engines and lacking:
        subprocess.run([args.engines, __file__, "--write", *lacking], check=True)
    peers = workers(args)
    rows: list[list[str]] = []
    slow = 0
    for case in cases:
        times = measure(case, peers, args.rounds)
        share = {
            name: statistics.median(own / other for own, other in zip(times["mxlite"], found))
            for name, found in times.items()
            if name in ENGINES
        }
        slow += max(share.values(), default=0) > case.bar
        row = [f"`{case.name}`, batch {case.batch}", *(f"{min(found) / 1e6:.2f}" for found in times.values())]
        row += [f"{each:.2f}" for each in share.values()]
        print(*row, sep="  ", flush=True)
        rows.append(row)
    for peer in peers:
        peer.close()
    if args.page:
        _fill(pathlib.Path(args.page), [peer.name for peer in peers], rows)
    return slow > 0


def _fill(page: pathlib.Path, names: list[str], rows: list[list[str]]) -> None:
    from page import fill

    titles = ["network", *names, *(f"of {name}" for name in names if name in ENGINES)]
    lines = ["| " + " | ".join(row) + " |" for row in [titles, ["---"] * len(titles), *rows]]
    fill(page, "quantized.py", {"int8": lines})


if __name__ == "__main__":
    raise SystemExit(main())
