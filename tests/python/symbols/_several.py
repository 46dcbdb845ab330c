"""Cases of operators of several arrays, and of others whose dtypes differ: names of variables, shapes and dtypes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from _graph import GraphError, Library, Symbol

_STEPS = {"num_weights": "2", "lrs": "(1, 1)", "wds": "(0, 0)"}
_LAMB = {"beta1": "0.9", "beta2": "0.9", "epsilon": "1e-6", "t": "1", "wd": "0"}

#: Operators, their parameters, and how many inputs are given.
_MISSING: list[tuple[str, dict[str, str], int]] = [
    ("add_n", {"num_args": "3"}, 0),
    ("add_n", {"num_args": "3"}, 1),
    ("Concat", {"num_args": "3"}, 1),
    ("stack", {"num_args": "2"}, 0),
    ("khatri_rao", {"num_args": "2"}, 0),
    ("_rnn_param_concat", {"num_args": "2", "dim": "0"}, 0),
    ("UpSampling", {"num_args": "2", "scale": "2", "sample_type": "nearest"}, 0),
    ("UpSampling", {"num_args": "1", "scale": "2", "sample_type": "bilinear", "num_filter": "2"}, 0),
    ("Crop", {"num_args": "2"}, 0),
    ("multi_sgd_update", _STEPS, 0),
    ("multi_sgd_update", _STEPS, 3),
    ("multi_mp_sgd_update", _STEPS, 0),
    ("multi_mp_sgd_mom_update", _STEPS, 0),
    ("preloaded_multi_sgd_update", {"num_weights": "2"}, 0),
    ("preloaded_multi_mp_sgd_update", {"num_weights": "2"}, 0),
    ("preloaded_multi_mp_sgd_mom_update", {"num_weights": "2"}, 5),
    ("multi_sum_sq", {"num_arrays": "2"}, 0),
    ("multi_all_finite", {"num_arrays": "2"}, 1),
    ("amp_multicast", {"num_outputs": "2"}, 1),
    ("multi_lars", {"eta": "1", "eps": "1"}, 0),
]


def missing(g: Library) -> Iterator[tuple[str, Symbol]]:
    for op, params, count in _MISSING:
        text = ", ".join(f"{key}={value}" for key, value in params.items())
        yield f"{op}({text}) of {count}", g.op(op, "it", *[g.variable(f"v{i}") for i in range(count)], **params)


def _said(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except GraphError:
        return "error"


def _of(g: Library, op: str, names: str, **params: str) -> Symbol:
    return g.op(op, "it", *[g.variable(name) for name in names.split()], **params)


def mixed_dtypes(g: Library) -> dict[str, Any]:
    """Shapes without dtypes, and dtypes, of operators whose inputs have several."""
    lamb = _of(g, "mp_lamb_update_phase1", "weight grad mean var weight32", **_LAMB)
    plain = _of(g, "lamb_update_phase1", "weight grad mean var", **_LAMB)
    hawkes = _of(g, "_contrib_hawkesll", "lda alpha beta state lags marks length time")
    sizes = {"lda": (4, 2), "alpha": (2,), "beta": (2,), "state": (4, 2), "lags": (4, 3), "marks": (4, 3)}
    copied = _of(g, "_copyto", "a")
    found = {
        "mp_lamb": lamb.shapes(weight=(2, 3)),
        "mp_lamb from grad": lamb.shapes(grad=(2, 3)),
        "mp_lamb, dtypes": lamb.dtypes(weight=2),
        "lamb": plain.shapes(mean=(2, 3)),
        "hawkesll": hawkes.shapes(**sizes, length=(4,), time=(4,)),
        "hawkesll, dtypes": hawkes.dtypes(lda=0),
        "copyto": copied.shapes(a=(2, 3)),
        "copyto, dtypes": copied.dtypes(a=1)[0],
        "too many": _said(lambda: _of(g, "Concat", "a b c", num_args="2").outputs()),
    }
    for dtype in ("float32", "float64", "float16"):
        layer = _of(g, "Embedding", "data weight", input_dim="5", output_dim="3", dtype=dtype)
        for known in ({"data": 4}, {"data": 1}, {"data": 1, "weight": 1}, {"data": 0, "weight": 2}):
            found[f"Embedding of {dtype}: {known}"] = layer.dtypes(**known)
    return found
