"""The operators that 1.9.1 has from OpenCV: images in files to pixels, in another size, with a border.

Of uint8, 1.9.1's numbers are the definition. (Files of all kinds: tests/c/kernel/test_kernel_codec.c.)
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from .._case import Case, In
from .image import refused
from .resize import LINEAR, _matrix

CASES: list = []

#: Images of 19 x 21 pixels, of colour and gray; a PNG of 2 x 2 pixels.
JPEG = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300140e0f120f0d14121012171514181e32211e1c1c1e3d2c2e243249404c"
    "4b47404645505a736250556d5645466488656d777b8182814e608d978c7d96737e817cffdb0043011517171e1a1e3b21213b7c534653"
    "7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7cffc00011"
    "080013001503012200021101031101ffc4001800010101010100000000000000000000000003040601ffc40020100001050002020300"
    "000000000000000001000203041105211213223151ffc40017010003010000000000000000000000000002040500ffc4001f11000202"
    "02020301000000000000000000010200031112042113223151ffda000c03010002110311003f00bb79387d7e3201aa0ea90dd76b08ed"
    "4ed71ed9ddb115ed7a762a7cbbc43c6a154654e0c16d793662a3802696f0cf8c634f48a12f3d242ef0cd23ed130d7943a98df95d3d70"
    "3a99f8a95e5e35c574ce3b5c93f888b5dd7c8980021227356618cca75811114b4275127ec7f67fffd9"
)
GRAY_JPEG = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb0043000d090a0b0a080d0b0a0b0e0e0d0f13201513121213271c1e17202e2931"
    "302e292d2c333a4a3e333646372c2d405741464c4e525352323e5a615a50604a51524fffc0000b080013001501011100ffc400160001"
    "010100000000000000000000000000040206ffc400221000010402020105000000000000000000010002030405110612211322314191"
    "ffda0008010100003f005b3395bd1e933403a447e3aa6524dc647949671a9616811bbc140c862196e426b3bf1553c65dc77bc6c80aec"
    "72d9ab3c45d765bf3b42e3d3ca651b792b74f3ba2e2744869fa587bf5a174e498dabffd9"
)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a73000000164944415478da6338c12522b745"
    "83c1c8e6d2af0fcf001f9e05f115da76330000000049454e44ae426082"
)
#: A file that holds it.
FILE = str(Path(__file__).resolve().parents[3] / "reference/pixels.png")
_PIXELS = np.array([[[200, 10, 20], [30, 180, 40]], [[50, 60, 210], [250, 240, 230]]], "uint8")


def _bytes(data: bytes) -> tuple[In, ...]:
    return (In(values=np.frombuffer(data, "uint8"), dtype="uint8"),)


def _part(kind: str, data: bytes) -> bytes:
    whole = kind.encode() + data
    return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))


def _number(kind: str, value: int) -> bytes:
    return _part(kind, struct.pack(">I", value))


def _png(kind: int, depth: int, light: bytes) -> bytes:
    """A file of 16 x 9 pixels of a kind and a depth; `light` are the parts that say what their numbers mean."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    numbers = np.random.RandomState(kind * 16 + depth)
    row = 16 * channels * depth // 8
    lines = b"".join(b"\0" + numbers.bytes(row) for _ in range(9))
    palette = _part("PLTE", numbers.bytes(3 << depth)) if kind == 3 else b""
    head = _part("IHDR", struct.pack(">IIBBBBB", 16, 9, depth, kind, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + light + palette + _part("IDAT", zlib.compress(lines)) + _part("IEND", b"")


# ---- _cvimdecode, _cvimread ----

_GAMMA, _LINEAR, _SRGB = _number("gAMA", 45455), _number("gAMA", 100000), _part("sRGB", b"\0")
_CORNERS = (31270, 32900, 50000, 33000, 30000, 40000, 15000, 16000)
_LIGHTS = {
    "gamma": _GAMMA,
    "srgb": _SRGB,
    "srgb-linear": _LINEAR + _SRGB,
    "linear": _LINEAR,
    "near-linear": _number("gAMA", 95100),
    "steep": _number("gAMA", 220000),
    "twice": _GAMMA + _LINEAR,
    "zero": _number("gAMA", 0) + _GAMMA,
    "no-intent": _part("sRGB", b"\4") + _GAMMA,
    "few-bits": _GAMMA + _part("sBIT", bytes([5, 9, 3])),
    "chromaticities": _GAMMA + _part("cHRM", struct.pack(">8I", *_CORNERS)),
}
for _kind, _depth in ((2, 8), (2, 16), (3, 4), (3, 8), (6, 8), (6, 16), (0, 8), (4, 16)):
    for _label, _light in _LIGHTS.items():
        if _kind == 2 or _label == "gamma":
            for _flag in (0, 1) if _label == "gamma" else (0,):
                CASES.append(
                    Case(
                        "_cvimdecode",
                        f"{_label}-{_kind}-{_depth}-{_flag}",
                        _bytes(_png(_kind, _depth, _light)),
                        {"flag": _flag},
                    )
                )

_op = "_cvimdecode"
CASES += [
    Case(_op, "png", _bytes(PNG), {}, lambda buf: _PIXELS),
    Case(_op, "png-bgr", _bytes(PNG), {"to_rgb": False}, lambda buf, to_rgb: _PIXELS[:, :, ::-1]),
    Case(_op, "png-gray", _bytes(PNG), {"flag": 0},
         lambda buf, flag: (_PIXELS @ np.array([9797, 19234, 3737]) >> 15).astype("uint8")[:, :, None]),
    Case(_op, "png-matrix", (In(values=np.frombuffer(PNG, "uint8")[None], dtype="uint8"),), {}, lambda buf: _PIXELS),
    Case(_op, "jpeg", _bytes(JPEG)),
    Case(_op, "jpeg-bgr", _bytes(JPEG), {"to_rgb": 0}),
    Case(_op, "jpeg-gray", _bytes(JPEG), {"flag": 0}),
    Case(_op, "gray-jpeg", _bytes(GRAY_JPEG)),
    Case(_op, "gray-jpeg-gray", _bytes(GRAY_JPEG), {"flag": 0}),
    Case(_op, "cut", _bytes(PNG[:-20]), error=True, oracle="skip: 1.9.1 takes what there is, or fails when it is read"),
    Case(_op, "no-image", _bytes(b"nothing"), error=True),
    Case(_op, "empty", (In((0,), "uint8"),), error=True, np_shape=True),
    Case(_op, "float32", (In((8,)),), error=True),
    Case(_op, "flag-negative", _bytes(PNG), {"flag": -1}, error=True),
    Case(_op, "flag-two", _bytes(PNG), {"flag": 2}, error=True, oracle="skip: 1.9.1 fails when the result is read"),
    Case(_op, "no-input", error=True),
    Case(_op, "0-axes", (In((), "uint8"),), error=True, np_shape=True),
    Case("_cvimread", "png", (), {"filename": FILE}, lambda filename: _PIXELS),
    Case("_cvimread", "png-bgr", (), {"filename": FILE, "to_rgb": False},
         lambda filename, to_rgb: _PIXELS[:, :, ::-1]),
    Case("_cvimread", "no-file", (), {"filename": "no such file"}, error=True),
    Case("_cvimread", "no-name", error=True),
]  # fmt: skip

# ---- _cvimresize ----


def _resize(src: np.ndarray, w: int, h: int, interp: int = LINEAR) -> np.ndarray:
    down, across = (_matrix(*sizes, interp, False) for sizes in ((src.shape[0], h), (src.shape[1], w)))
    return np.einsum("yh,hwc,xw->yxc", down, src.astype("float64"), across).astype(src.dtype)


_op = "_cvimresize"
_CLOSE = {"float32": (1e-4, 1e-5), "float64": (1e-5, 1e-6)}
for _label, _interp in {"nearest": 0, "linear": 1, "cubic": 2, "area": 3, "lanczos": 4, "exact": 5}.items():
    CASES.append(Case(_op, _label, (In((5, 6, 3), "uint8", ("int", 0, 255)),), {"w": 4, "h": 9, "interp": _interp}))
CASES += [
    Case(_op, "float32", (In((5, 6, 2)),), {"w": 9, "h": 7}, _resize, tolerance=_CLOSE),
    Case(_op, "float64", (In((5, 6, 2), "float64"),), {"w": 9, "h": 7}, _resize, tolerance=_CLOSE),
    Case(_op, "gray", (In((5, 6, 1), "uint8", ("int", 0, 255)),), {"w": 3, "h": 4}),
    Case(_op, "five-channels", (In((5, 6, 5), "uint8", ("int", 0, 255)),), {"w": 3, "h": 4}),
    Case(_op, "special-numbers", (In(values=np.reshape([0.0, 1.0, np.inf, np.nan, 2.0, 3.0, 4.0, 5.0], (2, 4, 1))),),
         {"w": 4, "h": 4, "interp": 0}),
    Case(_op, "same", (In((5, 6, 3), "uint8", ("int", 0, 255)),), {"w": 6, "h": 5}, lambda src, w, h: src),
    Case(_op, "no-width", (In((5, 6, 3)),), {"h": 2}, error=True),
    Case(_op, "width-zero", (In((5, 6, 3)),), {"w": 0, "h": 2}, error=True),
    Case(_op, "height-negative", (In((5, 6, 3)),), {"w": 2, "h": -2}, error=True),
    Case(_op, "interp-negative", (In((5, 6, 3)),), {"w": 2, "h": 2, "interp": -1}, error=True),
    Case(_op, "interp-six", (In((5, 6, 3)),), {"w": 2, "h": 2, "interp": 6}, error=True),
    Case(_op, "no-pixels", (In((0, 6, 3)),), {"w": 2, "h": 2}, error=True, np_shape=True,
         oracle="skip: 1.9.1 fails when the result is read"),
    Case(_op, "float16", (In((5, 6, 3), "float16"),), {"w": 2, "h": 2}, error=True),
    Case(_op, "int32", (In((5, 6, 3), "int32", ("int", 0, 9)),), {"w": 2, "h": 2}, error=True),
    Case(_op, "int8", (In((5, 6, 3), "int8", ("int", 0, 9)),), {"w": 2, "h": 2}, error=True,
         oracle="skip: 1.9.1 takes them for uint8"),
    Case(_op, "int64", (In((5, 6, 3), "int64", ("int", 0, 9)),), {"w": 2, "h": 2}, error=True,
         oracle="skip: 1.9.1 answers what lay in memory"),
    *(case for case in refused(_op, {"w": 2, "h": 2}, False) if case.label != "bool"),
    Case(_op, "bool", (In((2, 2, 3), "bool", "bool"),), {"w": 2, "h": 2}, error=True, oracle="skip: the process ends"),
]  # fmt: skip

# ---- _cvcopyMakeBorder ----

_MODES = {0: "constant", 1: "edge", 2: "symmetric", 3: "wrap", 4: "reflect"}


def _border(src: np.ndarray, top: int, bot: int, left: int, right: int, type: int = 0, **more) -> np.ndarray:
    widths = ((top, bot), (left, right), (0, 0))
    type %= 16
    if type:
        return np.pad(src, widths, _MODES[type])
    values = more.get("values") or (more.get("value", 0),) * src.shape[2]
    fill = np.array([values[i] if i < len(values) else 0 for i in range(src.shape[2])], "float64")
    if src.dtype.kind != "f":
        info = np.iinfo(src.dtype)
        fill = np.clip(np.rint(fill), info.min, info.max)
    result = np.empty((src.shape[0] + top + bot, src.shape[1] + left + right, src.shape[2]), src.dtype)
    result[:] = fill.astype(src.dtype)
    result[top : top + src.shape[0], left : left + src.shape[1]] = src
    return result


_op = "_cvcopyMakeBorder"
_IMAGE = (In((4, 5, 3), "uint8", ("int", 0, 255)),)
_ALL = {"top": 1, "bot": 2, "left": 3, "right": 4}
_FAR = {"top": 9, "bot": 8, "left": 11, "right": 13}
for _type, _label in _MODES.items():
    CASES.append(Case(_op, _label, _IMAGE, {**_ALL, "type": _type}, _border))
    CASES.append(Case(_op, f"{_label}-far", _IMAGE, {**_FAR, "type": _type}, _border))
    CASES.append(Case(_op, f"{_label}-one-pixel", (In((1, 1, 3), "uint8", ("int", 0, 255)),),
                      {**_FAR, "type": _type}, _border if _type != 4 else None))  # fmt: skip
    CASES.append(Case(_op, f"{_label}-isolated", _IMAGE, {**_ALL, "type": _type + 16, "value": 7.0}, _border))
CASES += [
    Case(_op, "value", _IMAGE, {**_ALL, "value": 7.5}, _border),
    Case(_op, "value-large", _IMAGE, {**_ALL, "value": 300.0}, _border),
    Case(_op, "value-negative", _IMAGE, {**_ALL, "value": -1.0}, _border),
    Case(_op, "values", _IMAGE, {**_ALL, "values": (1.0, 2.5, 3.5)}, _border),
    Case(_op, "values-too-few", _IMAGE, {**_ALL, "values": (1.0, 2.0)}, _border,
         oracle="skip: 1.9.1 answers what lay in memory"),
    Case(_op, "values-too-many", _IMAGE, {**_ALL, "values": (1.0, 2.0, 3.0, 4.0, 5.0)}, _border),
    Case(_op, "gray", (In((4, 5, 1), "uint8", ("int", 0, 255)),), {**_ALL, "value": 9.0}, _border),
    Case(_op, "nothing", _IMAGE, {"top": 0, "bot": 0, "left": 0, "right": 0}, _border),
    Case(_op, "float32", (In((4, 5, 3)),), {**_ALL, "values": (0.1, 2.5, -3.5)}, _border),
    Case(_op, "float64", (In((4, 5, 3), "float64"),), {**_ALL, "values": (0.1, 2.5, -3.5)}, _border),
    Case(_op, "special-numbers", (In(values=np.reshape([0.0, np.inf, np.nan, 2.0], (2, 2, 1))),),
         {**_ALL, "value": float("-inf")}, _border),
    Case(_op, "int32", (In((4, 5, 3), "int32", ("int", -9, 9)),), {**_ALL, "values": (1e5, -1e5, -3.5)}, _border),
    Case(_op, "int8", (In((4, 5, 3), "int8", ("int", -9, 9)),), {**_ALL, "values": (200.0, -200.0, -3.5)}, _border,
         oracle="skip: the process ends"),
    Case(_op, "int64", (In((4, 5, 3), "int64", ("int", -9, 9)),), {**_ALL, "value": 3.0}, _border,
         oracle="skip: 1.9.1 answers what lay in memory"),
    Case(_op, "float16", (In((4, 5, 3), "float16"),), {**_ALL, "value": 0.1}, _border,
         oracle="differs: 1.9.1 refuses it"),
    Case(_op, "five-channels", (In((4, 5, 5), "uint8", ("int", 0, 255)),), {**_ALL, "value": 3.0}, _border,
         oracle="differs: 1.9.1 refuses it"),
    Case(_op, "type-negative", _IMAGE, {**_ALL, "type": -1}, error=True),
    Case(_op, "type-five", _IMAGE, {**_ALL, "type": 5}, error=True),
    Case(_op, "type-fifteen", _IMAGE, {**_ALL, "type": 15}, error=True),
    Case(_op, "type-twenty-one", _IMAGE, {**_ALL, "type": 21}, error=True),
    Case(_op, "top-negative", _IMAGE, {**_ALL, "top": -1}, error=True),
    Case(_op, "left-negative", _IMAGE, {**_ALL, "left": -1}, error=True),
    Case(_op, "no-top", _IMAGE, {"bot": 0, "left": 0, "right": 0}, error=True),
    Case(_op, "no-pixels", (In((0, 6, 3)),), _ALL, error=True, np_shape=True,
         oracle="skip: 1.9.1 fails when the result is read"),
    *(case for case in refused(_op, _ALL, False) if case.label != "bool"),
    Case(_op, "bool", (In((2, 2, 3), "bool", "bool"),), _ALL, error=True, oracle="skip: the process ends"),
]  # fmt: skip
