"""mx.io, mx.recordio, mx.image: iterators, records, pictures."""

import gzip
import struct

from kit import area, array, check, each, expressions, fails, mx, np, numbers

area("io")


def batches(data):
    return [(list(b.data), list(b.label or []), b.pad, b.index if b.index is not None else None) for b in data]


NDARRAY = [
    ("pad", {}), ("discard", {"last_batch_handle": "discard"}), ("roll_over", {"last_batch_handle": "roll_over"}),
    ("names", {"data_name": "x", "label_name": "y"}),
]  # fmt: skip


def nd_iter(_, arguments):
    data = mx.io.NDArrayIter(numbers(7, 2), np.arange(7.0), 3, **arguments)
    first = batches(data)
    data.reset()
    return first, batches(data), data.provide_data, data.provide_label, data.batch_size


each("NDArrayIter", NDARRAY, nd_iter)


@check
def several_arrays():
    data = mx.io.NDArrayIter({"a": numbers(4, 2), "b": mx.nd.array(numbers(4, 3))}, None, 2)
    return (
        batches(data),
        sorted(d.name for d in data.provide_data),
        fails(lambda: mx.io.NDArrayIter({"a": numbers(2), "b": numbers(3)})),
    )


@check
def shuffled():
    data = mx.io.NDArrayIter(np.arange(10.0), None, 5, shuffle=True)
    return sorted(float(v) for b in data for v in b.data[0].asnumpy())


@check
def resized():
    data = mx.io.ResizeIter(mx.io.NDArrayIter(numbers(6, 2), np.arange(6.0), 2), 5)
    return batches(data)


@check
def prefetched():
    data = mx.io.PrefetchingIter(mx.io.NDArrayIter(numbers(6, 2), np.arange(6.0), 2))
    first = [b.data[0].copy() for b in data]
    data.reset()
    return first, len([1 for _ in data]), data.provide_data


def write_csv():
    np.savetxt("d.csv", numbers(7, 6), delimiter=",")
    np.savetxt("l.csv", np.arange(7.0), delimiter=",")


CSV = """
batch_size=3
batch_size=3, round_batch=False
batch_size=3, label_csv='l.csv'
batch_size=3, label_csv='l.csv', label_shape=(1,), dtype='float32'
batch_size=7
batch_size=3, prefetch_buffer=1
""".strip().splitlines()


def csv(text):
    write_csv()
    data = eval(f"mx.io.CSVIter(data_csv='d.csv', data_shape=(2, 3), {text})", {"mx": mx})
    first = [[d.copy() for d in b.data] + [d.copy() for d in b.label] + [b.pad] for b in data]
    data.reset()
    return first, len([1 for _ in data]), data.provide_data, data.provide_label


each("CSVIter", CSV, csv)


@check
def bad_csv():
    return fails(lambda: mx.io.CSVIter(data_csv="none.csv", data_shape=(2,), batch_size=1).next()), fails(
        lambda: mx.io.CSVIter(data_shape=(2,), batch_size=1)
    ), fails(lambda: mx.io.CSVIter(data_csv="d.csv", no_such=3))  # fmt: skip


def write_mnist():
    pictures = np.random.RandomState(0).randint(0, 255, (10, 28, 28)).astype("uint8")
    with open("images", "wb") as file:
        file.write(struct.pack(">IIII", 2051, 10, 28, 28) + pictures.tobytes())
    with open("labels", "wb") as file:
        file.write(struct.pack(">II", 2049, 10) + (np.arange(10) % 10).astype("uint8").tobytes())
    with open("images", "rb") as file, gzip.open("images.gz", "wb") as target:
        target.write(file.read())


def mnist(_, arguments):
    write_mnist()
    data = mx.io.MNISTIter(image="images", label="labels", batch_size=4, silent=True, **arguments)
    return [[b.data[0].copy(), b.label[0].copy(), b.pad] for b in data], data.provide_data


each("MNISTIter", [("plain", {"shuffle": False}), ("flat", {"shuffle": False, "flat": True}),
                   ("parts", {"shuffle": False, "num_parts": 2, "part_index": 1})], mnist)  # fmt: skip


SVM = """
batch_size=1
batch_size=2
batch_size=2, data_shape=(4,)
batch_size=1, num_parts=2, part_index=1
batch_size=1, dtype='float32', prefetch_buffer=1, ctx='cpu'
batch_size=2, dtype='float64'
batch_size=2, round_batch=False
batch_size=2, label_shape=(2,)
batch_size=2, label_libsvm='a.svm'
batch_size=2, data_shape=(3, 1)
batch_size=2, data_libsvm='none.svm'
""".strip().splitlines()


