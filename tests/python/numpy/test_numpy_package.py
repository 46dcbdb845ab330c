"""The rest of the package over arrays of mx.np: autograd, metrics, custom operators, data; see test_numpy_mode.py."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import mxlite as mx
from mxlite import autograd, gluon, npx
from mxlite import np as mnp
from mxlite.gluon import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _modes import legacy, numbers  # noqa: E402


@pytest.fixture(autouse=True)
def numpy_mode() -> Iterator[None]:
    npx.set_np()
    yield
    npx.reset_np()


# ---- autograd ----


class Doubled(autograd.Function):
    """Twice the input; notes the classes that it sees."""

    def __init__(self, seen: list) -> None:
        super().__init__()
        self.seen = seen

    def forward(self, x: Any) -> Any:
        y = x * 2
        self.save_for_backward(x, y)
        self.seen.append(type(x))
        return y

    def backward(self, dy: Any) -> Any:
        self.seen += [type(dy), *map(type, self.saved_tensors)]
        return dy * 2


def test_functions_of_the_user() -> None:
    for array, kind in ((mnp.array([1.0, 2]), mnp.ndarray), (mx.nd.array([1.0, 2]), mx.nd.NDArray)):
        seen: list = []
        array.attach_grad()
        with autograd.record():
            out = Doubled(seen)(array)
        out.backward()
        assert seen == [kind] * 4 and type(array.grad) is kind and array.grad.tolist() == [2, 2]


def test_functions_with_static_methods() -> None:
    seen = []

    class Tripled(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            seen.extend([type(dy), type(ctx.saved_tensors[0])])
            return dy * ctx.factor, None

    x = mnp.array([1.0, 2])
    x.attach_grad()
    with autograd.record():
        y = Tripled.apply(x, 3.0)
    y.backward()
    assert seen == [mnp.ndarray] * 2 and x.grad.tolist() == [3, 3]


def test_hooks_and_kept_gradients() -> None:
    seen = []
    x = mnp.array([1.0, 2])
    x.attach_grad()
    with autograd.record():
        y = mnp.exp(x)
        z = (y * y).sum()
    y.retain_grad()
    y.register_hook(lambda grad: seen.append(type(grad)))
    node = y.grad_fn
    node.register_hook(lambda *grads: seen.append(type(grads[0][0])))
    z.backward()
    assert type(y.grad) is mnp.ndarray and seen[0] is mnp.ndarray and len(seen) == 2


def test_gradients_of_gradients() -> None:
    x = mnp.array([1.0, 2])
    x.attach_grad()
    with autograd.record():
        y = (x**3).sum()
        (first,) = autograd.grad(y, [x], create_graph=True)
        second = (first * first).sum()
    second.backward()
    assert type(first) is mnp.ndarray
    numpy.testing.assert_allclose(x.grad.asnumpy(), 36 * x.asnumpy() ** 3, rtol=1e-5)


def test_tools_of_autograd() -> None:
    x, v = mnp.array([1.0, 2]), mnp.array([1.0, 0])
    functional = autograd.functional

    def total(x: Any) -> Any:
        return mnp.exp(x).sum()

    found = [functional.jacobian(mnp.exp, x), functional.hessian(total, x), *functional.vjp(mnp.exp, x, v)]
    found += [*functional.jvp(mnp.exp, x, v), *functional.hvp(total, x, v), *functional.vhp(total, x, v)]
    assert {type(each) for each in found} == {mnp.ndarray}
    numpy.testing.assert_allclose(found[0].asnumpy(), numpy.diag(numpy.exp([1, 2])), rtol=1e-6)
    legacy = functional.jacobian(mx.nd.exp, x.as_nd_ndarray())
    assert type(legacy) is mx.nd.NDArray and legacy.shape == (2, 2)
    precise = x.astype("float64")
    precise.attach_grad()
    assert autograd.gradcheck(lambda x: mnp.exp(x) * x, [precise])
    assert autograd.gradgradcheck(lambda x: mnp.exp(x) * x, [precise])
    x.attach_grad()
    with autograd.record():
        y = autograd.checkpoint(lambda x: mnp.exp(mnp.sin(x)), x)
    y.backward()
    numpy.testing.assert_allclose(x.grad.asnumpy(), numpy.exp(numpy.sin([1, 2])) * numpy.cos([1, 2]), rtol=1e-5)
    seen = []
    with autograd.saved_tensors_hooks(lambda array: (seen.append(type(array)), array)[1], lambda array: array):
        with autograd.record():
            y = mnp.exp(x) * x
    y.backward()
    assert set(seen) == {mnp.ndarray}


def test_control_flow() -> None:
    x = mnp.array([0.5, 1, 2])
    x.attach_grad()
    with autograd.record():
        out, state = npx.foreach(lambda each, state: (each * state, state + each), x, mnp.array(1.0))
        loss = out.sum() + state
    loss.backward()
    assert type(out) is type(state) is mnp.ndarray and state.shape == () and out.tolist() == [0.5, 1.5, 5]
    assert x.grad.tolist() == [5, 4.5, 3.5]
    counted, (last,) = npx.while_loop(lambda i: i < 3, lambda i: (i * 2, [i + 1]), [mnp.array(0.0)], max_iterations=4)
    assert type(counted) is type(last) is mnp.ndarray and counted.tolist() == [0, 2, 4, 0] and last == 3
    assert npx.cond(mnp.array(0.0), lambda: mnp.zeros(1), lambda: mnp.ones(1)) == 1
    block = nn.HybridLambda(lambda F, x: F.contrib.foreach(lambda each, state: (mnp.exp(each), state), x, [])[0])
    assert type(block(x)) is mnp.ndarray
    with pytest.raises(ValueError, match="2 elements"):
        npx.cond(mnp.ones(2), lambda: 1, lambda: 2)


# ---- what steps with arrays of mx.np ----


def test_norms_are_clipped() -> None:
    arrays = [mnp.ones((3,)), mnp.ones((2, 2)) * 2]
    expected = numpy.sqrt(3 + 16)
    assert gluon.utils.clip_global_norm(arrays, 1.0) == pytest.approx(expected)
    assert float(mnp.sqrt(sum((each**2).sum() for each in arrays))) == pytest.approx(1)
    assert type(gluon.utils.clip_global_norm(arrays, 1.0, check_isfinite=False)) is mnp.ndarray


@pytest.mark.parametrize("text", ["Accuracy()", "RMSE()", "Perplexity(None)", "Loss()", "PearsonCorrelation()"])
def test_metric(text: str) -> None:
    label, pred = numpy.array([0, 1, 1], "float32"), numpy.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]], "float32")
    if text in ("RMSE()", "PearsonCorrelation()"):
        pred = pred[:, 0]
    mine, theirs = (eval(f"metric.{text}", {"metric": mx.metric}) for _ in range(2))
    mine.update(mnp.array(label), mnp.array(pred))
    theirs.update([mx.nd.array(label)], [mx.nd.array(pred)])
    assert mine.get() == theirs.get()


def test_custom_operators_see_arrays_of_the_mode() -> None:
    seen = []

    class Twice(mx.operator.CustomOp):
        def forward(self, is_train: bool, req: list, in_data: list, out_data: list, aux: list) -> None:
            seen.extend(map(type, (in_data[0], out_data[0])))
            self.assign(out_data[0], req[0], in_data[0] * 2)

        def backward(self, req: list, out_grad: list, in_data: list, out_data: list, in_grad: list, aux: list) -> None:
            seen.extend(map(type, (in_data[0], out_grad[0], in_grad[0])))
            self.assign(in_grad[0], req[0], out_grad[0] * 2)

    @mx.operator.register("numpy_mode_twice")
    class Prop(mx.operator.CustomOpProp):
        def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Any:
            return Twice()

    x = mnp.array([1.0, 2])
    x.attach_grad()
    with autograd.record():
        y = mx.nd.Custom(x.as_nd_ndarray(), op_type="numpy_mode_twice").as_np_ndarray()
        z = y.sum()
    z.backward()
    assert y.tolist() == [2, 4] and x.grad.tolist() == [2, 2] and seen == [mnp.ndarray] * 5
    with pytest.raises(TypeError, match="as_nd_ndarray"):
        mx.nd.Custom(x, op_type="numpy_mode_twice")


def test_loss_scaling_sees_overflows() -> None:
    scaler = mx.contrib.amp.loss_scaler.LossScaler()
    param = gluon.Parameter("w", shape=(2,))
    param.initialize()
    assert not scaler.has_overflow([param])
    param.grad()[:] = mnp.array([1.0, mnp.inf])
    assert scaler.has_overflow([param])


def test_vectors_of_words(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("a 1 2\nb 3 4\n")
    embedding = mx.contrib.text.embedding.CustomEmbedding(str(tmp_path / "vectors.txt"))
    assert type(embedding.idx_to_vec) is mnp.ndarray
    assert embedding.get_vecs_by_tokens("b").tolist() == [3, 4]
    embedding.update_token_vectors("b", mnp.array([5.0, 6]))
    assert type(embedding.get_vecs_by_tokens(["a", "b"])) is mnp.ndarray
    assert embedding.get_vecs_by_tokens(["a", "b"]).tolist() == [[1, 2], [5, 6]]


# ---- data ----


def test_iterator_of_arrays() -> None:
    batches = mx.io.NDArrayIter(mnp.ones((5, 2)), {"label": mnp.zeros(5)}, 2)
    assert [each.data[0].shape for each in batches] == [(2, 2)] * 3


class Rows(gluon.data.Dataset):
    """Samples that are made in the workers."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, number: int) -> Any:
        return mnp.ones((2,)) * number, type(gluon.data.dataloader.default_batchify_fn([1, 2])).__name__ == "ndarray"


