"""`torch.signal.windows`: windows of M numbers; `sym` False: the first M of M + 1, which repeat."""

from __future__ import annotations

import math
import operator
from typing import Any, Callable

from mxlite._public import show as _show
from mxlite.torch import _dtypes
from mxlite.torch._basic import full_of
from mxlite.torch._calls import functions, with_aliases
from mxlite.torch._kinds import require_strided
from mxlite.torch._make.creation import finish, options
from mxlite.torch._tensor import Tensor


def _spaced(first: float, step: float, count: int, given: dict[str, Any]) -> Tensor:
    return functions["linspace"](first, first + step * (count - 1), count, **given)


def _cosines(n: int, count: int, given: dict[str, Any], a: Any) -> Tensor:
    if not isinstance(a, (tuple, list)):
        raise TypeError(f"general_cosine: the factors are a list or tuple, got {type(a).__name__}")
    if not a:
        raise ValueError("general_cosine: there are no factors")
    angles = _spaced(0, 2 * math.pi / n, count, given)
    tensor = functions["tensor"]
    factors = tensor([-each if k % 2 else each for k, each in enumerate(a)], dtype=angles.dtype)
    turns = tensor(list(range(len(a))), dtype=angles.dtype)
    return (factors.unsqueeze(-1) * (turns.unsqueeze(-1) * angles).cos()).sum(0)


def _hamming(n: int, count: int, given: dict[str, Any], alpha: float) -> Tensor:
    return _cosines(n, count, given, [alpha, 1 - alpha])


def _bartlett(n: int, count: int, given: dict[str, Any]) -> Tensor:
    return 1 - _spaced(-1, 2 / n, count, given).abs()


def _cosine(n: int, count: int, given: dict[str, Any]) -> Tensor:
    return _spaced(math.pi / 2 / (n + 1), math.pi / (n + 1), count, given).sin()


def _exponential(n: int, count: int, given: dict[str, Any], center: float | None, tau: float) -> Tensor:
    return (-_spaced(-(n / 2 if center is None else center) / tau, 1 / tau, count, given).abs()).exp()


def _gaussian(n: int, count: int, given: dict[str, Any], std: float) -> Tensor:
    return (-(_spaced(-n / 2 / std / math.sqrt(2), 1 / std / math.sqrt(2), count, given) ** 2)).exp()


def _kaiser(n: int, count: int, given: dict[str, Any], beta: float) -> Tensor:
    places = _spaced(-beta, 2 * beta / n, count, given)
    whole = functions["tensor"](float(beta), dtype=places.dtype)
    return (whole * whole - places**2).clamp(min=0).sqrt().i0() / whole.i0()


_POSITIVE = {"tau", "std", "beta"}


def _window(name: str, document: str, make: Callable[..., Tensor], fixed: tuple = (), **more: Any) -> Any:
    """A window: `make` gets the steps from its first number to the one like it, M, options, `fixed` and `more`."""

    def window(M: int, *, sym: bool = True, **given: Any) -> Tensor:  # noqa: N803 - PyTorch's name
        rest = [given.pop(key, value) for key, value in more.items()]
        if any(each is ... for each in rest):
            raise TypeError(f"{name}() lacks its argument {next(iter(more))!r}")
        require_strided(given.get("layout"))
        kind, requires_grad = options(name, dict(given))
        if M < 0 or kind not in (_dtypes.float32, _dtypes.float64):
            raise ValueError(f"{name}: takes a length of 0 or more in float32 or float64, got M={M}, {kind}")
        placed = "center" in more and rest[0] is not None
        if sym and placed:
            raise ValueError(f"{name}: a symmetric window has its own center, got center={rest[0]}")
        if any(rest[k] < 0 or (rest[k] == 0 and key != "beta") for k, key in enumerate(more) if key in _POSITIVE):
            raise ValueError(f"{name}: {' and '.join(_POSITIVE & more.keys())} must be positive, got {rest[-1]}")
        if operator.index(M) < 2 - placed:
            return finish(full_of((M,), 1.0, kind), requires_grad)
        return make(M - bool(sym), M, given, *fixed, *rest)

    window.__name__, window.__doc__ = name, f"{document} Raises: ValueError: M is negative, or another dtype."
    return with_aliases(window)


bartlett = _window("bartlett", "A triangle from 0 to 1 and back.", _bartlett)
blackman = _window("blackman", "Blackman's three cosines.", _cosines, ([0.42, 0.5, 0.08],))
cosine = _window("cosine", "Half a period of the sine.", _cosine)
exponential = _window("exponential", "e^(-|k - center| / tau).", _exponential, center=None, tau=1.0)
gaussian = _window("gaussian", "A normal density of deviation std, 1 at its middle.", _gaussian, std=1.0)
general_cosine = _window("general_cosine", "A sum of cosines with the factors a.", _cosines, a=...)
general_hamming = _window("general_hamming", "alpha - (1 - alpha) cos.", _hamming, alpha=0.54)
hamming = _window("hamming", "0.54 - 0.46 cos.", _hamming, (0.54,))
hann = _window("hann", "0.5 - 0.5 cos.", _hamming, (0.5,))
kaiser = _window("kaiser", "Kaiser's window, of Bessel functions.", _kaiser, beta=12.0)
nuttall = _window("nuttall", "Nuttall's four cosines.", _cosines, ([0.3635819, 0.4891775, 0.1365995, 0.0106411],))

__all__ = """
    bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann kaiser nuttall
""".split()
_show(globals())
