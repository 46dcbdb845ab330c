"""Numbers with their units, as commands print them."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A time with three digits or so: 1.25 s, 34.56 ms, 0.42 ms, 85 us, 4.2 us."""
    micro = seconds * 1e6
    if micro < 9.95:
        return f"{micro:.1f} us"
    if micro < 99.5:
        return f"{micro:.0f} us"
    return f"{micro / 1e3:.2f} ms" if micro < 999_995 else f"{seconds:.2f} s"


def scaled(number: float) -> str:
    """A count with three digits and a letter for thousands (k, M, G, T): 950, 1.50 k, 23.6 M; "" for none."""
    if not number:
        return ""
    letters = ["", "k", "M", "G", "T", "P"]
    while number >= 999.5 and len(letters) > 1:
        number /= 1000
        letters.pop(0)
    if not letters[0] or number >= 99.5:
        return f"{number:.0f} {letters[0]}".strip()
    return f"{number:.{1 if number >= 9.995 else 2}f} {letters[0]}"
