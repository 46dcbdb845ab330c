"""Files of records and images: what they guarantee beyond 1.9.1; forks, threads, damage."""

from __future__ import annotations

import gzip
import os
import pickle
import resource
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from _disk import full_disk
from gluon_cases._png import pixels, png, records

import mxlite as mx

MXRecordIO, IRHeader, pack = mx.recordio.MXRecordIO, mx.recordio.IRHeader, mx.recordio.pack


def _written(path: Path, *given: bytes) -> str:
    writer = MXRecordIO(path, "w")
    for each in given:
        writer.write(each)
    writer.close()
    return str(path)


def test_a_record_is_in_the_file_at_once(tmp_path: Path) -> None:
    writer = MXRecordIO(tmp_path / "a.rec", "w")
    writer.write(b"abc")
    assert (tmp_path / "a.rec").stat().st_size == 12
    writer.close()


def test_a_file_with_content_stays_until_the_writer_is_closed(tmp_path: Path) -> None:
    """The index too: both are of one generation, also where one of them is new."""
    paths = [str(tmp_path / "a.idx"), str(tmp_path / "a.rec")]
    old = Path(_written(tmp_path / "a.rec", b"old")).read_bytes()
    writer = mx.recordio.MXIndexedRecordIO(*paths, "w")
    writer.write_idx(7, b"new")
    assert Path(paths[1]).read_bytes() == old and not os.path.exists(paths[0])
    writer.reset()
    writer.write_idx(8, b"newer")
    assert Path(paths[1]).read_bytes() == old
    writer.close()
    reader = mx.recordio.MXIndexedRecordIO(*paths, "r")
    assert reader.keys == [8] and reader.read_idx(8) == b"newer"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_writer_that_is_forgotten_or_left_at_exit_is_closed(tmp_path: Path) -> None:
    path = _written(tmp_path / "a.rec", b"old")
    writer = MXRecordIO(path, "w")
    writer.write(b"new")
    del writer
    assert MXRecordIO(path, "r").read() == b"new"
    code = "import sys, mxlite as mx; writer = mx.recordio.MXRecordIO(sys.argv[1], 'w'); writer.write(b'at exit')"
    subprocess.run([sys.executable, "-c", code, path], check=True)
    assert MXRecordIO(path, "r").read() == b"at exit" and len(list(tmp_path.iterdir())) == 1


def test_a_child_that_closes_a_writer_replaces_nothing(tmp_path: Path) -> None:
    paths = [str(tmp_path / "a.idx"), _written(tmp_path / "a.rec", b"old")]
    writer = mx.recordio.MXIndexedRecordIO(*paths, "w")
    writer.write_idx(0, b"first")
    assert _in_a_child(writer.close) == "None"
    writer.write_idx(1, b"second")
    assert MXRecordIO(paths[1], "r").read() == b"old"
    writer.close()
    reader = mx.recordio.MXIndexedRecordIO(*paths, "r")
    assert [reader.read_idx(each) for each in reader.keys] == [b"first", b"second"]
    assert Path(paths[0]).read_text() == "0\t0\n1\t16\n"


@pytest.mark.parametrize("old", [b"", b"old"])
def test_a_record_that_cannot_be_written(tmp_path: Path, old: bytes) -> None:
    """The file has none of it, and records that fit may follow; where it was the last, an old file stays."""
    path = _written(tmp_path / "a.rec", old) if old else str(tmp_path / "a.rec")
    for last in (b"fits", None):
        writer = MXRecordIO(path, "w")
        writer.write(b"first")
        with full_disk(100), pytest.raises(OSError, match=r"writing failed: File too large: .*a\.rec"):
            writer.write(bytes(1000))
        if last is not None:
            writer.write(last)
            writer.close()
        else:
            with pytest.raises(mx.MXNetError, match="stays as it was: the last record could not be written"):
                writer.close()
        reader = MXRecordIO(path, "r")
        assert [reader.read(), reader.read(), reader.read()] == [b"first", b"fits", None]
    assert len(list(tmp_path.iterdir())) == 1


