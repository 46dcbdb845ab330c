#!/usr/bin/env python3
"""Writes tests/fuzz/corpus: small files of arrays, each wrong (or odd) in one way. What fuzz_params starts from.

test_files_damaged.py checks that the files are those, and that each is answered as said here. To be run by hand after
a change of the table.
"""

from __future__ import annotations

import struct
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"
V1, V2, V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA


def header(*shape: int, version: int = V2, stype: int = 0, ndim: int | None = None, dtype: int = 0) -> bytes:
    """The header before the values of an array."""
    ndim = len(shape) if ndim is None else ndim
    return struct.pack(f"<Iii{len(shape)}qiii", version, stype, ndim, *shape, 1, 0, dtype)


def listed(*arrays: bytes, count: int | None = None, names: tuple[bytes, ...] = (), named: int | None = None) -> bytes:
    """A list of arrays that are bytes already; `count`, `named`: what it says about itself, where that is not so."""
    start = struct.pack("<QQQ", 0x112, 0, len(arrays) if count is None else count)
    texts = b"".join(struct.pack("<Q", len(name)) + name for name in names)
    return start + b"".join(arrays) + struct.pack("<Q", len(names) if named is None else named) + texts


def floats(*shape: int) -> bytes:
    """A sound array of small numbers."""
    count = 1
    for extent in shape:
        count *= extent
    return header(*shape) + struct.pack(f"<{count}f", *range(count))


def sparse(stype: int, shape: tuple[int, ...], data: tuple[float, ...], *indices: tuple[int, ...]) -> bytes:
    """A sparse float32 array of its values and its arrays of indices (indptr first)."""
    stored = (len(indices[-1]), *shape[1:]) if stype == 1 else (len(indices[-1]),)
    parts = b"".join(struct.pack("<iiq", 6, 1, len(each)) for each in indices)
    values = b"".join(struct.pack(f"<{len(each)}q", *each) for each in indices)
    start = struct.pack(f"<Iii{len(stored)}qi{len(shape)}q", V2, stype, len(stored), *stored, len(shape), *shape)
    return start + struct.pack("<iii", 1, 0, 0) + parts + struct.pack(f"<{len(data)}f", *data) + values


def entries() -> dict[str, tuple[bytes, str | None]]:
    """name -> the file, and what the error says outside numpy-shape mode (None: it is loaded)."""
    huge, name = 1 << 62, struct.pack("<Q", 1 << 63) + b"ab"
    return {
        "nothing": (b"", "ends too early: at byte 0"),
        "magic": (b"\x13" + listed()[1:], "begins with the bytes 13 01 00 00 00 00 00 00"),
        "arrays_too_many": (listed(floats(2), count=1 << 61), "it has 2305843009213693952 arrays"),
        "arrays_too_few": (listed(floats(2), floats(3), count=1), "1 arrays and"),
        "version": (listed(struct.pack("<I", 0xF993FACB) + floats(2)[4:]), "not the beginning of an array: .*cb fa"),
        "numpy_shape": (listed(header(2, version=V3) + bytes(8)), "saved in numpy-shape mode"),
        "stype": (listed(header(2, stype=3) + bytes(8)), "unknown storage type 3"),
        "stype_negative": (listed(header(2, stype=-1) + bytes(8)), "unknown storage type -1"),
        "axes_33": (listed(header(*(1,) * 33) + bytes(4)), "33 axes"),
        "axes_negative": (listed(header(2, ndim=-1) + bytes(8)), "-1 axes"),
        "axes_32": (listed(header(*(1,) * 32) + bytes(4)), None),
        "old_axes_32": (listed(struct.pack("<33Iiii", 32, *(1,) * 32, 1, 0, 0) + bytes(4)), None),
        "old_extent": (listed(struct.pack("<IIIiii", 2, 1 << 31, 1 << 31, 1, 0, 6)), "too many elements"),
        "extent_negative": (listed(header(-1, 2) + bytes(8)), "extent -1 is negative"),
        "extent_huge": (listed(header(huge) + bytes(8)), "too many elements"),
        "extent_large": (listed(header(1 << 40) + bytes(8)), "1099511627776 elements of float32 are wanted"),
        "extents_overflow": (listed(header(huge, 4, 2) + bytes(8)), "too many elements"),
        "extents_wrap_to_two": (listed(header((1 << 63) - 1, 1 << 33, 2) + bytes(8)), "too many elements"),
        "bytes_overflow": (listed(header(1 << 61, dtype=6) + bytes(8)), "too many elements"),
        "nothing_by_much": (listed(header(0, 1 << 40)), None),
        "nothing_by_overflow": (listed(header(huge, huge, 0)), "too many elements"),
        "dtype_13": (listed(header(2, dtype=13) + bytes(8)), "unknown dtype 13"),
        "dtype_negative": (listed(header(2, dtype=-1) + bytes(8)), "unknown dtype -1"),
        "bool_of_255": (listed(header(2, dtype=7) + b"\xff\x02"), None),
        "no_shape": (listed(header()[:12], floats(1)), None),
        "names_too_many": (listed(floats(1), names=(b"a", b"b")), "1 arrays and 2 names"),
        "names_too_few": (listed(floats(1), floats(2), names=(b"a",)), "2 arrays and 1 names"),
        "names_end": (listed(floats(1), named=1), "1 names are wanted and 0 bytes are left"),
        "name_too_long": (listed(floats(1), named=1) + name, "a name of 9223372036854775808 bytes"),
        "name_with_nul": (listed(floats(1), names=(b"a\0b",)), None),
        "names_with_nul": (listed(floats(1), floats(2), names=(b"a\0bc", b"d")), None),
        "names_twice": (listed(floats(1), floats(2), names=(b"a", b"a")), None),
        "sparse": (
            listed(
                sparse(2, (2, 2), (1, 2), (0, 1, 2), (1, 0)),
                sparse(1, (2, 2), (0, 1, 2, 0), (0, 1)),
                sparse(2, (3, 4), (), (0, 0, 0, 0), ()),
                sparse(1, (3, 4), (), ()),
                names=(b"c", b"r", b"z", b"zr"),
            ),
            None,
        ),
        "rest": (listed(floats(1)) + b"more", None),
    }


def paths() -> dict[str, Path]:
    """name -> its file: in `loaded` where the file is answered with arrays, in `refused` where with an error."""
    folders = {name: "refused" if said else "loaded" for name, (_, said) in entries().items()}
    return {name: CORPUS / folder / f"{name}.params" for name, folder in folders.items()}


def main() -> None:
    for path in CORPUS.rglob("*.params"):
        path.unlink()
    for name, path in paths().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(entries()[name][0])


if __name__ == "__main__":
    main()