@pytest.mark.parametrize(("workers", "threads"), [(0, False), (2, False), (2, True)])
def test_workers_are_in_the_loaders_mode(workers: int, threads: bool) -> None:
    loader = gluon.data.DataLoader(Rows(), batch_size=2, num_workers=workers, thread_pool=threads)
    for rows, modes in loader:
        assert type(rows) is type(modes) is mnp.ndarray and modes.all()
    with legacy():
        loader = gluon.data.DataLoader(
            gluon.data.ArrayDataset(numbers(4, 2)), batch_size=2, num_workers=workers, thread_pool=threads
        )
        assert {type(each) for each in loader} == {mx.nd.NDArray}
    loader = gluon.data.DataLoader(
        gluon.data.ArrayDataset(mx.nd.ones((4, 2))), batch_size=2, num_workers=workers, thread_pool=threads
    )
    assert {type(each) for each in loader} == {mx.nd.NDArray}


def test_a_mode_is_the_threads() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append((npx.is_np_array(), npx.is_np_shape())))
    thread.start()
    thread.join()
    assert found == [(False, False)] and npx.is_np_array()


def test_transforms_that_draw() -> None:
    transforms = gluon.data.vision.transforms
    image = mnp.array(numpy.arange(8 * 9 * 3).reshape(8, 9, 3) % 251, dtype="uint8")
    chain = [
        transforms.RandomResizedCrop(4),
        transforms.RandomFlipLeftRight(),
        transforms.RandomFlipTopBottom(),
        transforms.RandomColorJitter(0.1, 0.1, 0.1, 0.1),
        transforms.RandomLighting(0.1),
        transforms.CropResize(0, 0, 4, 4, 6, 1),
        transforms.RandomApply(transforms.CenterCrop(3), 1.0),
        transforms.ToTensor(),
        transforms.Rotate(10),
        transforms.RandomRotation((-5, 5)),
    ]
    whole = image
    for each in chain:
        whole = each(whole)
        assert type(whole) is mnp.ndarray, each
    assert whole.shape == (3, 3, 3)
    assert type(transforms.Compose(chain)(image)) is mnp.ndarray
    assert type(transforms.Compose(chain)(image.as_nd_ndarray())) is mx.nd.NDArray