def test_huge_lengths_allocate_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    path.write_bytes(struct.pack("<II", 0xCED7230A, (1 << 29) - 1) + b"abc")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(mx.MXNetError, match="ends within a record of 536870911 bytes"):
        MXRecordIO(path, "r").read()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_errors_name_the_file_and_the_place(tmp_path: Path) -> None:
    path = Path(_written(tmp_path / "a.rec", b"hello", b"world"))
    path.write_bytes(path.read_bytes()[:16] + bytes(16))
    reader = MXRecordIO(path, "r")
    assert reader.read() == b"hello"
    with pytest.raises(mx.MXNetError, match=r"a\.rec'.*magic number, before byte 24"):
        reader.read()


def test_every_cut_is_an_error_or_the_end(tmp_path: Path) -> None:
    magic = struct.pack("<I", 0xCED7230A)
    given = [b"abcd" + magic + b"efg", b"xyz"]
    data = Path(_written(tmp_path / "a.rec", *given)).read_bytes()
    ends = {0: 0, 24: 1, len(data): 2}
    for cut in range(len(data) + 1):
        (tmp_path / "b.rec").write_bytes(data[:cut])
        reader = MXRecordIO(tmp_path / "b.rec", "r")
        got = []
        try:
            while (record := reader.read()) is not None:
                got.append(record)
            assert cut in ends and len(got) == ends[cut], cut
        except mx.MXNetError:
            assert cut not in ends, cut
        assert got == given[: len(got)]


def test_a_writer_is_not_pickled(tmp_path: Path) -> None:
    writer = MXRecordIO(tmp_path / "a.rec", "w")
    writer.write(b"abc")
    with pytest.raises(TypeError, match="being written"):
        pickle.dumps(writer)
    writer.close()
    assert MXRecordIO(tmp_path / "a.rec", "r").read() == b"abc"


def test_pickling_leaves_the_reader_open(tmp_path: Path) -> None:
    reader = MXRecordIO(_written(tmp_path / "a.rec", b"a", b"b"), "r")
    reader.read()
    pickle.dumps(reader)
    assert reader.read() == b"b"


