"""Symbols with their parameters as quantized ones."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterable, Sequence
from typing import Any

import mxlite.symbol as sym
from mxlite import ndarray as nd
from mxlite._lib import LIB, c_texts, check_call
from mxlite.context import cpu
from mxlite.contrib.quantization._calibrate import (
    Arrays,
    _LayerHistogramCollector,
    _LayerOutputMinMaxCollector,
    check_finite,
    limits_of,
)
from mxlite.contrib.quantization._fold import fold_norms
from mxlite.symbol._calls import Texts
from mxlite.symbol.symbol import Symbol

_DTYPES = ("int8", "uint8", "auto")
_MODES = ("none", None, "naive", "entropy")

Limits = dict[str, "tuple[float, float]"]


def check(calib_mode: str | None, quantized_dtype: str, collector: Any = None) -> None:
    """Refuses words that are unknown: ValueError. With a collector of the caller's calib_mode may be "customize"."""
    if quantized_dtype not in _DTYPES:
        raise ValueError(f"quantized_dtype is {quantized_dtype!r}; it may be one of {', '.join(_DTYPES)}")
    if calib_mode == "customize" and collector is None:
        raise ValueError("calib_mode 'customize' needs a LayerOutputCollector")
    if calib_mode not in (*_MODES, "customize"):
        raise ValueError(f"calib_mode is {calib_mode!r}; it may be none, naive or entropy")


def _note_unknown(symbol: Symbol, names: Sequence[str], operators: Sequence[str], logger: Any) -> None:
    """Tells a logger which nodes and operators to exclude there are not."""
    if logger is None or not (names or operators):
        return
    nodes = json.loads(symbol.tojson())["nodes"]
    for what, asked, key in (("node", names, "name"), ("operator", operators, "op")):
        unknown = sorted(set(asked) - {node[key] for node in nodes})
        if unknown:
            logger.warning("quantization: there is no %s %s to exclude", what, ", ".join(unknown))


def _names(names: Iterable[str] | None, what: str) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{what} must be a list of strings, got {names!r}")
    return list(names)


def _quantize_symbol(  # as 1.9.1 calls it
    sym: Symbol,
    ctx: Any = None,
    excluded_symbols: Iterable[str] | None = None,
    excluded_operators: Iterable[str] | None = None,
    offline_params: Iterable[str] | None = None,
    quantized_dtype: str = "int8",
    quantize_mode: str = "smart",
    quantize_granularity: str = "tensor-wise",
) -> tuple[Symbol, list[str]]:
    """The quantized symbol, and the names of the arrays whose limits calibration can tell."""
    nodes = _names(excluded_symbols, "excluded_sym_names")
    operators, offline = _names(excluded_operators, "excluded_op_names"), _names(offline_params, "offline_params")
    out, count, texts = ctypes.c_void_p(), ctypes.c_uint32(), Texts()
    check_call(
        LIB.MXQuantizeSymbol(
            sym._h,
            ctypes.byref(out),
            ctypes.byref(ctypes.c_int(1)),
            len(nodes),
            c_texts(nodes),
            len(operators),
            c_texts(operators),
            len(offline),
            c_texts(offline),
            quantized_dtype.encode(),
            True,
            quantize_mode.encode(),
            quantize_granularity.encode(),
            ctypes.byref(count),
            ctypes.byref(texts),
        )
    )
    return Symbol(out.value), [(texts[i] or b"").decode() for i in range(count.value)]


def _calibrate_quantized_sym(qsym: Symbol, th_dict: Limits | None) -> Symbol:  # as 1.9.1 calls it
    """The symbol with the limits of arrays, by their names, as parameters of its nodes."""
    if not th_dict:
        return qsym
    out, floats = ctypes.c_void_p(), ctypes.c_float * len(th_dict)
    low, high = floats(*(pair[0] for pair in th_dict.values())), floats(*(pair[1] for pair in th_dict.values()))
    check_call(
        LIB.MXSetCalibTableToQuantizedSymbol(qsym._h, len(th_dict), c_texts(th_dict), low, high, ctypes.byref(out))
    )
    return Symbol(out.value)


