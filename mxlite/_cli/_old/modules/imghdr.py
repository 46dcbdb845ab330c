"""The module `imghdr` of Python 3.12 and before: which kind of image a file is."""

from __future__ import annotations

from typing import Any, Callable

__all__ = ["tests", "what"]

#: Functions of the file's first bytes and the file: the kind, or None. Programs append their own.
tests: list[Callable[[bytes, Any], str | None]] = []

_BEGINNINGS = (
    ("png", b"\211PNG\r\n\032\n"),
    ("gif", b"GIF87a"),
    ("gif", b"GIF89a"),
    ("tiff", b"MM"),
    ("tiff", b"II"),
    ("rgb", b"\001\332"),
    ("rast", b"\x59\xa6\x6a\x95"),
    ("xbm", b"#define "),
    ("bmp", b"BM"),
    ("exr", b"\x76\x2f\x31\x01"),
)


def what(file: Any, h: bytes | None = None) -> str | None:
    """The kind of image that a file, or the bytes h, is: "jpeg", "png", ...; None: none that is known."""
    if h is not None:
        return _kind(h, None)
    if hasattr(file, "read"):
        place = file.tell()
        begin = file.read(32)
        file.seek(place)
        return _kind(begin, file)
    with open(file, "rb") as opened:
        return _kind(opened.read(32), opened)


def _kind(begin: bytes, file: Any) -> str | None:
    if begin[6:10] in (b"JFIF", b"Exif") or begin[:4] == b"\xff\xd8\xff\xdb":
        return "jpeg"
    if begin.startswith(b"RIFF") and begin[8:12] == b"WEBP":
        return "webp"
    if begin[:1] == b"P" and begin[1:2] in b"123456" and begin[2:3] in (b" ", b"\t", b"\n", b"\r"):
        return {"1": "pbm", "4": "pbm", "2": "pgm", "5": "pgm"}.get(chr(begin[1]), "ppm")
    for kind, letters in _BEGINNINGS:
        if begin.startswith(letters):
            return kind
    return next((kind for kind in (test(begin, file) for test in tests) if kind), None)