def _in_a_child(function) -> str:
    """What a function returns in a forked process, as text."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = str(function())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(theirs, text.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    return text


def test_other_processes_are_refused(tmp_path: Path) -> None:
    reader = MXRecordIO(_written(tmp_path / "a.rec", b"a", b"b"), "r")
    writer = MXRecordIO(tmp_path / "b.rec", "w")
    writer.write(b"a")
    assert _in_a_child(reader.read).startswith("RuntimeError: Forbidden")
    assert _in_a_child(lambda: writer.write(b"x")).startswith("RuntimeError: Forbidden")
    writer.close()
    assert [reader.read(), reader.read()] == [b"a", b"b"]
    assert MXRecordIO(tmp_path / "b.rec", "r").read() == b"a"


def test_an_indexed_reader_opens_again_in_a_child(tmp_path: Path) -> None:
    paths = records(mx, str(tmp_path), [0.0, 1.0, 2.0], 2, 2, 3)
    reader = mx.recordio.MXIndexedRecordIO(paths["path_imgidx"], paths["path_imgrec"], "r")
    expected = [reader.read_idx(each) for each in range(3)]
    reader.seek(0)
    assert _in_a_child(lambda: reader.read_idx(2) == expected[2]) == "True"
    assert reader.read() == expected[0]


def test_prefetching_raises_what_its_iterator_raises() -> None:
    class Broken(mx.io.NDArrayIter):
        def next(self):
            raise ValueError("broken")

    iterator = mx.io.PrefetchingIter(Broken(np.arange(4.0), None, 2))
    with pytest.raises(ValueError, match="broken"):
        iterator.next()


def test_prefetching_refuses_iterators_of_different_lengths() -> None:
    short, long = (mx.io.NDArrayIter(np.arange(each), None, 2) for each in (4.0, 6.0))
    iterator = mx.io.PrefetchingIter([short, long])
    with pytest.raises(AssertionError, match="equally many batches"):
        list(iterator)


def test_a_prefetching_iterator_ends_with_its_threads() -> None:
    """As 1.9.1: when the iterator goes, its threads have ended, and hold nothing of the iterators any longer."""

    class Slow(mx.io.NDArrayIter):
        def next(self) -> mx.io.DataBatch:
            time.sleep(0.1)
            return super().next()

    iterator = mx.io.PrefetchingIter([Slow(np.arange(4.0), None, 2), Slow(np.arange(4.0), None, 2)])
    iterator.next()
    del iterator
    assert not [each for each in threading.enumerate() if each.name.startswith("mxlite-prefetch")]


@pytest.mark.parametrize("text", ["1,x\n", "1,2\n3\n", "1,\n"])
def test_broken_lines_of_csv_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(mx.MXNetError, match="a.csv"):
        mx.io.CSVIter(data_csv=str(path), data_shape=(2,), batch_size=1)


def test_too_few_labels_of_csv_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1\n2\n")
    (tmp_path / "l.csv").write_text("1\n")
    paths = {"data_csv": str(tmp_path / "a.csv"), "label_csv": str(tmp_path / "l.csv")}
    with pytest.raises(mx.MXNetError, match="2 lines of data, but 1"):
        mx.io.CSVIter(**paths, data_shape=(1,), batch_size=1)


def _idx(*shape: int) -> bytes:
    head = struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)
    return head + bytes(int(np.prod(shape)))


def test_mnist_reads_gzip_and_refuses_damage(tmp_path: Path) -> None:
    image, label = tmp_path / "image", tmp_path / "label"
    given = {"image": str(image), "label": str(label), "batch_size": 2}
    label.write_bytes(_idx(4))
    image.write_bytes(gzip.compress(_idx(4, 2, 3)))
    assert next(mx.io.MNISTIter(**given)).data[0].shape == (2, 1, 2, 3)
    huge = struct.pack(">HBB3I", 0, 8, 3, 2**32 - 1, 2**32 - 1, 2**32 - 1)
    for damaged in (b"", b"abc", _idx(4, 2, 3)[:-1], _idx(4), huge, gzip.compress(_idx(4, 2, 3))[:20], _idx(3, 2, 3)):
        image.write_bytes(damaged)
        with pytest.raises(mx.MXNetError, match="MNISTIter"):
            mx.io.MNISTIter(**given)


def test_parameters_without_meaning_here_are_refused_by_name(tmp_path: Path) -> None:
    paths = records(mx, str(tmp_path), [0.0], 2, 2, 3)
    given = {"path_imgrec": paths["path_imgrec"], "batch_size": 1, "data_shape": (3, 2, 2)}
    with pytest.raises(mx.MXNetError, match='aug_seq must be aug_default, got "none"'):
        mx.io.ImageRecordIter(**given, aug_seq="none")
    with pytest.warns(UserWarning, match="no parameter other"):
        mx.io.ImageRecordIter(**given, other=3)


def test_a_mean_for_bytes_is_computed(tmp_path: Path) -> None:
    paths = records(mx, str(tmp_path), [0.0, 1.0], 2, 2, 3)
    given = {"path_imgrec": paths["path_imgrec"], "batch_size": 2, "data_shape": (3, 2, 2)}
    mean = str(tmp_path / "mean")
    (batch,) = mx.io.ImageRecordInt8Iter(**given, mean_img=mean)
    images = next(mx.io.ImageRecordIter(**given)).data[0].asnumpy()
    half_away = np.floor(images.mean(0) + 0.5)
    assert np.array_equal(batch.data[0].asnumpy(), np.clip(images - half_away, -128, 127))
    assert np.array_equal(mx.nd.load(mean)["mean_img"].asnumpy(), images.mean(0))


@pytest.mark.parametrize("data", [b"", b"rubbish", png(pixels(4, 5, 3))[:60]], ids=["empty", "rubbish", "cut"])
def test_errors_name_the_broken_image(tmp_path: Path, data: bytes) -> None:
    path = _written(tmp_path / "a.rec", pack(IRHeader(0, 1.0, 17, 0), data))
    (tmp_path / "a.png").write_bytes(data)
    size = {"batch_size": 1, "data_shape": (3, 2, 2)}
    with pytest.raises(mx.MXNetError, match=r"a\.rec: the image with id 17: "):
        next(mx.io.ImageRecordIter(path_imgrec=path, **size))
    with pytest.raises(mx.MXNetError, match=r"record 0 of .*a\.rec"):
        next(mx.image.ImageIter(path_imgrec=path, **size))
    with pytest.raises(mx.MXNetError, match=r"a\.png"):
        next(mx.image.ImageIter(imglist=[[1.0, "a.png"]], path_root=str(tmp_path), **size))
    with pytest.raises(mx.MXNetError, match=r"a\.png"):
        mx.image.imread(str(tmp_path / "a.png"))
    with pytest.raises(mx.MXNetError, match="id 17"):
        mx.recordio.unpack_img(MXRecordIO(path, "r").read())


def test_iterators_go_on_after_an_error(tmp_path: Path) -> None:
    good = [pack(IRHeader(0, float(each), each, 0), png(pixels(2, 2, 3))) for each in range(3)]
    path = _written(tmp_path / "a.rec", good[0], pack(IRHeader(0, 1.0, 1, 0), b"rubbish"), good[2])
    iterator = mx.io.ImageRecordIter(path_imgrec=path, batch_size=1, data_shape=(3, 2, 2))
    assert next(iterator).label[0].asscalar() == 0
    with pytest.raises(mx.MXNetError):
        next(iterator)
    assert next(iterator).label[0].asscalar() == 2
    iterator.reset()
    assert next(iterator).label[0].asscalar() == 0
    iterator.reset()  # waits for the batch that is being made


def test_jpegs_are_near_the_original() -> None:
    columns, rows = np.meshgrid(np.arange(64), np.arange(48))
    image = np.stack([columns * 4, rows * 5, columns + rows], 2).astype(np.uint8)
    record = mx.recordio.pack_img(IRHeader(0, 1.0, 0, 0), image, quality=95)
    got = mx.recordio.unpack_img(record)[1]
    assert got.shape == image.shape and np.abs(got.astype(int) - image).mean() < 3
    gray = mx.image.imdecode(record[24:], flag=0).asnumpy()
    expected = image @ [0.114, 0.587, 0.299]  # B, G, R
    assert gray.shape == (48, 64, 1) and np.abs(gray[:, :, 0] - expected).mean() < 2


def _jpegs() -> dict:
    """A JPEG; with EXIF data that turn it, at the begin and behind another segment, where 1.9.1 reads none."""
    columns, rows = np.meshgrid(np.arange(20), np.arange(30))
    image = np.stack([columns * 12, rows * 8, columns + rows], 2).astype(np.uint8)
    plain = mx.recordio.pack_img(IRHeader(0, 1.0, 0, 0), image, quality=90)[24:]
    content = b"Exif\0\0MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\6" + bytes(6)
    exif = b"\xff\xe1" + struct.pack(">H", 2 + len(content)) + content
    behind = 4 + int.from_bytes(plain[4:6], "big")
    assert plain[2:4] == b"\xff\xe0"
    return {
        "plain": plain,
        "first": plain[:2] + exif + plain[behind:],
        "behind": plain[:behind] + exif + plain[behind:],
    }


@pytest.mark.parametrize("flag", [0, 1])
def test_pixels_are_those_of_the_library(flag: int) -> None:
    """Also of a JPEG that its EXIF data turn, and in a record."""
    files = {**_jpegs(), "png": png(pixels(40, 50, 3)), "gray": png(pixels(4, 5))}
    for name, data in files.items():
        given = mx.nd.array(np.frombuffer(data, np.uint8), dtype="uint8")
        wanted = mx.nd._internal._cvimdecode(given, flag=flag, to_rgb=False).asnumpy()
        assert wanted.shape[:2] == {"first": (20, 30), "png": (40, 50), "gray": (4, 5)}.get(name, (30, 20))
        assert np.array_equal(mx.image.imdecode(data, flag=flag, to_rgb=False).asnumpy(), wanted), name
        unpacked = mx.recordio.unpack_img(pack(IRHeader(0, 1.0, 0, 0), data), flag)[1]
        assert np.array_equal(unpacked, wanted if flag else wanted[:, :, 0]), name


@pytest.mark.parametrize("extension", [".txt", "", ".tif9"])
def test_unknown_formats_are_refused(extension: str) -> None:
    with pytest.raises(ValueError, match="cannot encode"):
        mx.recordio.pack_img(IRHeader(0, 1.0, 0, 0), pixels(2, 2, 3), img_fmt=extension)


@pytest.mark.one_binding
def test_pillow_is_imported_late_and_named_where_it_is_missing() -> None:
    code = f"""
import sys
sys.modules["PIL"] = None
import mxlite as mx
mx.recordio, mx.io, mx.image.ImageIter
print(mx.image.imdecode({png(pixels(4, 5, 3))!r}).shape)
try:
    mx.image.imdecode(b"x")
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "(4, 5, 3)" in done.stdout and "pip install mxlite[image]" in done.stdout