def libsvm(text):
    with open("a.svm", "w") as file:
        file.write("1 0:0.5 2:1.5\n0 1:2\n\n1 0:1 1:1\r\n-3 0:7\n4.5\t2:1e-3\n")
    data = mx.io.LibSVMIter(**{"data_libsvm": "a.svm", "data_shape": (3,), **eval(f"dict({text})")})
    out = []
    for _ in range(2):
        out.append([(b.data[0].asnumpy(), b.label[0].asnumpy(), b.pad, b.index) for b in data])
        data.reset()
    return out, data.provide_data, data.provide_label


each("LibSVMIter", SVM, libsvm)


expressions(
    "",
    {"fails": fails},
    """
mx.io.DataDesc('data', (2, 3)), mx.io.DataDesc('data', (2, 3), 'float16', 'TNC').layout
mx.io.DataDesc.get_batch_axis('TNC'), mx.io.DataDesc.get_list([('a', (1,))], None)
str(mx.io.DataBatch([mx.nd.ones((2, 3))], [mx.nd.ones(2)]))
mx.io.MXDataIter.__name__, sorted(n for n in dir(mx.io) if n.endswith('Iter'))
mx.io.no_such
""".strip().splitlines(),
)

area("recordio")


@check
def records():
    writer = mx.recordio.MXRecordIO("a.rec", "w")
    for i in range(5):
        writer.write(b"record_%d" % i * (i + 1))
    position = writer.tell()
    writer.close()
    reader, out = mx.recordio.MXRecordIO("a.rec", "r"), []
    while True:
        item = reader.read()
        if item is None:
            break
        out.append(item)
    reader.reset()
    with open("a.rec", "rb") as file:
        return out, reader.read(), position, file.read(), fails(lambda: mx.recordio.MXRecordIO("a.rec", "x"))


@check
def indexed_records():
    writer = mx.recordio.MXIndexedRecordIO("b.idx", "b.rec", "w")
    for i in range(5):
        writer.write_idx(i * 2, b"record_%d" % i)
    writer.close()
    reader = mx.recordio.MXIndexedRecordIO("b.idx", "b.rec", "r")
    with open("b.idx") as file:
        return [reader.read_idx(k) for k in (4, 0, 8)], reader.keys, file.read(), fails(lambda: reader.read_idx(3))


@check
def records_with_the_magic_number():
    magic = struct.pack("<I", 0xCED7230A)
    items = [magic * 3, b"abc" + magic, b"abcd" + magic + b"xy", b"", magic]
    writer = mx.recordio.MXRecordIO("m.rec", "w")
    for item in items:
        writer.write(item)
    writer.close()
    reader = mx.recordio.MXRecordIO("m.rec", "r")
    with open("m.rec", "rb") as file:
        return [reader.read() for _ in items], reader.read(), file.read()


@check
def packed_headers():
    header = mx.recordio.IRHeader(0, 3.0, 7, 0)
    many = mx.recordio.IRHeader(0, [1, 2, 3], 8, 0)
    a, b = mx.recordio.pack(header, b"data"), mx.recordio.pack(many, b"data")
    return a, b, mx.recordio.unpack(a), mx.recordio.unpack(b)


@check
def bad_records():
    with open("bad.rec", "wb") as file:
        file.write(b"nothing of the kind, but long")
    reader = mx.recordio.MXRecordIO("bad.rec", "r")
    writer = mx.recordio.MXRecordIO("w.rec", "w")
    return fails(reader.read), fails(lambda: mx.recordio.MXRecordIO("none.rec", "r")), fails(writer.read), fails(
        lambda: reader.write(b"x")
    )  # fmt: skip


@check
def data_sets_of_records():
    writer = mx.recordio.MXIndexedRecordIO("c.idx", "c.rec", "w")
    for i in range(4):
        writer.write_idx(i, b"record_%d" % i)
    writer.close()
    data = mx.gluon.data.RecordFileDataset("c.rec")
    return [data[i] for i in range(len(data))], list(mx.gluon.data.DataLoader(data, 2, batchify_fn=list))


area("image")


def picture(height=8, width=9):
    return mx.nd.array(np.random.RandomState(3).randint(0, 255, (height, width, 3)), dtype="uint8")


