"""Trees of scikit-learn and of boosting libraries: all trees are walked at once, one level of depth after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.onnx._file import array_of
from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.ml import as_float, classified, floats, labels, transformed
from mxlite.onnx._import.nodes import ML, Node, reads
from mxlite.onnx._import.tensor import Tensor

COMPARED = {
    "BRANCH_LEQ": "_npi_less_equal", "BRANCH_LT": "_npi_less", "BRANCH_GTE": "_npi_greater_equal",
    "BRANCH_GT": "_npi_greater", "BRANCH_EQ": "_npi_equal", "BRANCH_NEQ": "_npi_not_equal",
}  # fmt: skip


class Forest:
    """Nodes of all trees as arrays: feature, threshold, next nodes (a leaf's is itself), mode; and the trees' roots."""

    def __init__(
        self, node: Node, feature: Any, threshold: Any, yes: Any, no: Any, modes: list[str], roots: Any
    ) -> None:
        self.feature, self.yes, self.no, self.roots = (np.asarray(each, "int64") for each in (feature, yes, no, roots))
        self.threshold = np.asarray(threshold)
        self.modes = modes
        self.missing = np.zeros(len(modes), bool)
        #: Of a node that asks whether a value is one of a set: the set, filled up with NaN.
        self.sets: np.ndarray | None = None
        count = len(modes)
        for each in (self.feature, self.yes, self.no, self.threshold):
            if len(each) != count:
                raise node.refuse("the lists of nodes are not equally long")
        for each in (self.yes, self.no, self.roots):
            if each.size and (each.min() < 0 or each.max() >= count):
                raise node.refuse("a node's next one does not exist")
        self.depth = self._depth(node)

    def _depth(self, node: Node) -> int:
        """How many comparisons the longest way takes. Raises: OnnxError: it has no end."""
        at, depth = np.unique(self.roots), 0
        while True:
            inner = at[(self.yes[at] != at) | (self.no[at] != at)]
            if not len(inner):
                return depth
            depth += 1
            if depth > min(len(self.modes), 4096):
                raise node.refuse("a tree has no end, or more than 4096 levels")
            at = np.unique(np.concatenate([self.yes[inner], self.no[inner]]))

    def leaves(self, g: Builder, node: Node, x: Tensor) -> Tensor:
        """The leaf that each row reaches in each tree, (N, trees)."""
        rows, trees = x.size_at(0), len(self.roots)
        if self.feature.size and (self.feature.min() < 0 or self.feature.max() >= x.size_at(1)):
            raise node.refuse(f"a tree asks for a feature that the input of shape {x.shape} has not")
        zero = g.cast(g.slice(g.op("zeros_like", x), 1, 0, 1), "int64")
        at = g.op("broadcast_add", zero, g.constant(self.roots.reshape(1, trees)))
        kinds = sorted({mode for mode in self.modes if mode != "LEAF"})
        for _ in range(self.depth):
            value = g.op("_mxl_gather", x, self._of(g, self.feature, at), axis=1)
            limit = self._of(g, self.threshold.astype(x.dtype), at)
            chosen = self._compared(g, kinds[0], value, limit, at)
            for kind in kinds[1:]:
                is_kind = self._of(g, np.array([mode == kind for mode in self.modes]), at)
                chosen = g.where(is_kind, self._compared(g, kind, value, limit, at), chosen)
            if self.missing.any():
                tracked = g.op("_npi_bitwise_and", g.op("_npi_isnan", value), self._of(g, self.missing, at))
                chosen = g.op("_npi_bitwise_or", chosen, tracked)
            at = g.where(chosen, self._of(g, self.yes, at), self._of(g, self.no, at))
        return g.reshape(at, (rows, trees))

    def _compared(self, g: Builder, kind: str, value: Tensor, limit: Tensor, at: Tensor) -> Tensor:
        if kind != "BRANCH_MEMBER":
            return g.op(COMPARED[kind], value, limit)
        assert self.sets is not None
        equal = g.op("_npi_equal", g.expand_dims(value, [2]), self._of(g, self.sets.astype(value.dtype), at))
        return g.cast(g.op("_np_max", g.cast(equal, "uint8"), axis=(2,)), "bool")

    def _of(self, g: Builder, table: np.ndarray, at: Tensor) -> Tensor:
        return g.op("take", g.constant(table, name="tree"), at, axis=0, mode="clip")


def _forest(node: Node) -> tuple[Forest, dict[tuple[int, int], int]]:
    """The trees of the attributes nodes_*, and the place of each node by its tree and number."""
    trees, numbers = node.ints("nodes_treeids", []), node.ints("nodes_nodeids", [])
    place = {key: index for index, key in enumerate(zip(trees, numbers))}
    modes = [str(each.decode() if isinstance(each, bytes) else each) for each in node.attr("nodes_modes", [])]
    thresholds = floats(node, "nodes_values")
    if "nodes_values_as_tensor" in node.attributes:
        thresholds = array_of(node.attributes["nodes_values_as_tensor"])[0].asnumpy()
    feature = node.ints("nodes_featureids", [])
    if not modes or not len(place) == len(modes) == len(trees):
        raise node.refuse("the lists of nodes are not equally long")
    ways = []
    for name in ("nodes_truenodeids", "nodes_falsenodeids"):
        given = node.ints(name, [])
        ways.append(
            [index if mode == "LEAF" else place[trees[index], given[index]] for index, mode in enumerate(modes)]
        )
    unknown = set(modes) - {*COMPARED, "LEAF"}
    if unknown:
        raise node.refuse(f"comparisons {sorted(unknown)}")
    firsts: dict[int, int] = {}
    for index, tree in enumerate(trees):
        firsts.setdefault(tree, index)
    reached = {way for way_list in ways for index, way in enumerate(way_list) if way != index}
    roots = {
        tree: next((i for i, t in enumerate(trees) if t == tree and i not in reached), first)
        for tree, first in firsts.items()
    }
    feature = [0 if mode == "LEAF" else each for each, mode in zip(feature, modes)]
    forest = Forest(node, feature, thresholds, ways[0], ways[1], modes, list(roots.values()))
    tracks = node.ints("nodes_missing_value_tracks_true", [])
    if tracks:
        forest.missing = np.asarray(tracks, bool) & np.array([mode != "LEAF" for mode in modes])
    return forest, place


def _weights(node: Node, prefix: str, place: dict[tuple[int, int], int], total: int, count: int) -> np.ndarray:
    """What each node adds to each target: (nodes, targets)."""
    table = np.zeros((total, count), "float32")
    values = floats(node, f"{prefix}_weights")
    if f"{prefix}_weights_as_tensor" in node.attributes:
        values = array_of(node.attributes[f"{prefix}_weights_as_tensor"])[0].asnumpy()
        table = table.astype(values.dtype)
    keys = zip(node.ints(f"{prefix}_treeids"), node.ints(f"{prefix}_nodeids"), node.ints(f"{prefix}_ids"), values)
    for tree, number, target, weight in keys:
        table[place[tree, number], target] += weight
    return table


def _gathered(g: Builder, leaves: Tensor, table: np.ndarray, how: str) -> Tensor:
    """What the reached leaves say together: (N, targets)."""
    chosen = g.op("take", g.constant(table, name="leaves"), leaves, axis=0, mode="clip")
    if how == "SUM":
        return g.sum(chosen, (1,))
    if how == "AVERAGE":
        return g.mean(chosen, (1,))
    return g.op("_np_max" if how == "MAX" else "_np_min", chosen, axis=(1,))


def _base(g: Builder, node: Node, x: Tensor) -> Tensor:
    values = floats(node, "base_values")
    if "base_values_as_tensor" in node.attributes:
        values = array_of(node.attributes["base_values_as_tensor"])[0].asnumpy()
    return g.op("broadcast_add", x, g.like(values, x)) if len(values) and len(values) in (1, x.sized[-1]) else x


@reads("TreeEnsembleRegressor", domain=ML)
def regressor(g: Builder, node: Node) -> Tensor:
    forest, place = _forest(node)
    x = as_float(g, node.input(0))
    count = int(node.attr("n_targets", 1))
    table = _weights(node, "target", place, len(forest.modes), count)
    made = _gathered(g, forest.leaves(g, node, x), table, node.attr("aggregate_function", "SUM"))
    return transformed(g, g.cast(_base(g, node, made), "float32"), node.attr("post_transform", "NONE"))


@reads("TreeEnsembleClassifier", domain=ML)
def classifier(g: Builder, node: Node) -> list[Tensor]:
    forest, place = _forest(node)
    x = as_float(g, node.input(0))
    names = ("classlabels_int64s", "classlabels_strings")
    count = len(node.attr(names[0], [])) or len(node.attr(names[1], []))
    ids = node.ints("class_ids", [])
    alone = count == 2 and len(set(ids)) == 1
    table = _weights(node, "class", place, len(forest.modes), count)
    if alone:
        table = table[:, sorted(set(ids))]
    scores = _base(g, node, g.cast(_gathered(g, forest.leaves(g, node, x), table, "SUM"), "float32"))
    if not alone:
        return classified(g, node, scores, count, names)
    kind = node.attr("post_transform", "NONE")
    if kind == "NONE":  # the score is the second class' probability
        positive = all(weight >= 0 for weight in floats(node, "class_weights"))
        first = g.op("_rminus_scalar", scores, scalar=1.0) if positive else g.op("negative", scores)
        above = g.op("_npi_greater", scores, g.like(0.5 if positive else 0, scores))
        label = labels(g, node, names, g.reshape(g.cast(above, "int64"), (-1,)))
        return [label, g.concat([first, scores], 1)]
    return classified(g, node, scores, count, names)


MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"]


def _sets(node: Node, modes: list[str], total: int) -> np.ndarray:
    """The sets of the nodes that have one, in their order; a NaN ends each in the file."""
    values = array_of(node.attr("membership_values"))[0].asnumpy()
    parts = np.split(values, np.flatnonzero(np.isnan(values)) + 1)
    found = np.full((total, max(len(each) for each in parts)), np.nan, values.dtype)
    owners = [index for index, mode in enumerate(modes) if mode == "BRANCH_MEMBER"]
    for owner, part in zip(owners, parts):
        found[owner, : len(part)] = part
    return found


@reads("TreeEnsemble", domain=ML)
def ensemble(g: Builder, node: Node) -> Tensor:
    x = as_float(g, node.input(0))
    given = [MODES[each] for each in array_of(node.attr("nodes_modes"))[0].asnumpy().tolist()]
    inner = len(given)
    splits = array_of(node.attr("nodes_splits"))[0].asnumpy()
    targets, values = node.ints("leaf_targetids"), array_of(node.attr("leaf_weights"))[0].asnumpy()
    leaves = len(targets)
    ways = []
    for side in ("true", "false"):
        last = node.ints(f"nodes_{side}leafs")
        ways.append([at + inner if is_leaf else at for at, is_leaf in zip(node.ints(f"nodes_{side}nodeids"), last)])
    own = list(range(inner, inner + leaves))
    feature = [*node.ints("nodes_featureids"), *[0] * leaves]
    limits = np.concatenate([splits, np.zeros(leaves, splits.dtype)])
    forest = Forest(
        node, feature, limits, ways[0] + own, ways[1] + own, [*given, *["LEAF"] * leaves], node.ints("tree_roots")
    )
    if "BRANCH_MEMBER" in given:
        forest.sets = _sets(node, given, inner + leaves)
    tracks = node.ints("nodes_missing_value_tracks_true", [])
    if tracks:
        forest.missing[:inner] = np.asarray(tracks, bool)
    table = np.zeros((inner + leaves, int(node.attr("n_targets", 1))), values.dtype)
    table[own, targets] = values
    how = ["AVERAGE", "SUM", "MIN", "MAX"][int(node.attr("aggregate_function", 1))]
    made = _gathered(g, forest.leaves(g, node, x), table, how)
    kind = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"][int(node.attr("post_transform", 0))]
    return transformed(g, made, kind)
