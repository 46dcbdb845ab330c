"""Symbols, models and blocks with casts to 16 bits."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from mxlite._lib import LIB, c_texts, check_call
from mxlite.base import FLAG_OF_DTYPE, dtype_flag, numpy_dtype
from mxlite.contrib.amp._lists import Conditional, choose, names, target_of
from mxlite.error import WrongTypeError, WrongValueError
from mxlite.gluon.block import HybridBlock, SymbolBlock
from mxlite.module import BucketingModule
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol.symbol import Symbol

Arrays = dict[str, NDArray]


def convert_symbol(
    sym: Symbol,
    target_dtype: Any = "float16",
    target_dtype_ops: Sequence[str] | None = None,
    fp32_ops: Sequence[str] | None = None,
    conditional_fp32_ops: Conditional | None = None,
    excluded_sym_names: Sequence[str] | None = None,
    data_names: Sequence[str] | None = None,
    cast_optional_params: bool = False,
) -> Symbol:
    """A symbol with amp_cast and amp_multicast before the inputs of its nodes, and outputs in float32.

    Args:
        target_dtype: float16 or bfloat16.
        target_dtype_ops, fp32_ops: operators that compute in it, and in float32. None: those of `list_lp16_ops` and
            `list_fp32_ops`.
        conditional_fp32_ops: rows (operator, parameter, values) that compute in float32. None: those that are listed.
        excluded_sym_names: nodes that compute in float32.
        data_names: the variables that are data; the others are parameters and get the attribute `__dtype__`. None: all.
        cast_optional_params: whether parameters that operators in 16 bits read are of the target dtype themselves.

    Raises: TypeError: it is no symbol; ValueError: another target, or wrong lists.
    """
    if not isinstance(sym, Symbol):
        raise WrongTypeError(f"convert_symbol takes a Symbol, got {type(sym).__name__}")
    target = target_of("convert_symbol", target_dtype)
    lists = choose("convert_symbol", target, target_dtype_ops, fp32_ops, conditional_fp32_ops)
    excluded = names("convert_symbol", "excluded_sym_names", excluded_sym_names)
    inputs = sym.list_inputs()
    data = inputs if data_names is None else names("convert_symbol", "data_names", data_names)
    lacking = [name for name in data if name not in inputs]
    if lacking:
        raise WrongValueError(f"convert_symbol: the symbol has no input {lacking[0]!r}; it has {', '.join(inputs)}")
    params = [name for name in inputs if name not in data]
    rows = lists.conditions()
    counted = lists.low, lists.single, lists.widest, rows, excluded, params
    texts = lists.low, lists.single, lists.widest, [row[0] for row in rows], excluded
    made = ctypes.c_void_p()
    check_call(
        LIB.MXReducePrecisionSymbol(
            sym._h,
            ctypes.byref(made),
            0,
            None,
            0,
            None,
            ctypes.byref(ctypes.c_int(dtype_flag(target))),
            int(cast_optional_params),
            *(len(each) for each in counted),
            *(c_texts(each) for each in texts),
            c_texts(row[1] for row in rows),
            c_texts(row[2] for row in rows),
            c_texts(params),
            None,
        )
    )
    return type(sym)(made.value)


def _check_arrays(function: str, what: str, arrays: Any) -> None:
    if not isinstance(arrays, dict) or not all(
        isinstance(name, str) and isinstance(array, NDArray) for name, array in arrays.items()
    ):
        raise WrongTypeError(f"{function}: {what} must be a dictionary of arrays by their names")


def _cast(symbol: Symbol, arrays: Arrays) -> Arrays:
    """Arrays in the dtypes that a converted symbol has for them."""
    attributes = symbol.attr_dict()
    dtypes = {flag: numpy_dtype(dtype) for dtype, flag in FLAG_OF_DTYPE.items()}
    found = {}
    for name, array in arrays.items():
        noted = attributes.get(name, {}).get("__dtype__")
        found[name] = array if noted is None else array.astype(dtypes[int(noted)], copy=False)
    return found


def convert_model(
    sym: Symbol,
    arg_params: Arrays,
    aux_params: Arrays,
    target_dtype: Any = "float16",
    target_dtype_ops: Sequence[str] | None = None,
    fp32_ops: Sequence[str] | None = None,
    conditional_fp32_ops: Conditional | None = None,
    excluded_sym_names: Sequence[str] | None = None,
    cast_optional_params: bool = False,
) -> tuple[Symbol, Arrays, Arrays]:
    """`convert_symbol` for a symbol with its parameters, which come back in the dtypes that it has for them.

    Raises: TypeError: no symbol, no dictionaries of arrays; ValueError as `convert_symbol`.
    """
    if not isinstance(sym, Symbol):
        raise WrongTypeError(f"convert_model takes a Symbol, got {type(sym).__name__}")
    _check_arrays("convert_model", "arg_params", arg_params)
    _check_arrays("convert_model", "aux_params", aux_params)
    data = [name for name in sym.list_inputs() if name not in arg_params and name not in aux_params]
    made = convert_symbol(
        sym,
        target_dtype,
        target_dtype_ops,
        fp32_ops,
        conditional_fp32_ops,
        excluded_sym_names,
        data,
        cast_optional_params,
    )
    return made, _cast(made, arg_params), _cast(made, aux_params)


def convert_hybrid_block(
    block: Any,
    target_dtype: Any = "float16",
    target_dtype_ops: Sequence[str] | None = None,
    fp32_ops: Sequence[str] | None = None,
    conditional_fp32_ops: Conditional | None = None,
    excluded_sym_names: Sequence[str] | None = None,
    ctx: Any = None,
    cast_optional_params: bool = False,
) -> Any:
    """A SymbolBlock that computes what a block that has run computes, with the casts of `convert_symbol`.

    Its parameters are copies. `ctx` is where they are; there is the CPU alone.
    Raises: TypeError: it is no HybridBlock; RuntimeError: it has not run; ValueError as `convert_symbol`.
    """
    if not isinstance(block, HybridBlock):
        raise WrongTypeError(f"convert_hybrid_block takes a HybridBlock, got {type(block).__name__}")
    target_of("convert_hybrid_block", target_dtype)
    inputs, graph = block._as_graph("convert_hybrid_block")
    data = [each.name for each in inputs]
    made = convert_symbol(
        graph,
        target_dtype,
        target_dtype_ops,
        fp32_ops,
        conditional_fp32_ops,
        excluded_sym_names,
        data,
        cast_optional_params,
    )
    net = SymbolBlock(made, inputs)
    held = block.collect_params()
    arrays = _cast(made, {name: held[name].data() for name in net.collect_params() if name in held})
    for name, each in net.collect_params().items():
        array = arrays[name]
        each.cast(array.dtype)
        each.shape = array.shape
        each.initialize("zeros", force_reinit=True)
        each.set_data(array)
        each.grad_req = held[name].grad_req
    return net


def convert_bucketing_module(
    bucketing_mod: Any,
    target_dtype: Any = "float16",
    target_dtype_ops: Sequence[str] | None = None,
    fp32_ops: Sequence[str] | None = None,
    conditional_fp32_ops: Conditional | None = None,
    excluded_sym_names: Sequence[str] | None = None,
    cast_optional_params: bool = False,
) -> BucketingModule:
    """A BucketingModule whose symbols have the casts of `convert_symbol`, with the parameters of a bound one.

    Raises: TypeError: it is no BucketingModule; MXNetError: it is not bound; ValueError as `convert_symbol`.
    """
    if not isinstance(bucketing_mod, BucketingModule):
        raise WrongTypeError(f"convert_bucketing_module takes a BucketingModule, got {type(bucketing_mod).__name__}")
    arg_params, aux_params = bucketing_mod.get_params()
    settings = target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names, cast_optional_params

    def sym_gen(key: Any) -> tuple:
        symbol, data_names, label_names = bucketing_mod._call_sym_gen(key)
        return convert_model(symbol, arg_params, aux_params, *settings)[0], data_names, label_names

    made = BucketingModule(sym_gen, bucketing_mod._default_bucket_key, **bucketing_mod._given)
    symbol = bucketing_mod._call_sym_gen(bucketing_mod._default_bucket_key)[0]
    _, arguments, states = convert_model(symbol, arg_params, aux_params, *settings)
    made._loaded, made.params_initialized = (arguments, states), True
    return made
