"""mx.io: iterators over images in files of records, with what they do to images where it is not left to chance."""

import struct
import zlib

from kit import area, each, mx, np

area("io")


def png(pixels):
    """The file of uint8 pixels, RGB."""

    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows, columns = pixels.shape[:2]
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(lines)) + part(b"IEND", b"")


def picture(rows, columns, seed):
    """Waves with noise, so that interpolations differ."""
    random = np.random.RandomState(seed)
    y, x = np.mgrid[:rows, :columns]
    waves = [np.sin(x / 5 + seed) * 60 + np.cos(y / 3 + c) * 50 + 128 for c in range(3)]
    return np.clip(np.stack(waves, 2) + random.randint(-20, 20, (rows, columns, 3)), 0, 255).astype("uint8")


def write(labels, name="pictures"):
    """Records of pictures of several sizes with these labels."""
    writer = mx.recordio.MXIndexedRecordIO(f"{name}.idx", f"{name}.rec", "w")
    for i, label in enumerate(labels):
        data = png(picture(30 + 7 * (i % 3), 45 - 5 * i, i))
        writer.write_idx(i, mx.recordio.pack(mx.recordio.IRHeader(0, label, i, 0), data))
    writer.close()


CHANGES = """
resize=20
rotate=90
rotate=33, fill_value=10
rotate=33, inter_method=2, pad=4
rotate=33, inter_method=4, resize=40
min_random_scale=1.3, max_random_scale=1.3, inter_method=9
min_random_scale=0.6, max_random_scale=0.6, rotate=12
min_img_size=50, max_img_size=55
min_aspect_ratio=1.4, max_aspect_ratio=1.4, mirror=True
min_crop_size=17, max_crop_size=17
min_crop_size=25, max_crop_size=25, inter_method=3
random_resized_crop=True, min_aspect_ratio=0.5, max_aspect_ratio=0.5
random_resized_crop=True, rand_crop=True
random_h=1, rotate=20
brightness=1e-9, contrast=1e-9, saturation=1e-9, pca_noise=1e-30
mean_img='mean.bin', scale=0.5, std_g=3
mean_img='mean.bin', scale=0.5, std_g=3, mirror=True
max_random_contrast=1e-9, mean_g=5, std_b=3, scale=0.7
data_shape=(1, 18, 20), rotate=20
data_shape=(3, 60, 20), inter_method=2
shuffle_chunk_size=1, shuffle_chunk_seed=3
dtype='int8', mean_r=100.5, mean_g=-3.5
dtype='uint8', mean_r=100.5
path_imgidx='pictures.idx', num_parts=2, part_index=1
brightness=0.5, data_shape=(1, 18, 20)
resize=0
batch_size=2, label_width=2
""".strip().splitlines()


def changed(text, kind="ImageRecordIter"):
    write([0.0, 1.0, 2.0, 3.0])
    given = {"path_imgrec": "pictures.rec", "data_shape": (3, 18, 20), "batch_size": 1, "preprocess_threads": 1}
    data = getattr(mx.io, kind)(**{**given, **eval(f"dict({text})")})
    return [(b.data[0].asnumpy(), b.label[0].asnumpy()) for b in data], data.provide_data, data.provide_label


each("ImageRecordIter", CHANGES, changed, rtol=0, atol=0)
each(
    "ImageRecordInt8Iter", ["rotate=20, mean_r=100", "dtype='uint8'"], lambda text: changed(text, "ImageRecordInt8Iter")
)
each(
    "ImageRecordUInt8Iter",
    ["rotate=20, mean_r=100", "dtype='int8'"],
    lambda text: changed(text, "ImageRecordUInt8Iter"),
)


BOXES = """
resize=20
resize_mode='fit', mean_g=3, std_b=7
resize_mode='shrink', inter_method=2, data_shape=(3, 60, 70)
rand_mirror_prob=1, label_pad_width=30
label_pad_value=9, batch_size=3
mean_img='mean.bin', scale=0.5, std_g=3
label_pad_width=5
rand_crop_prob=1, max_crop_trials=0
rand_crop_prob=1, max_crop_scales=2
random_hue_prob=1, random_contrast_prob=1, num_parts=2, part_index=1
data_shape=(1, 18, 20), inter_method=9
label_width=7
dtype='uint8'
""".strip().splitlines()


def boxed(text):
    write([[2, 5, i, 0.1 * i, 0.2, 0.4, 0.5, *([7, 0.5, 0.5, 0.9, 0.8] * (i % 3))] for i in range(4)], "boxes")
    given = {"path_imgrec": "boxes.rec", "data_shape": (3, 18, 20), "batch_size": 1, "preprocess_threads": 1}
    data = mx.io.ImageDetRecordIter(**{**given, **eval(f"dict({text})")})
    return [(b.data[0].asnumpy(), b.label[0].asnumpy()) for b in data], data.provide_data, data.provide_label


each("ImageDetRecordIter", BOXES, boxed, rtol=0, atol=0)
