"""The differences of random sparse programs that are on purpose; docs/compatibility.md has each."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any


@dataclass
class Found:
    """A step that differs."""

    program: int
    step: int
    text: str
    function: str
    stypes: list[str]  # of its inputs
    how: str
    ours: Any
    theirs: Any
    empty: bool = False  # an array has no rows
    reason: str = ""
    some: bool = False  # an input is row_sparse and stores some of its rows

    def is_a(self, pattern: str) -> bool:
        """Whether a function of the step has such a name."""
        return re.search(rf"\b({pattern})\b", self.function) is not None


#: What 1.9.1 says where it refuses a call that is computed here.
REFUSALS = {
    "Operator not implemented": "no form for these storage types in 1.9.1",
    "sparse dot only supports 2 dimensional rhs": "dot of csr and other than two axes",
    "output.shape()": "dense and csr, which broadcasts",
    "Please use elemwise_div": "csr / dense",
    "kWriteInplace": "a step that does not write to its weight",
    "req='write'": "retain into its input",
    "expects req[0] == kWriteTo": "cast_storage into its input",
    "allow_inplace == true": "a sum into its input",
    "only supports axis=0 or 1": "_square_sum of both axes",
    "Inconsistent storage types detected in state": "a step with states of two storage types",
    "Incompatible attr in node": "arrays of two dtypes",
    "data type do not match": "arrays of two dtypes",
    "temp.IsDefaultData()": "gradients that are added up in sparse arrays",
    "(3 vs. 1)": "gradients that are added up in sparse arrays",
    "all rows containing non-zeros": "a row_sparse weight that stores some rows, with dense states",
    "where is missing FInferType": "arrays of two dtypes",
    "Only kWriteTo supported for broadcast": "csr and dense, into its input",
    "has not implemented dot(csr.T, rsp)": "dot of a transposed csr and row_sparse, as dense",
    "temp_out.storage_initialized()": "_scatter_elemwise_div of an array that stores nothing",
    "sparse dot only supports 2 dimensional lhs": "dot of csr and other than two axes",
    "shape_.Size() > 0": "a standard step with states that store nothing",
    "is not implemented for CPU": "group adagrad of dense gradients",
    "delay_alloc": "a call after one that made an array without rows",
    "Cannot use sparse_grad": "Embedding with a gradient of the other storage type",
    "Non compatible matrix dimensions": "FullyConnected with a weight that stores nothing",
}


def has_nan(answer: Any) -> bool:
    """Whether NaN or an infinity is in an answer."""
    if isinstance(answer, (list, tuple)):
        return any(has_nan(each) for each in answer)
    return isinstance(answer, float) and not math.isfinite(answer)


def refused(found: Found) -> str:
    """Why a call that 1.9.1 refuses is answered."""
    return next((f"refused: {why}" for text, why in REFUSALS.items() if text in found.theirs[2]), "")


def backward_reason(found: Found) -> str:
    """Why gradients differ, or nothing."""
    if found.is_a("LinearRegressionOutput|LogisticRegressionOutput|MAERegressionOutput"):
        return "gradients of labels are what memory held in 1.9.1"
    if "with head" in found.function and found.stypes[-2] != "default":
        return "gradients where the head's is sparse"
    if found.is_a("dot") and "csr" in found.stypes:
        return "the gradient of a csr factor of dot is 0, or what memory held, in 1.9.1"
    if found.is_a("gammaln|gamma") or (found.is_a("prod") and has_nan(found.theirs)):
        return "gradients at poles, of products with 0, and of powers that are constant"
    if found.is_a(r"broadcast_power|power|array \*\* (array|number)") and has_nan(found.theirs):
        return "gradients at poles, of products with 0, and of powers that are constant"
    return ""


def into_reason(found: Found) -> str:
    """Why what is written to an array differs, or nothing."""
    before, out = found.text[:-1].split(", out=")
    if found.function == "add_n out" and out in before:
        return "add_n into its input is zeros in 1.9.1"
    if found.how == "other indices" and found.ours[0][-1] == [] and found.stypes[0] == found.stypes[-1]:
        return "a result that stores nothing leaves `out` as it was in 1.9.1"
    return ""


def attached_reason(found: Found) -> str:
    """Why an array for gradients differs, or nothing."""
    if found.how == "another dtype" and "stype=" in found.text:
        return "attach_grad(stype=...) gives float32 gradients in 1.9.1"
    if found.how == "an error" and "its gradient is float32" in found.ours[2]:
        return "attach_grad(stype=...) gives float32 gradients in 1.9.1"
    if found.how == "an error" and "'csr'" in found.text and len(found.theirs[0][2]) != 2:
        return "csr arrays of other than two dimensions"
    return ""


def reason(found: Found) -> str:
    """Why a step differs, or nothing."""
    if found.empty:
        return "arrays without rows"
    if found.how == "no error":
        return refused(found)
    if found.function == "attach_grad":
        return attached_reason(found)
    if found.function.startswith("array[i:j]") and found.stypes == ["csr"] and found.text.endswith(":0]"):
        return "the end 0 of csr[i:0] is no end in 1.9.1"
    if found.how == "other indices" and len(found.ours) == 1:
        ours, theirs = found.ours[0], found.theirs[0]
        if theirs[1] == "csr" and theirs[4] == [] and not any(ours[4]):
            return "indptr of a result that stores nothing has no elements in 1.9.1"
    if found.is_a("dot") and "backward" not in found.function and has_nan(found.theirs):
        return "zeros that are not stored, times an infinity"
    if (
        found.stypes[:2] == ["csr", "default"]
        and found.ours[0][2][0] == 1
        and found.is_a("broadcast_(mul|div)|array [*/] array")
    ):
        return "1.9.1 takes a dense array beside a csr one of one row for one number"
    if found.is_a("norm") and has_nan(found.theirs):
        return "norms of several infinities"
    if found.is_a(".*_update") and found.some:
        return "1.9.1 reads states that store some rows as if they stored all"
    if "backward" in found.function:
        return backward_reason(found)
    return into_reason(found) if ", out=" in found.text else ""


#: Reasons for which the values are not those of dense arrays.
OWN_VALUES = "attach_grad|arrays without rows|scatter|states|weight|labels|poles"


def has_values_of_dense(found: Found, why: str) -> bool:
    """Whether the values must be those that 1.9.1 computes with dense arrays, if it does."""
    return re.search(OWN_VALUES, why) is None and not found.is_a("retain|_scatter_.*|.*_update")