def _quantize_params(qsym: Symbol, params: Arrays) -> Arrays:  # as 1.9.1 calls it
    """The parameters of a quantized symbol: bytes and their limits where it has them, the others as they are."""
    found: Arrays = {}
    for name in qsym.list_arguments():
        original = name[: -len("_quantize")] if name.endswith("_quantize") else None
        if original in params:
            values = params[original]
            low, high = values.min().reshape((1,)), values.max().reshape((1,))
            check_finite(original, low.asscalar(), high.asscalar())
            parts = nd.contrib.quantize(values, low, high, out_type="int8")
            found.update(zip((name, f"{name}_min", f"{name}_max"), parts))
        elif name in params:
            found[name] = params[name]
    return found


# ---- calibration ----


def _outputs_by_name(symbol: Symbol, names: Sequence[str]) -> Symbol | None:
    """The arrays of those names, of those that nodes make."""
    internals = symbol.get_internals()
    listed = {name: i for i, name in enumerate(internals.list_outputs())}
    found = [internals[listed[name]] for name in names if name in listed]
    return sym.Group(found) if found else None


def _batches(calib_data: Any, data_names: Sequence[str], most: int | None) -> Iterable[Arrays]:
    """What data there is, by the names of the variables: of an iterator, a Gluon loader or arrays.

    TypeError: `calib_data` has no batches to iterate over; ValueError: there are none.
    """
    if hasattr(calib_data, "reset"):
        calib_data.reset()
    if isinstance(calib_data, nd.NDArray):
        calib_data = [calib_data]
    if not isinstance(calib_data, Iterable):
        raise TypeError(f"calib_data must be an iterator over batches, got {type(calib_data).__name__}")
    seen = 0
    for batch in calib_data:
        arrays = batch.data if hasattr(batch, "data") and not isinstance(batch, nd.NDArray) else batch
        arrays = list(arrays) if isinstance(arrays, (list, tuple)) else [arrays]
        yield dict(zip(data_names, arrays))
        seen += arrays[0].shape[0]
        if most is not None and seen >= most:
            return
    if not seen:
        raise ValueError("calib_data has no examples")


def collect(
    symbol: Symbol,
    arg_params: Arrays,
    aux_params: Arrays,
    names: Sequence[str],
    collector: Any,
    batches: Iterable[Arrays],
) -> None:
    """Shows a collector the arrays of these names, of a network of float32, for each batch."""
    outputs = _outputs_by_name(symbol, names)
    listed = [] if outputs is None else outputs.list_outputs()
    for data in batches:
        if outputs is not None:
            needed = {name: data.get(name, arg_params.get(name)) for name in outputs.list_arguments()}
            lacking = [name for name, array in needed.items() if array is None]
            if lacking:
                raise ValueError(f"calibration: there is no array for {', '.join(lacking)}")
            states = {name: aux_params[name] for name in outputs.list_auxiliary_states()}
            executor = outputs.bind(cpu(), needed, grad_req="null", aux_states=states)
            for name, array in zip(listed, executor.forward(is_train=False)):
                collector.collect(name, array)
        for name in names:
            if name in data and name not in listed:
                collector.collect(name, data[name])


def collector_for(calib_mode: str | None, quantized_dtype: str, names: Sequence[str], logger: Any) -> Any:
    """A collector for that mode, or None."""
    if calib_mode == "entropy":
        return _LayerHistogramCollector(include_layer=names, logger=logger)
    if calib_mode == "naive":
        return _LayerOutputMinMaxCollector(quantized_dtype, include_layer=names, logger=logger)
    return None


# ---- the functions ----


def quantize_graph(
    sym: Symbol,
    arg_params: Arrays,
    aux_params: Arrays,
    ctx: Any = None,
    excluded_sym_names: Iterable[str] | None = None,
    excluded_op_names: Iterable[str] | None = None,
    calib_mode: str | None = "entropy",
    quantized_dtype: str = "int8",
    quantize_mode: str = "full",
    quantize_granularity: str = "tensor-wise",
    LayerOutputCollector: Any = None,  # noqa: N803
    logger: Any = None,
) -> tuple[Symbol, Arrays, Arrays, Any]:
    """The quantized symbol and its parameters, before calibration, and a collector for it (None: mode none).

    Show the collector the arrays of the symbol of float32, as `collector.collect(name, array)`: as a monitor's callback
    of an executor or by hand. `calib_graph` then puts in what it has found. `LayerOutputCollector` is a collector of
    your own, which has `collect`, and `min_max_dict` with pairs of limits.
    """
    check(calib_mode, quantized_dtype, LayerOutputCollector)
    _note_unknown(
        sym, _names(excluded_sym_names, "excluded_sym_names"), _names(excluded_op_names, "excluded_op_names"), logger
    )
    qsym, names = _quantize_symbol(
        sym,
        ctx,
        excluded_sym_names,
        excluded_op_names,
        list(arg_params),
        quantized_dtype,
        quantize_mode,
        quantize_granularity,
    )
    collector = LayerOutputCollector or collector_for(calib_mode, quantized_dtype, names, logger)
    if collector is not None and LayerOutputCollector is not None:
        collector.include_layer = names
    return qsym, _quantize_params(qsym, arg_params), aux_params, collector