PNG = (
    "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a73000000164944415478da6338c12522b745"
    "83c1c8e6d2af0fcf001f9e05f115da76330000000049454e44ae426082"
)
IMAGES = """
mx.image.imresize(p, 4, 5)
mx.image.imresize(p, 4, 5, interp=0)
mx.image.resize_short(p, 5)
mx.image.fixed_crop(p, 1, 2, 4, 3)
mx.image.fixed_crop(p, 1, 2, 4, 3, (6, 6))
mx.image.center_crop(p, (4, 4))
mx.image.random_crop(p, (9, 8))[1]
mx.image.random_size_crop(p, (4, 4), 0.9, (1, 1))[0].shape
mx.image.color_normalize(p.astype('float32'), mx.nd.array([1, 2, 3]), mx.nd.array([2, 2, 2]))
mx.image.scale_down((640, 480), (720, 120))
mx.image.copyMakeBorder(p, 1, 2, 3, 4)
mx.image.copyMakeBorder(p, 1, 1, 1, 1, type=0, values=(5, 6, 7))
mx.image.DetRandomPadAug(area_range=(1.5, 1.5))(p, np.array([[0, 0.1, 0.2, 0.3, 0.4]]))[0].dtype
mx.image.imrotate(p.astype('float32').transpose((2, 0, 1)), 30)
mx.image.imdecode(b'nothing')
mx.image.imdecode(b'')
mx.image.imread('none.png')
mx.image.HorizontalFlipAug(1)(p)
mx.image.HorizontalFlipAug(0)(p)
mx.image.CastAug()(p)
mx.image.ResizeAug(5)(p)
mx.image.ForceResizeAug((4, 5))(p)
mx.image.CenterCropAug((4, 4))(p)
mx.image.ColorNormalizeAug(mx.nd.array([1, 2, 3]), mx.nd.array([2, 2, 2]))(p.astype('float32'))
mx.image.BrightnessJitterAug(0)(p.astype('float32'))
mx.image.ContrastJitterAug(0)(p.astype('float32'))
mx.image.SaturationJitterAug(0)(p.astype('float32'))
mx.image.HueJitterAug(0)(p.astype('float32'))
mx.image.LightingAug(0, np.ones(3), np.eye(3))(p.astype('float32'))
mx.image.RandomGrayAug(1)(p.astype('float32'))
mx.image.SequentialAug([mx.image.CastAug(), mx.image.HorizontalFlipAug(1)])(p)
[type(a).__name__ for a in mx.image.CreateAugmenter((3, 4, 4), resize=5, rand_mirror=True, mean=True, std=True)]
mx.image.CreateAugmenter((3, 4, 4))[0].dumps()
[type(a).__name__ for a in mx.image.CreateDetAugmenter((3, 4, 4), rand_crop=0.5, rand_pad=0.5, rand_mirror=True)]
mx.image.DetHorizontalFlipAug(1)(p, np.array([[0, 0.1, 0.2, 0.4, 0.5]]))
mx.image.DetBorrowAug(mx.image.CastAug())(p, np.array([[0, 0.1, 0.2, 0.4, 0.5]]))
mx.img is mx.image
mx.nd.image.flip_left_right(p), mx.nd.image.flip_top_bottom(p)
mx.nd.image.random_flip_left_right(p, p=1.0).shape
mx.nd.image.adjust_lighting(p.astype('float32'), alpha=(0.1, 0.2, 0.3))
mx.nd.image.crop(p, 1, 1, 3, 4), mx.nd.image.resize(p, size=(4, 5), interp=0)
""".strip().splitlines()
expressions("", {"p": picture}, IMAGES, atol=1.01)


@check
def decoded_pictures():
    data = bytes.fromhex(PNG)
    return mx.image.imdecode(data), mx.image.imdecode(data, to_rgb=False), mx.image.imdecode(data, flag=0)


@check
def pictures_in_records():
    writer = mx.recordio.MXIndexedRecordIO("p.idx", "p.rec", "w")
    for i in range(4):
        writer.write_idx(i, mx.recordio.pack(mx.recordio.IRHeader(0, float(i), i, 0), bytes.fromhex(PNG)))
    writer.close()
    data = mx.image.ImageIter(2, (3, 2, 2), path_imgrec="p.rec", path_imgidx="p.idx")
    out = [[b.data[0], b.label[0]] for b in data]
    record = mx.io.ImageRecordIter(path_imgrec="p.rec", data_shape=(3, 2, 2), batch_size=2, preprocess_threads=1)
    return out, [[b.data[0].copy(), b.label[0].copy()] for b in record], array(2)
