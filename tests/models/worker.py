"""One package in one process: exports networks of the model zoo, and runs such files in every way that there is.

Started by run.py as `worker.py PACKAGE`. It answers each line of JSON by one: {"do": "export", "model", "folder"} or
{"do": "check", "ways", "folder"}, with {"apart": ...} by way, or {"error": ...}.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "python" / folder) for folder in ("gluon", "symbols")]

from gluon_cases.networks.model_zoo import SIZES, _filled  # noqa: E402

PACKAGE = sys.argv[1]
mx: Any = __import__(PACKAGE)


def size_of(model: str) -> int:
    return next(size for start, size in SIZES.items() if model.startswith(start))


def export(model: str, folder: str) -> dict[str, Any]:
    """Files of a network with given numbers as parameters, and what it gives for an image."""
    net = mx.gluon.model_zoo.vision.get_model(model, prefix="zoo_")
    x = _filled(mx, net, size_of(model))
    net.hybridize()
    out = net(x)
    net.export(f"{folder}/net")
    np.savez(f"{folder}/net.npz", x=x.asnumpy(), out=out.asnumpy())
    return {"shape": out.shape}


# ---- ways to run the files ----


def imported(path: str, x: np.ndarray) -> Iterator[np.ndarray]:
    """SymbolBlock.imports: as it is, and twice hybridized."""
    net = mx.gluon.SymbolBlock.imports(f"{path}-symbol.json", ["data"], f"{path}-0000.params")
    yield net(mx.nd.array(x)).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(2):
        yield net(mx.nd.array(x)).asnumpy()


def module(path: str, x: np.ndarray) -> Iterator[np.ndarray]:
    """A Module that is bound for prediction."""
    symbol, arguments, states = mx.model.load_checkpoint(path, 0)
    made = mx.mod.Module(symbol, data_names=["data"], label_names=None)
    made.bind([("data", x.shape)], for_training=False)
    made.set_params(arguments, states)
    made.forward(mx.io.DataBatch([mx.nd.array(x)], []), is_train=False)
    yield made.get_outputs()[0].asnumpy()


def cached(path: str, x: np.ndarray) -> Iterator[np.ndarray]:
    """A cached operator over the arrays of the file, twice."""
    from mxlite.symbol._cached_op import CachedOp

    symbol = mx.sym.load(f"{path}-symbol.json")
    arrays = {name.partition(":")[2]: each for name, each in mx.nd.load(f"{path}-0000.params").items()}
    arrays["data"] = mx.nd.array(x)
    run = CachedOp(symbol, [("static_alloc", True)])
    for _ in range(2):
        yield run(*[arrays[name] for name in symbol.list_inputs()]).asnumpy()


def predicted(path: str, x: np.ndarray) -> Iterator[np.ndarray]:
    """MXPredCreate, twice."""
    from _graph import Library
    from _predict import Predictor

    library = Library(mx.libinfo.find_lib_path()[0])
    graph, params = Path(f"{path}-symbol.json").read_text(), Path(f"{path}-0000.params").read_bytes()
    made = Predictor.made(library, graph, params, data=x.shape)
    for _ in range(2):
        yield np.array(made(data=x.ravel().tolist()), "float32").reshape(made.shape())


WAYS: dict[str, Callable[[str, np.ndarray], Iterator[np.ndarray]]] = {
    "imports": imported,
    "module": module,
    "cached": cached,
    "predict": predicted,
}


def check(ways: list[str], folder: str) -> dict[str, Any]:
    """By way, the largest difference from the outputs in the folder, relative to the largest of these."""
    with np.load(f"{folder}/net.npz") as held:
        x, expected = held["x"], held["out"]
    scale = np.abs(expected).max()
    if not (np.isfinite(scale) and scale > 0):
        raise ValueError(f"the outputs are no measure: the largest is {scale}")
    apart = {}
    for way in ways:
        found = [np.abs(each - expected).max() / scale for each in WAYS[way](f"{folder}/net", x)]
        apart[way] = float(max(found))
    return {"apart": apart}


def answer(do: str, **given: Any) -> dict[str, Any]:
    try:
        return {"export": export, "check": check}[do](**given)
    except Exception as error:  # noqa: BLE001 - the next network is asked for nevertheless
        return {"error": traceback.format_exception_only(type(error), error)[-1].strip()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), flush=True)
