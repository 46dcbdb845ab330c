"""mxlite.torch: the words and forms of arguments that PyTorch takes beside the usual ones."""

from __future__ import annotations

import copy
import math
import pickle
import sys

import numpy as np
import pytest

import mxlite.torch as torch

X = torch.arange(6.0).reshape(2, 3)

#: Calls by keyword, and the same calls.
KEYWORDS = {
    "X.view(size=(6,))": "X.view(6)",
    "X.reshape(shape=(3, 2))": "X.reshape(3, 2)",
    "torch.reshape(input=X, shape=(3, 2))": "X.reshape(3, 2)",
    "X.expand(size=(4, 2, 3))": "X.expand(4, 2, 3)",
    "X.permute(dims=(1, 0))": "X.permute(1, 0)",
    "torch.flip(input=X, dims=(0,))": "X.flip(0)",
    "X.repeat(repeats=(2, 1))": "X.repeat(2, 1)",
    "torch.tile(X, dims=(2,))": "X.tile(2)",
    "X.swapaxes(axis0=0, axis1=1)": "X.transpose(0, 1)",
    "X.clone().swapaxes_(axis0=0, axis1=1)": "X.transpose(0, 1)",
    "X.clone().squeeze_(axis=0)": "X.squeeze(0)",
    "X.clone().pow_(exponent=2)": "X.pow(2)",
    "torch.vdot(X[0], other=X[1])": "torch.dot(X[0], X[1])",
    "torch.stack(X.split(split_size=1, dim=1))": "torch.stack(X.split(1, 1))",
    "X.split_with_sizes(split_sizes=[1, 2], dim=1)[1]": "X[:, 1:]",
    "torch.full_like(X, fill_value=3)": "torch.full((2, 3), 3.0)",
    "torch.full_like(input=X, fill_value=3)": "torch.full((2, 3), 3.0)",
    "torch.randint_like(X, low=4, high=5)": "torch.full((2, 3), 4.0)",
    "torch.randint_like(X, high=1)": "torch.zeros(2, 3)",
    "torch.inverse(input=torch.eye(2) * 2)": "torch.eye(2) / 2",
    "torch.stack((X, X), axis=1)": "torch.stack((X, X), 1)",
    "torch.cat((X, X), axis=1)": "torch.cat((X, X), 1)",
    "torch.std_mean(X, axis=0)[1]": "X.mean(0)",
    "torch.var_mean(X, False)[1]": "X.mean()",
    "torch.var_mean(X, False)[0]": "X.var(unbiased=False)",
    "X.softmax(axis=1)": "X.softmax(1)",
    "X.cumsum(axis=1)": "X.cumsum(1)",
    "X.unsqueeze(axis=1)": "X.unsqueeze(1)",
    "X.max(axis=1)[1]": "X.max(1)[1]",
}


@pytest.mark.parametrize("text", KEYWORDS)
def test_keywords(text):
    space = {"X": X, "torch": torch}
    made, expected = eval(text, space), eval(KEYWORDS[text], space)
    assert made.shape == expected.shape and made.dtype is expected.dtype and torch.equal(made, expected)


@pytest.mark.parametrize(
    "name",
    ("sum", "mean", "prod", "std", "var", "max", "min", "amax", "amin", "argmax", "any", "all", "median", "logsumexp"),
)
@pytest.mark.parametrize("owner", [torch, torch.Tensor], ids=["function", "method"])
def test_axis_and_keepdims(name, owner):
    function = getattr(owner, name)
    made, expected = function(X, axis=0, keepdims=True), function(X, dim=0, keepdim=True)
    made, expected = (each if isinstance(each, torch.Tensor) else each[0] for each in (made, expected))
    assert made.shape == (1, 3) and torch.equal(made, expected)
    with pytest.raises(TypeError):
        function(X, dim=0, axis=0)


def test_logit_clamps():
    x = torch.tensor([-1.0, 0.0, 0.5, 0.9, 1.0], requires_grad=True)
    made = torch.logit(x, eps=0.1)
    assert made.tolist() == pytest.approx([-math.log(9), -math.log(9), 0, math.log(9), math.log(9)], rel=1e-5)
    made.sum().backward()
    assert x.grad.tolist() == pytest.approx([0, 0, 4, 1 / 0.09, 0], rel=1e-5)
    assert torch.equal((x * 1).logit_(0.1), made)


def test_a_shape_that_is_a_tensor():
    with pytest.raises(TypeError, match="expected tuple of ints, got Tensor"):
        torch.zeros(torch.tensor([2, 3]))
    with pytest.raises(RuntimeError, match="eye: n and m are 0 or more, got -1 and None"):
        torch.eye(-1)


@pytest.mark.parametrize("name", ["FloatTensor", "LongTensor", "BoolTensor"])
def test_classes_of_a_dtype(name):
    kind = {"FloatTensor": torch.float32, "LongTensor": torch.int64, "BoolTensor": torch.bool}[name]
    made = getattr(torch, name)
    assert isinstance(torch.zeros(2, dtype=kind), made) and not isinstance(torch.zeros(2, dtype=torch.int8), made)
    assert not isinstance(2, made)
    assert made([1, 0]).dtype is kind and X.type(made).dtype is kind


