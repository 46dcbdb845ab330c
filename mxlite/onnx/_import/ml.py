"""Operators of the domain ai.onnx.ml, which scikit-learn's exporters write; trees are in `trees.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.onnx._file import array_of
from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.nodes import ML, Node, reads
from mxlite.onnx._import.tensor import OnnxError, Tensor


def floats(node: Node, name: str, default: Any = ()) -> np.ndarray:
    """An attribute that is a list of numbers, as float32."""
    return np.asarray(node.attr(name, list(default)), "float32")


def as_float(g: Builder, x: Tensor) -> Tensor:
    """A tensor of numbers as float32, or as it is where it is one of floats."""
    return x if x.is_float else g.cast(x, "float32")


@reads("Scaler", domain=ML)
def scaler(g: Builder, node: Node) -> Tensor:
    x = as_float(g, node.input(0))
    made = g.op("broadcast_sub", x, g.like(floats(node, "offset", [0]), x))
    return g.op("broadcast_mul", made, g.like(floats(node, "scale", [1]), x))


@reads("Normalizer", domain=ML)
def normalizer(g: Builder, node: Node) -> Tensor:
    x, kind = as_float(g, node.input(0)), node.attr("norm", "MAX")
    size = g.op("abs", x)
    if kind == "MAX":
        length = g.op("_np_max", size, axis=(-1,), keepdims=True)
    elif kind == "L1":
        length = g.sum(size, (-1,), True)
    else:
        length = g.op("sqrt", g.sum(g.op("square", x), (-1,), True))
    is_zero = g.op("_npi_equal", length, g.like(0, length))
    return g.op("broadcast_div", x, g.where(is_zero, g.like(1, length), length))


@reads("Binarizer", domain=ML)
def binarizer(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    return g.cast(g.op("_npi_greater", x, g.like(float(node.attr("threshold", 0.0)), x)), x.dtype)


@reads("Imputer", domain=ML)
def imputer(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    if x.is_float:
        values, missing = floats(node, "imputed_value_floats"), float(node.attr("replaced_value_float", 0.0))
    else:
        values, missing = (
            np.asarray(node.attr("imputed_value_int64s", []), "int64"),
            node.attr("replaced_value_int64", 0),
        )
    if not len(values):
        raise node.refuse("no values to put in")
    is_nan = x.is_float and np.isnan(missing)
    is_missing = g.op("_npi_isnan", x) if is_nan else g.op("_npi_equal", x, g.like(missing, x))
    return g.where(is_missing, g.like(values if len(values) > 1 else values[0], x), x)


@reads("ArrayFeatureExtractor", domain=ML)
def extractor(g: Builder, node: Node) -> Tensor:
    x, places = node.input(0), node.input(1)
    x = g.reshape(x, (1, -1)) if x.rank == 1 else x
    return g.op("take", x, g.reshape(places, (-1,)), axis=x.rank - 1, mode="wrap")


@reads("FeatureVectorizer", domain=ML)
def vectorizer(g: Builder, node: Node) -> Tensor:
    rows = []
    for each in node.inputs:
        assert each is not None
        rows.append(g.reshape(as_float(g, each), (each.size_at(0), -1)))
    return g.concat(rows, 1)


@reads("OneHotEncoder", domain=ML)
def one_hot(g: Builder, node: Node) -> Tensor:
    if "cats_int64s" not in node.attributes:
        raise node.refuse("categories of text, which mxlite has not")
    x, categories = node.input(0), np.asarray(node.ints("cats_int64s"), "int64")
    return g.cast(g.op("_npi_equal", g.expand_dims(x, [x.rank]), g.like(categories, x)), "float32")


@reads("LabelEncoder", domain=ML)
def label_encoder(g: Builder, node: Node) -> Tensor:
    found = {}
    for side in ("keys", "values"):
        for kind, dtype in (("int64s", "int64"), ("floats", "float32")):
            if f"{side}_{kind}" in node.attributes:
                found[side] = np.asarray(node.attributes[f"{side}_{kind}"], dtype)
        if f"{side}_tensor" in node.attributes:
            found[side] = array_of(node.attributes[f"{side}_tensor"])[0].asnumpy()
    if len(found) < 2:
        raise node.refuse("labels of text, which mxlite has not")
    x, values = node.input(0), found["values"]
    if "default_tensor" in node.attributes:
        default = array_of(node.attributes["default_tensor"])[0].asnumpy().reshape(-1)[0]
    elif values.dtype == np.int64:
        default = int(node.attr("default_int64", -1))
    else:
        default = float(node.attr("default_float", -0.0))
    keys = g.like(found["keys"], x)
    wide = g.expand_dims(x, [x.rank])
    equal = g.op("_npi_equal", wide, keys)
    if x.is_float and np.isnan(found["keys"]).any():
        nans = g.op("_npi_bitwise_and", g.op("_npi_isnan", wide), g.constant(np.isnan(found["keys"])))
        equal = g.op("_npi_bitwise_or", equal, nans)
    place = g.cast(g.op("_mxl_argmax", g.cast(equal, "uint8"), axis=x.rank, keepdims=False), "int64")
    some = g.cast(g.op("_np_max", g.cast(equal, "uint8"), axis=(x.rank,)), "bool")
    chosen = g.op("take", g.constant(values), place, axis=0, mode="clip")
    return g.where(some, chosen, g.like(default, chosen))


# ---- linear models ----


def transformed(g: Builder, x: Tensor, kind: str) -> Tensor:
    """Scores after a classifier's or a regressor's `post_transform`. Raises: OnnxError: PROBIT."""
    if kind == "NONE":
        return x
    if kind == "LOGISTIC":
        return g.op("sigmoid", x)
    if kind == "SOFTMAX":
        return g.op("softmax", x, axis=-1)
    if kind == "SOFTMAX_ZERO":
        zero = g.op("_npi_equal", x, g.like(0, x))
        parts = g.where(zero, g.like(0, x), g.op("exp", x))
        return g.op("broadcast_div", parts, g.sum(parts, (-1,), True))
    if kind == "PROBIT":
        return g.mul(g.op("erfinv", g.sub(g.mul(x, 2.0), 1.0)), float(np.sqrt(2)))
    raise OnnxError(f"{g.place}: post_transform {kind!r}")


def labels(g: Builder, node: Node, names: tuple[str, str], place: Tensor) -> Tensor:
    """The classes at these places. Raises: OnnxError: they are texts."""
    if names[0] in node.attributes:
        classes = np.asarray(node.ints(names[0]), "int64")
        return g.op("take", g.constant(classes), place, axis=0, mode="clip")
    if names[1] in node.attributes:
        raise node.refuse("classes that are texts, which mxlite has not: export with labels that are integers")
    return place


@reads("LinearRegressor", domain=ML)
def linear_regressor(g: Builder, node: Node) -> Tensor:
    return transformed(g, _linear(g, node, int(node.attr("targets", 1))), node.attr("post_transform", "NONE"))


def _linear(g: Builder, node: Node, rows: int) -> Tensor:
    x = as_float(g, node.input(0))
    x = g.reshape(x, (1, -1)) if x.rank == 1 else x
    weight = g.constant(floats(node, "coefficients").reshape(rows, -1), x.dtype, "coefficients")
    bias = g.constant(floats(node, "intercepts", [0] * rows), x.dtype, "intercepts")
    return g.op("FullyConnected", x, weight, bias, num_hidden=rows, flatten=False, no_bias=False)


@reads("LinearClassifier", domain=ML)
def linear_classifier(g: Builder, node: Node) -> list[Tensor]:
    rows = len(floats(node, "intercepts")) or len(node.attr("classlabels_ints", [0]))
    scores = _linear(g, node, rows)
    count = len(node.attr("classlabels_ints", [])) or len(node.attr("classlabels_strings", [])) or rows
    return classified(g, node, scores, count, ("classlabels_ints", "classlabels_strings"))


def classified(g: Builder, node: Node, scores: Tensor, count: int, names: tuple[str, str]) -> list[Tensor]:
    """The label and the scores of a classifier; two classes may have one score, of the second."""
    kind = node.attr("post_transform", "NONE")
    if scores.size_at(-1) == 1 and count == 2:
        if kind == "LOGISTIC":
            yes = g.op("sigmoid", scores)
            both = g.concat([g.op("_rminus_scalar", yes, scalar=1.0), yes], 1)
            return _with_label(g, node, both, g.op("_npi_greater", yes, g.like(0.5, yes)), names)
        both = g.concat([g.op("negative", scores), scores], 1)
        above = g.op("_npi_greater", scores, g.like(0, scores))
        return _with_label(g, node, transformed(g, both, kind), above, names)
    place = g.cast(g.op("_mxl_argmax", scores, axis=-1, keepdims=False), "int64")
    return [labels(g, node, names, place), transformed(g, scores, kind)]


def _with_label(g: Builder, node: Node, scores: Tensor, above: Tensor, names: tuple[str, str]) -> list[Tensor]:
    return [labels(g, node, names, g.reshape(g.cast(above, "int64"), (-1,))), scores]


# ---- support vectors ----


def kernel(g: Builder, node: Node, x: Tensor, vectors: np.ndarray) -> Tensor:
    """The kernel of each row of x and each support vector: (N, vectors)."""
    kind = node.attr("kernel_type", "LINEAR")
    gamma, coef, degree = (float(each) for each in (*node.attr("kernel_params", [0, 0, 0]), 0, 0, 0)[:3])
    weight = g.constant(vectors, x.dtype, "support_vectors")
    if kind == "RBF":
        apart = g.op("broadcast_sub", g.expand_dims(x, [1]), g.expand_dims(weight, [0]))
        return g.op("exp", g.mul(g.sum(g.op("square", apart), (-1,)), -gamma))
    dots = g.op("FullyConnected", x, weight, num_hidden=len(vectors), flatten=False, no_bias=True)
    if kind == "LINEAR":
        return dots
    inside = g.add(g.mul(dots, gamma), coef)
    return g.op("tanh", inside) if kind == "SIGMOID" else g.op("_power_scalar", inside, scalar=degree)


@reads("SVMRegressor", domain=ML)
def svm_regressor(g: Builder, node: Node) -> Tensor:
    x = as_float(g, node.input(0))
    coefficients, rho = floats(node, "coefficients"), floats(node, "rho", [0])
    count = int(node.attr("n_supports", 0))
    if count:
        values = kernel(g, node, x, floats(node, "support_vectors").reshape(count, -1))
        weight = g.constant(coefficients.reshape(1, -1), x.dtype, "coefficients")
    else:
        values, weight = x, g.constant(coefficients.reshape(1, -1), x.dtype, "coefficients")
    made = g.op("FullyConnected", values, weight, num_hidden=1, flatten=False, no_bias=True)
    made = g.add(made, float(rho[0]))
    if node.attr("one_class", 0):
        made = g.where(g.op("_npi_greater", made, g.like(0, made)), g.like(1, made), g.like(-1, made))
    return transformed(g, made, node.attr("post_transform", "NONE"))


def _coupled(g: Builder, pairs: Tensor, votes: np.ndarray) -> Tensor:
    """The probabilities of all classes whose pairs are nearest to those given, by Wu, Lin and Weng's second method.

    Args: pairs: (N, P), the first class' probability in each pair. votes: which class is first, or second, of a pair.
    """
    _, count, total = votes.shape
    other = g.op("_rminus_scalar", pairs, scalar=1.0)
    if count == 2:
        return g.concat([pairs, other], 1)
    table = np.zeros((2, count, count, total), "float32")  # r[i, j]: that of i, in its pair with j
    for number in range(total):
        a, b = int(votes[0, :, number].argmax()), int(votes[1, :, number].argmax())
        table[0, a, b, number] = table[1, b, a, number] = 1
    sides = [
        g.op("FullyConnected", each, g.like(rows.reshape(-1, total), pairs), num_hidden=count * count, flatten=False,
             no_bias=True)
        for each, rows in zip((pairs, other), table)
    ]  # fmt: skip
    r = g.reshape(g.add(*sides), (-1, count, count))
    turned = g.transpose(r, (0, 2, 1))
    squares = g.sum(g.op("square", turned), (2,), True)
    matrix = g.sub(g.op("broadcast_mul", squares, g.like(np.eye(count), pairs)), g.mul(r, turned))
    # The least squares under the condition that the sum is 1: one row and one column more.
    edge = np.ones((count + 1, count + 1)) - np.pad(np.ones((count, count)), ((0, 1), (0, 1)))
    edge[-1, -1] = 0
    padded = g.op("_npi_pad", matrix, pad_width=((0, 0), (0, 1), (0, 1)), mode="constant", constant_value=0)
    system = g.op("broadcast_add", padded, g.like(edge[None], pairs))
    zero = g.op("zeros_like", g.slice(system, 2, 0, 1))
    right = g.op("broadcast_add", zero, g.like(np.eye(count + 1)[:, -1:][None], pairs))
    solved = g.op("_npi_solve", system, right)
    return g.reshape(g.slice(solved, 1, 0, count), (-1, count))


@reads("SVMClassifier", domain=ML)
def svm_classifier(g: Builder, node: Node) -> list[Tensor]:
    x, names = as_float(g, node.input(0)), ("classlabels_ints", "classlabels_strings")
    per_class = node.ints("vectors_per_class", [])
    count, total = len(per_class), sum(per_class)
    if not total:
        raise node.refuse("a linear SVM, which has no support vectors")
    values = kernel(g, node, x, floats(node, "support_vectors").reshape(total, -1))
    coefficients, rho = floats(node, "coefficients").reshape(count - 1, total), floats(node, "rho")
    starts = np.cumsum([0, *per_class])
    rows = []
    for a in range(count):
        for b in range(a + 1, count):
            row = np.zeros(total, "float32")
            row[starts[a] : starts[a + 1]] = coefficients[b - 1, starts[a] : starts[a + 1]]
            row[starts[b] : starts[b + 1]] = coefficients[a, starts[b] : starts[b + 1]]
            rows.append(row)
    weight = g.constant(np.stack(rows), x.dtype, "coefficients")
    bias = g.constant(rho, x.dtype, "rho")
    pairs = g.op("FullyConnected", values, weight, bias, num_hidden=len(rows), flatten=False, no_bias=False)
    positive = g.cast(g.op("_npi_greater", pairs, g.like(0, pairs)), x.dtype)
    votes = np.zeros((2, count, len(rows)), "float32")
    number = 0
    for a in range(count):
        for b in range(a + 1, count):
            votes[0, a, number], votes[1, b, number] = 1, 1
            number += 1
    won = g.add(g.op("FullyConnected", positive, g.like(votes[0], x), num_hidden=count, flatten=False, no_bias=True),
                g.op("FullyConnected", g.op("_rminus_scalar", positive, scalar=1.0), g.like(votes[1], x),
                     num_hidden=count, flatten=False, no_bias=True))  # fmt: skip
    place = g.cast(g.op("_mxl_argmax", won, axis=-1, keepdims=False), "int64")
    if "prob_a" in node.attributes:
        slope, shift = (g.like(floats(node, name), x) for name in ("prob_a", "prob_b"))
        first = g.op("sigmoid", g.op("negative", g.add(g.op("broadcast_mul", pairs, slope), shift)))
        scores = _coupled(g, first, votes)
        return [labels(g, node, names, place), scores]
    scores = g.concat([g.op("negative", pairs), pairs], 1) if count == 2 else pairs
    return [labels(g, node, names, place), transformed(g, scores, node.attr("post_transform", "NONE"))]
