"""`torch.fft`: frequencies, and shifts of them; here is torch.stft, too.

The transforms have complex results, which mxlite has no dtype for: they are missing. Those of `mxlite.array_api.fft`
take and give pairs of real numbers.
"""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from mxlite._public import show as _show
from mxlite.torch._basic import from_values, full_of, zeros_of
from mxlite.torch._calls import Dims, both, prepare, run
from mxlite.torch._calls import with_aliases as _with_aliases
from mxlite.torch._kinds import check_dim
from mxlite.torch._make.creation import finish, options
from mxlite.torch._nodes import formula
from mxlite.torch._shape.parts import roll, stack
from mxlite.torch._tensor import Tensor
from mxlite.torch.nn.functional import pad as _pad


def _frequencies(name: str, first: Any) -> Any:
    def frequencies(n: int, d: float = 1.0, **given: Any) -> Tensor:
        kind, requires_grad = options(name, given)
        if not kind.is_floating_point:
            raise RuntimeError(f"{name}: takes a floating dtype, got {kind}")
        if isinstance(n, bool) or operator.index(n) < 0:
            raise (TypeError if isinstance(n, bool) else RuntimeError)(f"{name}: n is an int of 0 or more, got {n}")
        with np.errstate(all="ignore"):
            values = np.roll(first(n), -(n // 2) if name == "fftfreq" else 0) / (np.float64(n) * d)
        return finish(from_values(values.astype(kind.np)), requires_grad)

    frequencies.__name__ = name
    frequencies.__doc__ = f"The frequencies of the transform of n samples, {name[:-4]}, that are d apart."
    return _with_aliases(frequencies)


fftfreq = _frequencies("fftfreq", lambda n: np.arange(n, dtype="float64") - n // 2)
rfftfreq = _frequencies("rfftfreq", lambda n: np.arange(n // 2 + 1, dtype="float64"))


def _shift(name: str, document: str, step: Any) -> Any:
    def shift(input: Tensor, dim: Dims | None = None) -> Tensor:
        dims = tuple(range(input.ndim)) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
        return roll(input, tuple(step(input.shape[check_dim(each, input.ndim)]) for each in dims), tuple(dims))

    shift.__name__, shift.__doc__ = name, document
    return _with_aliases(shift)


fftshift = _shift("fftshift", "The frequency 0 in the middle of dimensions; None: of all.", lambda n: n // 2)
ifftshift = _shift("ifftshift", "The reverse of fftshift.", lambda n: -(n // 2))

# ---- torch.stft ----

_HALF = prepare(None, "_mxl_fft", "scale", kind="from_real")
_WHOLE = prepare(None, "_mxl_fft", "scale")


@both()
def stft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Tensor | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: bool | None = None, return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Tensor:  # fmt: skip
    """The Fourier transforms of windows along a signal, (L,) or (batch, L): ([batch,] frequency, window, 2).

    The last dimension has real and imaginary parts: return_complex must be False.

    Raises: RuntimeError: it is not, or sizes do not fit.
    """
    if return_complex is not False:
        raise RuntimeError(
            "stft: mxlite has no complex dtypes; return_complex=False gives real and imaginary parts along a last "
            f"dimension, got return_complex={return_complex}"
        )
    warnings.warn("stft: PyTorch deprecates return_complex=False", UserWarning, stacklevel=3)
    hop, width = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    if not input._dtype.is_floating_point or input.ndim not in (1, 2):
        raise RuntimeError(f"stft: takes floating tensors of 1 or 2 dimensions, got {input._dtype}, {input.ndim}")
    if center and align_to_window is not None:
        raise RuntimeError("stft: align_to_window is for center=False")
    rim = n_fft - width if align_to_window else 0
    length = input.shape[-1] + (n_fft // 2 * 2 if center else rim)
    if not (0 < n_fft <= length and 0 < width <= n_fft and hop > 0):
        raise RuntimeError(
            f"stft: 0 < win_length <= n_fft <= the signal's length, {length}, and hop_length > 0; got "
            f"win_length={width}, n_fft={n_fft}, hop_length={hop}"
        )
    if window is not None and tuple(window.shape) != (width,):
        raise RuntimeError(f"stft: the window must have shape [{width}], got {list(window.shape)}")

    def compute(x: Tensor, window: Tensor | None = None) -> Tensor:
        if center:
            signals = x.reshape((1,) * (3 - x.ndim) + tuple(x.shape))
            x = _pad(signals, (n_fft // 2,) * 2, pad_mode).reshape((*x.shape[:-1], length))
        elif rim:
            x = _pad(x, (rim // 2, rim - rim // 2))
        frames = x.unfold(-1, n_fft, hop)
        if window is None and width < n_fft:
            window = full_of((width,), 1, x._dtype)
        if window is not None:
            left = (n_fft - width) // 2
            frames = frames * _pad(window, (left, n_fft - width - left))
        scale = n_fft**-0.5 if normalized else 1.0
        if onesided is False:
            found = run(_WHOLE, [stack([frames, zeros_of(frames.shape, frames._dtype)], -1)], scale)
        else:
            found = run(_HALF, [frames], scale)
        return found.transpose(-3, -2)

    return formula("ViewAsRealBackward0", [input] if window is None else [input, window], compute)


__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]
_show(globals())