def test_numpy_gives_tensors():
    made = [np.exp(X), X + np.arange(3), np.float32(2) * X, np.maximum(X, 1)]
    assert all(type(each) is torch.Tensor for each in made)
    assert made[1].tolist() == (X.double() + torch.arange(3)).tolist()
    assert np.isnan(X).dtype is torch.uint8


def test_attributes_of_a_program_are_copied():
    x = torch.ones(2, requires_grad=True)
    x.label = ["a"]
    for made in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert made.label == ["a"] and made.label is not x.label and made.requires_grad


def test_jacobian_is_vectorized_or_not():
    functional = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    assert functional.jacobian(torch.square, x, vectorize=True).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert functional.hessian(lambda x: (x**3).sum(), x, vectorize=True).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    with pytest.raises(NotImplementedError, match="forward-mode"):
        functional.jacobian(torch.square, x, strategy="forward-mode")


# ---- einsum ----

Y = torch.arange(12.0).reshape(2, 2, 3)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("...j,...j->...", X, X), (X * X).sum(-1)),
        (("...j,j->...", Y, X[0]), Y @ X[0]),
        (("...ij,...jk->...ik", Y, X.t()), Y @ X.t()),
        (("...ij,kj", Y, X), Y @ X.t()),
        (("i...->...", X), X.sum(0)),
        (("i...->...i", Y), Y.permute(1, 2, 0)),
        (("...,...->...", X, X[0]), X * X[0]),
        (("...->...", X), X),
        ((X, [0, 1], X, [0, 1], [0]), (X * X).sum(1)),
        ((Y, [..., 0], X[0], [0], [...]), Y @ X[0]),
        ((X, [0, 1], X[0], [1]), X @ X[0]),
    ],
    ids=str,
)
def test_einsum_of_dots_and_of_numbers(arguments, expected):
    assert torch.equal(torch.einsum(*arguments), expected)


@pytest.mark.parametrize("equation", ["ij->ik", "ijk", "...ijk->...", ".ij->j", "1j->j", "ij,ij"])
def test_equations_that_einsum_refuses(equation):
    with pytest.raises(RuntimeError, match="einsum"):
        torch.einsum(equation, X)


def test_equal_elements_of_a_numpy_array():
    values = np.array([0, 1, 5])
    x = torch.arange(3)
    assert (x == values).tolist() == (values == x).tolist() == [True, True, False]
    assert (x == np.array(1.0)).tolist() == [False, True, False]
    assert (x == np.array(["a"])) is False


def test_a_deviation_of_nothing():
    assert torch.normal(2.0, 0.0, (2,)).tolist() == torch.zeros(2).normal_(2.0, 0.0).tolist() == [2.0, 2.0]
    assert torch.nn.init.normal_(torch.empty(2), 1.0, 0.0).tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="std is 0 or more, got -1.0"):
        torch.zeros(2).normal_(0.0, -1.0)


def test_texts_of_a_batch():
    collate = torch.utils.data.default_collate
    assert collate(["a", "b"]) == ["a", "b"]
    assert collate([(1, "a"), (2, "b")])[1] == ("a", "b")


@pytest.mark.parametrize("name", ["sort", "unsqueeze", "std", "cumsum", "flip", "reshape", "transpose"])
@pytest.mark.parametrize("given", [np.ones((2, 3)), None, 3, [1.0]], ids=["array", "None", "number", "list"])
def test_what_is_no_tensor(name, given):
    arguments = {"unsqueeze": (0,), "cumsum": (0,), "flip": (0,), "reshape": (6,), "transpose": (0, 1)}
    with pytest.raises(TypeError, match=r"^\w+: argument 'input' \(position 1\) .*, expected Tensor, got \w+"):
        getattr(torch, name)(given, *arguments.get(name, ()))


@pytest.mark.parametrize("made", [X, torch.nn.Parameter(X), torch.Tensor], ids=["tensor", "parameter", "class"])
@pytest.mark.parametrize("name", ["hash_tensor", "istft", "to_sparse"])
def test_what_tensors_lack_says_so(made, name):
    with pytest.raises(AttributeError, match=f"'{name}': it is missing in mxlite; .mxlite help from-pytorch"):
        getattr(made, name)
    assert not hasattr(made, name) and getattr(made, name, 3) == 3
    assert made is torch.Tensor or name not in dir(made)


def test_other_names_that_tensors_lack():
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'shaep'$") as caught:
        X.shaep  # noqa: B018
    if sys.version_info >= (3, 10):  # by which Python says "Did you mean: 'shape'?"
        assert caught.value.name == "shaep" and caught.value.obj is X
    own = X.clone()
    own.imag = "mine"
    assert own.imag == "mine" and "imag" in dir(own) and not hasattr(X, "imag")


def test_a_layer_of_what_is_no_tensor():
    with pytest.raises(TypeError, match=r"^linear: argument 'input' \(position 1\) .*, expected Tensor, got ndarray"):
        torch.nn.Linear(3, 2)(np.ones((1, 3)))