def calib_graph(
    qsym: Symbol,
    arg_params: Arrays,
    aux_params: Arrays,
    collector: Any,
    calib_mode: str | None = "entropy",
    quantized_dtype: str = "int8",
    logger: Any = None,
) -> tuple[Symbol, Arrays, Arrays]:
    """A symbol of `quantize_graph` with the limits that its collector has found, and its parameters."""
    check(calib_mode, quantized_dtype, collector)
    if collector is None or calib_mode in ("none", None):
        raise ValueError("calib_graph: there must be a collector, and calib_mode naive or entropy")
    calibrated = _calibrate_quantized_sym(qsym, limits_of(collector, quantized_dtype))
    return calibrated, _quantize_params(calibrated, arg_params), aux_params


def quantize_model(
    sym: Symbol,
    arg_params: Arrays,
    aux_params: Arrays,
    data_names: Sequence[str] = ("data",),
    label_names: Sequence[str] | None = ("softmax_label",),
    ctx: Any = None,
    excluded_sym_names: Iterable[str] | None = None,
    excluded_op_names: Iterable[str] | None = None,
    calib_mode: str | None = "entropy",
    calib_data: Any = None,
    num_calib_examples: int | None = None,
    quantized_dtype: str = "int8",
    quantize_mode: str = "smart",
    quantize_granularity: str = "tensor-wise",
    logger: Any = None,
) -> tuple[Symbol, Arrays, Arrays]:
    """The quantized symbol with its parameters and states.

    Args:
        calib_mode: "naive": limits are the smallest and largest numbers of `calib_data`; "entropy": those that lose the
            least; "none": bytes are scaled to the numbers of each call.
        calib_data: a data iterator, of which the first `num_calib_examples` count (None: all).
        quantize_mode: "smart": layers and what is between them; "full": all that can be.
        excluded_sym_names: names of nodes that stay; excluded_op_names: operators that do.

    Raises:
        ValueError: unknown words, no `calib_data` for a mode that needs it or no examples in it, and parameters or
            activations that are not finite. Names to exclude that there are not are told to `logger` alone.
    """
    qsym, quantized, states, collector = quantize_graph(
        sym,
        arg_params,
        aux_params,
        ctx,
        excluded_sym_names,
        excluded_op_names,
        calib_mode,
        quantized_dtype,
        quantize_mode,
        quantize_granularity,
        logger=logger,
    )
    if collector is None:
        return qsym, quantized, states
    if calib_data is None:
        raise ValueError(f"quantize_model: calib_mode {calib_mode} needs calib_data")
    if not isinstance(calib_data, Iterable):
        raise ValueError(f"quantize_model: calib_data must be a data iterator, got {type(calib_data).__name__}")
    batches = _batches(calib_data, data_names, num_calib_examples)
    collect(sym, arg_params, aux_params, collector.include_layer, collector, batches)
    return calib_graph(qsym, arg_params, aux_params, collector, calib_mode, quantized_dtype, logger)


def quantize_model_mkldnn(
    sym: Symbol, arg_params: Arrays, aux_params: Arrays, *args: Any, **kwargs: Any
) -> tuple[Symbol, Arrays, Arrays]:
    """`quantize_model` with batch normalisation folded into the convolutions before it, as MKL-DNN's subgraphs do.

    The symbol has `quantize_model`'s operators: mxlite has no subgraphs of MKL-DNN, and no need of them for speed.
    """
    folded, arguments, states = fold_norms(sym, arg_params, aux_params)
    return quantize_model(folded, arguments, states, *args, **kwargs)
