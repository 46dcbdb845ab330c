"""`torch.fft`, `torch.stft` and `torch.signal.windows`, against NumPy; tests/torch compares them with PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import mxlite.torch as torch
from mxlite.torch.signal import windows

pytestmark = pytest.mark.filterwarnings("ignore:stft")
X = torch.tensor(np.cos(np.arange(40.0) ** 2 / 9).reshape(2, 20))


@pytest.mark.parametrize("n", [1, 2, 7, 64, 1001])
@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name, n):
    made = getattr(torch.fft, name)
    wanted = getattr(np.fft, name)(n, 0.25)
    np.testing.assert_allclose(made(n, d=0.25, dtype=torch.float64).numpy(), wanted, rtol=1e-15)
    given = torch.empty(0)
    assert made(n, 0.25, out=given) is given and given.dtype == torch.float32 and given.shape == wanted.shape
    leaf = made(n, requires_grad=True)
    assert leaf.is_leaf and leaf.requires_grad


def test_frequencies_of_nothing_and_errors():
    assert torch.fft.fftfreq(0).shape == (0,) and torch.fft.rfftfreq(0).isnan().all()
    for call, error in (
        (lambda: torch.fft.fftfreq(-1), RuntimeError),
        (lambda: torch.fft.fftfreq(True), TypeError),
        (lambda: torch.fft.fftfreq(2.5), TypeError),
        (lambda: torch.fft.fftfreq(3, dtype=torch.int64), RuntimeError),
        (lambda: torch.fft.fftshift(X, 2), IndexError),
    ):
        with pytest.raises(error):
            call()
    with pytest.raises(AttributeError, match="'rfft': it is missing in mxlite"):
        _ = torch.fft.rfft


@pytest.mark.parametrize("dim", [None, 0, -1, (0, 1), [1]])
def test_shifts(dim):
    axes = tuple(dim) if isinstance(dim, list) else dim
    shifted = torch.fft.fftshift(X, dim)
    np.testing.assert_array_equal(shifted.numpy(), np.fft.fftshift(X.numpy(), axes))
    np.testing.assert_array_equal(torch.fft.ifftshift(shifted, dim).numpy(), X.numpy())
    x = X.clone().requires_grad_()
    weights = torch.arange(40.0, dtype=torch.float64).reshape(2, 20)
    (torch.fft.fftshift(x, dim) * weights).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.fft.ifftshift(weights.numpy(), axes))


def _frames(x, n_fft, hop, window, center, mode="reflect"):
    """Transforms of windows, one after another."""
    if center:
        x = np.pad(x, ((0, 0), (n_fft // 2, n_fft // 2)), mode)
    left = (n_fft - len(window)) // 2
    window = np.pad(window, (left, n_fft - len(window) - left))
    places = range(0, x.shape[1] - n_fft + 1, hop)
    return np.stack([x[:, at : at + n_fft] * window for at in places], 1)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(("n_fft", "hop", "width"), [(8, 2, 8), (7, 3, 5), (1, 1, 1), (20, 5, 9)])
def test_stft(n_fft, hop, width, center):
    window = windows.hamming(width, dtype=torch.float64)
    frames = _frames(X.numpy(), n_fft, hop, window.numpy(), center)
    for onesided in (None, False):
        found = torch.stft(X, n_fft, hop, width, window, center, onesided=onesided, return_complex=False)
        wanted = np.swapaxes((np.fft.fft if onesided is False else np.fft.rfft)(frames), 1, 2)
        np.testing.assert_allclose(found.numpy(), np.stack([wanted.real, wanted.imag], -1), atol=1e-12)
    alone = X[0].stft(n_fft, hop, width, window, center, normalized=True, return_complex=False)
    first = torch.stft(X, n_fft, hop, width, window, center, return_complex=False)[0]
    np.testing.assert_allclose(alone.numpy(), first.numpy() / np.sqrt(n_fft), atol=1e-12)


def test_gradients_of_stft():
    x, window = X.clone().requires_grad_(), windows.hann(6, dtype=torch.float64).requires_grad_()
    call = lambda x, w: torch.stft(x, 8, 3, 6, w, return_complex=False)  # noqa: E731
    assert call(x, window).grad_fn.name() == "ViewAsRealBackward0"
    assert torch.autograd.gradcheck(call, (x, window))
    assert torch.autograd.gradgradcheck(call, (x, window))


def test_errors_of_stft():
    for given in ({}, {"return_complex": True}):
        with pytest.raises(RuntimeError, match="no complex dtypes; return_complex=False"):
            torch.stft(X, 8, **given)
    for args, more in (
        ((X, 0), {}), ((X, 8, 0), {}), ((X, 8, 2, 9), {}), ((X, 21), {"center": False}),
        ((X, 8), {"window": torch.ones(7)}), ((X.reshape(1, 2, 20), 8), {}), ((torch.arange(20), 8), {}),
        ((X, 8), {"align_to_window": True}),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="stft"):
            torch.stft(*args, return_complex=False, **more)
    with pytest.warns(UserWarning, match="deprecates"):
        torch.stft(X, 8, return_complex=False)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 1001])
def test_windows(n):
    for name in ("bartlett", "blackman", "hamming", "hann", "kaiser"):
        numpys = getattr(np, {"hann": "hanning"}.get(name, name))
        made = getattr(windows, name)
        wanted = [numpys(n, *((12.0,) if name == "kaiser" else ())), numpys(n + 1, *([12.0] * (name == "kaiser")))[:-1]]
        for sym, each in zip((True, False), wanted):
            wide = made(n, sym=sym, dtype=torch.float64)
            if n != 1:  # NumPy's first of two is 0
                np.testing.assert_allclose(wide.numpy(), each, atol=1e-13)
            np.testing.assert_allclose(made(n, sym=sym).numpy(), wide.numpy(), atol=1e-4)
    places = np.arange(n) - (n - 1) / 2
    for found, wanted in (
        (windows.gaussian(n, std=2.5, dtype=torch.float64), np.exp(-((places / 2.5) ** 2) / 2)),
        (windows.exponential(n, tau=3.0, dtype=torch.float64), np.exp(-abs(places) / 3)),
        (windows.cosine(n, dtype=torch.float64), np.sin(np.pi * (np.arange(n) + 0.5) / max(n, 1))),
        (windows.general_cosine(n, a=[0.42, 0.5, 0.08]), windows.blackman(n).numpy()),
        (windows.general_hamming(n, alpha=0.5), windows.hann(n).numpy()),
    ):
        np.testing.assert_allclose(found.numpy(), wanted, atol=1e-12)
    assert windows.nuttall(5).sum().item() == pytest.approx(1.45468, abs=1e-4)


def test_windows_made_otherwise():
    np.testing.assert_allclose(windows.exponential(4, center=1, sym=False).numpy(), np.exp([-1, 0, -1, -2]), rtol=1e-6)
    assert windows.hann(5, requires_grad=True).requires_grad
    for call, error in (
        (lambda: windows.hann(-1), ValueError),
        (lambda: windows.hann(3, dtype=torch.float16), ValueError),
        (lambda: windows.hann(2.0), TypeError),
        (lambda: windows.hann(3, False), TypeError),
        (lambda: windows.hann(3, beta=2), TypeError),
        (lambda: windows.general_cosine(3), TypeError),
        (lambda: windows.general_cosine(3, a=[]), ValueError),
        (lambda: windows.general_cosine(3, a=3), TypeError),
        (lambda: windows.gaussian(3, std=0), ValueError),
        (lambda: windows.exponential(3, tau=-1.0), ValueError),
        (lambda: windows.exponential(3, center=1.0), ValueError),
        (lambda: windows.kaiser(3, beta=-1.0), ValueError),
    ):
        with pytest.raises(error):
            call()