def test_images(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "one.png"
    Image.fromarray(numpy.arange(8 * 9 * 3).reshape(8, 9, 3).astype("uint8")).save(path)
    image = mx.image.imread(str(path))
    assert type(image) is type(mx.image.imdecode(path.read_bytes())) is mnp.ndarray
    for augment in mx.image.CreateAugmenter((3, 4, 4), True, True, True, brightness=0.1, hue=0.1, pca_noise=0.1):
        image = augment(image)
        assert type(image) is mnp.ndarray
    folder = tmp_path / "images" / "label"
    folder.mkdir(parents=True)
    path.rename(folder / "one.png")
    data = gluon.data.vision.ImageFolderDataset(str(tmp_path / "images"))
    assert type(data[0][0]) is mnp.ndarray
    batches = mx.image.ImageIter(1, (3, 4, 4), path_root=str(folder), imglist=[[0, "one.png"]])
    assert next(batches).data[0].shape == (1, 3, 4, 4)
    detecting = mx.image.CreateDetAugmenter((3, 6, 6), rand_crop=1, rand_mirror=True)
    label = numpy.array([[0, 0.1, 0.1, 0.9, 0.9]], "float32")
    image = mx.np.ones((8, 9, 3))
    for augment in detecting:
        image, label = augment(image, label)
        assert type(image) is mnp.ndarray
