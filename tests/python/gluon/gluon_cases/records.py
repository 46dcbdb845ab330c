"""mx.recordio."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path

import numpy as np
from _case import case

from gluon_cases._png import pixels, png

_MAGIC = struct.pack("<I", 0xCED7230A)
_RECORDS = {
    "empty": b"",
    "1": b"a",
    "2": b"ab",
    "3": b"abc",
    "4": b"abcd",
    "5": b"abcde",
    "magic": _MAGIC,
    "magic at 1": b"a" + _MAGIC,
    "magic at 2": b"ab" + _MAGIC + b"x",
    "magic at 4": b"abcd" + _MAGIC,
    "magic at 4, more": b"abcd" + _MAGIC + b"xyz",
    "magics": _MAGIC * 3,
    "magics apart": b"abcd" + _MAGIC + b"efgh" + _MAGIC + b"i",
    "magics around": _MAGIC + b"abcd" + _MAGIC,
    "magic at 3 and 8": b"abc" + _MAGIC + b"d" + _MAGIC,
    "half a magic": b"abcd" + _MAGIC[:3],
    "zeros": bytes(9),
    "many": bytes(range(256)) * 3 + b"z",
}


def _file(folder):
    return str(Path(folder, "a.rec"))


def _written(mx, folder, records):
    path = _file(folder)
    writer = mx.recordio.MXRecordIO(path, "w")
    for each in records:
        writer.write(each)
    writer.close()
    return path


def _read(mx, path, count):
    reader = mx.recordio.MXRecordIO(path, "r")
    return [reader.read() for _ in range(count)]


@case(record=list(_RECORDS))
def bytes_of_a_record(mx, folder, record):
    return Path(_written(mx, folder, [_RECORDS[record]])).read_bytes()


@case(record=list(_RECORDS))
def record_comes_back(mx, folder, record):
    return _read(mx, _written(mx, folder, [b"before", _RECORDS[record], b"after"]), 5)


@case(cut=[0, 1, 4, 7, 8, 10, 15, 16, 20, 24, 28, 31])
def cut_file(mx, folder, cut):
    path = Path(_written(mx, folder, [b"hello", b"world!"]))
    path.write_bytes(path.read_bytes()[:cut])
    return _read(mx, str(path), 3)


_BROKEN = {
    "magic": lambda data: b"\0" + data[1:],
    "second magic": lambda data: data[:16] + b"\0" + data[17:],
    "huge length": lambda data: data[:4] + struct.pack("<I", (1 << 29) - 1) + data[8:],
    "more at the end": lambda data: data + b"abc",
}


@case(how=list(_BROKEN))
def broken_file(mx, folder, how):
    path = Path(_written(mx, folder, [b"hello", b"world!"]))
    path.write_bytes(_BROKEN[how](path.read_bytes()))
    return _read(mx, str(path), 3)


@case(differs="the record is taken as whole")
def record_without_its_last_part(mx, folder):
    path = Path(_written(mx, folder, [b"hello", b"world!"]))
    data = path.read_bytes()
    path.write_bytes(data[:4] + struct.pack("<I", 5 | 1 << 29) + data[8:16])
    return _read(mx, str(path), 3)


@case(flag=["a", "rb", "wb", "", "R"])
def bad_flag(mx, folder, flag):
    return mx.recordio.MXRecordIO(_written(mx, folder, [b"a"]), flag)


@case
def missing_file(mx, folder):
    return mx.recordio.MXRecordIO(_file(folder), "r")


@case(value=["text", 3, None])
def what_is_no_bytes(mx, folder, value):
    return _written(mx, folder, [value])


@case
def reset_reads_anew(mx, folder):
    reader = mx.recordio.MXRecordIO(_written(mx, folder, [b"a", b"b"]), "r")
    got = [reader.read()]
    reader.reset()
    return [*got, reader.read(), reader.read(), reader.read(), reader.is_open, reader.writable, reader.flag]


@case
def reset_of_a_writer_empties(mx, folder):
    writer = mx.recordio.MXRecordIO(_file(folder), "w")
    writer.write(b"a")
    writer.reset()
    writer.write(b"b")
    writer.close()
    return Path(_file(folder)).read_bytes()


@case
def closed_twice(mx, folder):
    reader = mx.recordio.MXRecordIO(_written(mx, folder, [b"a"]), "r")
    reader.close()
    reader.close()
    return reader.is_open


@case(what=["read", "write"])
def closed(mx, folder, what):
    file = mx.recordio.MXRecordIO(_written(mx, folder, [b"a"]), what[0])
    file.close()
    return file.read() if what == "read" else file.write(b"a")


@case(what=["read", "write"])
def other_way(mx, folder, what):
    path = _written(mx, folder, [b"a"])
    file = mx.recordio.MXRecordIO(path, "w" if what == "read" else "r")
    return file.read() if what == "read" else file.write(b"a")


@case
def pickled_reader(mx, folder):
    reader = mx.recordio.MXRecordIO(_written(mx, folder, [b"a", b"b"]), "r")
    reader.read()
    copy = pickle.loads(pickle.dumps(reader))
    return [copy.read(), copy.flag, copy.is_open]


def _indexed(mx, folder, flag, key_type=int):
    return mx.recordio.MXIndexedRecordIO(str(Path(folder, "a.idx")), _file(folder), flag, key_type)


_KEYS = {
    "int": ([0, 1, 2], int),
    "order": ([7, 3, 5], int),
    "str": (["x", "y", "zz"], str),
    "float": ([2.7, 1, 4], int),
}


def _with_keys(mx, folder, keys):
    given, kind = _KEYS[keys]
    writer = _indexed(mx, folder, "w", kind)
    places = []
    for number, key in enumerate(given):
        places.append(writer.tell())
        writer.write_idx(key, b"record %d" % number + b"." * number)
    return writer, places


@case(keys=list(_KEYS))
def index(mx, folder, keys):
    writer, places = _with_keys(mx, folder, keys)
    got = [places, list(writer.keys), dict(writer.idx)]
    writer.close()
    return [*got, Path(folder, "a.idx").read_bytes()]


@case(keys=list(_KEYS))
def records_by_key(mx, folder, keys):
    _with_keys(mx, folder, keys)[0].close()
    reader = _indexed(mx, folder, "r", _KEYS[keys][1])
    return [list(reader.keys), *(reader.read_idx(key) for key in reversed(reader.keys)), reader.read()]


@case
def seek_and_read_on(mx, folder):
    _with_keys(mx, folder, "int")[0].close()
    reader = _indexed(mx, folder, "r")
    reader.seek(1)
    got = [reader.read(), reader.read()]
    reader.reset()
    return [*got, reader.read()]


@case(differs="a reader that was at the end reads no more")
def read_by_key_after_the_end(mx, folder):
    _with_keys(mx, folder, "int")[0].close()
    reader = _indexed(mx, folder, "r")
    return [reader.read(), reader.read(), reader.read(), reader.read(), reader.read_idx(1)]


@case(what=["read_idx", "seek", "tell", "write_idx"])
def wrong_use_of_an_index(mx, folder, what):
    _with_keys(mx, folder, "int")[0].close()
    reader = _indexed(mx, folder, "r")
    arguments = {"tell": (), "write_idx": (9, b"a")}.get(what, (9,))
    return getattr(reader, what)(*arguments)


@case(what=["read_idx", "seek"])
def reading_of_an_indexed_writer(mx, folder, what):
    return getattr(_with_keys(mx, folder, "int")[0], what)(0)


@case(text=["0\t0\n\n", "0 0\n", "a\t0\n", "0\tx\n"])
def broken_index(mx, folder, text):
    _with_keys(mx, folder, "int")[0].close()
    Path(folder, "a.idx").write_text(text)
    return _indexed(mx, folder, "r").keys


@case(text=["0\t0\t5\n3\t20\n", "", "5\t0\n5\t20\n"])
def odd_index(mx, folder, text):
    _with_keys(mx, folder, "int")[0].close()
    Path(folder, "a.idx").write_text(text)
    reader = _indexed(mx, folder, "r")
    return [list(reader.keys), dict(reader.idx)]


@case
def missing_index(mx, folder):
    _written(mx, folder, [b"a"])
    return _indexed(mx, folder, "r").keys


@case
def pickled_indexed_reader(mx, folder):
    _with_keys(mx, folder, "int")[0].close()
    reader = _indexed(mx, folder, "r")
    reader.read_idx(1)
    copy = pickle.loads(pickle.dumps(reader))
    return [copy.read(), copy.read_idx(2), list(copy.keys)]


@case
def closed_indexed_reader_opens_again(mx, folder):
    _with_keys(mx, folder, "int")[0].close()
    reader = _indexed(mx, folder, "r")
    reader.close()
    return reader.read_idx(1)


_LABELS = {
    "float": 1.5,
    "int": 3,
    "bool": True,
    "float32": np.float32(2.25),
    "list": [1, 2, 3],
    "tuple": (1.5, 2.5),
    "array": np.array([1.0, 2.0]),
    "matrix": np.arange(4.0).reshape(2, 2),
    "no axes": np.array(3.0),
    "none of them": [],
    "None": None,
    "text": "a",
}


@case(label=list(_LABELS), flag=[0, 5])
def packed(mx, label, flag):
    record = mx.recordio.pack(mx.recordio.IRHeader(flag, _LABELS[label], 7, 9), b"data")
    header, data = mx.recordio.unpack(record)
    return [record, header.flag, header.label, header.id, header.id2, data]


@case(header=[(0, 4.0, 1, 2), [0, 4.0, 1, 2], (0, [4.0, 5.0], 1, 2), (1, 2), 3, (0, 1.0, 2**64, 3), (0, 1.0, 1.5, 3)])
def packed_with_a_plain_header(mx, header):
    return mx.recordio.pack(header, b"x")


@case(record=[b"", b"abc", bytes(23), bytes(24), struct.pack("<IfQQ", 4, 0, 1, 1) + b"1234"])
def unpacked(mx, record):
    return list(mx.recordio.unpack(record)[0]), mx.recordio.unpack(record)[1]


@case(what=["text"])
def unpacked_text(mx, what):
    return mx.recordio.unpack(what)


@case
def header_has_fields(mx):
    header = mx.recordio.IRHeader(flag=0, label=1.0, id=2, id2=3)
    return list(header._fields), repr(header), header._replace(id=5).id, tuple(header)


_SHAPES = {"color": (4, 5, 3), "gray": (4, 5), "alpha": (4, 5, 4), "one pixel": (1, 1, 3)}


@case(shape=list(_SHAPES), iscolor=[-1, 0, 1])
def unpacked_image(mx, shape, iscolor):
    data = png(pixels(*_SHAPES[shape]))
    header, image = mx.recordio.unpack_img(mx.recordio.pack(mx.recordio.IRHeader(0, 1.0, 2, 3), data), iscolor)
    return [list(header), image]


@case
def unpacked_image_of_16_bits(mx):
    data = mx.recordio.pack((0, 1.0, 2, 3), png(pixels(3, 2, 3, dtype="uint16")))
    return mx.recordio.unpack_img(data, 1)[1]


@case(shape=list(_SHAPES), img_fmt=[".png", ".PNG", ".bmp"])
def packed_image(mx, shape, img_fmt):
    image = pixels(*_SHAPES[shape])
    record = mx.recordio.pack_img((0, 1.0, 2, 3), image, img_fmt=img_fmt)
    return [record[:24], mx.recordio.unpack_img(record, 1)[1]]


@case(quality=[0, 3, 9, 95])
def packed_png_of_a_quality(mx, quality):
    image = pixels(4, 5, 3)
    return mx.recordio.unpack_img(mx.recordio.pack_img((0, [1.0, 2.0], 2, 3), image, quality, ".png"))[1]


@case(quality=[1, 50, 95, 100])
def packed_jpeg_of_one_color(mx, quality):
    image = np.full((16, 16, 3), 128, np.uint8)
    return mx.recordio.unpack_img(mx.recordio.pack_img((0, 1.0, 2, 3), image, quality))[1]
