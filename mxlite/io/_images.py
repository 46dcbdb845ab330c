"""Iterators over images in a file of records; the library decodes them on threads, a batch ahead."""

from __future__ import annotations

from mxlite.io._native import MXDataIter


class ImageRecordIter(MXDataIter):
    """Batches of images, (batch, channels, rows, columns), of a file that `mx.recordio` or im2rec wrote.

    An image is resized (its shorter side to `resize`), mapped, padded, made large enough for and cropped to
    `data_shape`, coloured and mirrored; its values become (value - mean) / std * scale.

    Args:
        path_imgrec, path_imgidx, path_imglist: Paths of the records; of their index, which is read in place of the
            whole file; of a list with other labels, by the id of a record.
        data_shape: Channels (1 or 3), rows, columns.
        batch_size, round_batch, data_name, label_name: See MXDataIter.
        shuffle, seed: Whether each epoch has a random order; the seed of that.
        label_width: How many labels an image has.
        part_index, num_parts: Which of how many parts of the file to take.
        resize, pad, fill_value, inter_method, rand_crop, mirror, rand_mirror, seed_aug: How images are changed.
        max_rotate_angle, rotate, max_shear_ratio, max_aspect_ratio, min_aspect_ratio, max_random_scale,
            min_random_scale, max_img_size, min_img_size: Affine maps before that.
        max_crop_size, min_crop_size, random_resized_crop, max_random_area, min_random_area: Parts that are resized.
        brightness, contrast, saturation, random_h, random_s, random_l, pca_noise: Random colours.
        mean_r, ..., std_r, ..., scale, mean_img, max_random_contrast, max_random_illumination: How values are changed;
            of uint8 none, of int8 by rounded means only.
        dtype: "float32", "uint8" or "int8".
    Raises: MXNetError: a bad parameter, file or image.
    """

    _kind = "ImageRecordIter"
    _reads_ahead = True


class ImageRecordUInt8Iter(ImageRecordIter):
    """ImageRecordIter whose images are uint8, as they are stored."""

    _kind = "ImageRecordUInt8Iter"


class ImageRecordInt8Iter(ImageRecordIter):
    """ImageRecordIter whose images are int8; values above 127 become 127."""

    _kind = "ImageRecordInt8Iter"


class ImageRecordIter_v1(ImageRecordIter):  # noqa: N801 - MXNet's name
    """ImageRecordIter whose index has the ids of the records."""

    _kind = "ImageRecordIter_v1"


class ImageRecordUInt8Iter_v1(ImageRecordIter):  # noqa: N801 - MXNet's name
    """ImageRecordUInt8Iter whose index has the ids of the records."""

    _kind = "ImageRecordUInt8Iter_v1"


class ImageDetRecordIter(MXDataIter):
    """Batches of images with boxes, float32, (batch, channels, rows, columns), of a file that im2rec wrote.

    A record's label is [head, width, ..., objects]: how many numbers come before the objects; how many an object has:
    class, left, top, right, bottom (parts of the image's sides), ... A batch's label is channels, rows and columns of
    the image, how many numbers follow, these, and padding. Boxes change as the images do.

    Args:
        path_imgrec, path_imglist: Paths of the records; of a list with other labels.
        data_shape: Channels (1 or 3), rows, columns.
        batch_size, round_batch, data_name, label_name: See MXDataIter.
        label_width, label_pad_width, label_pad_value: How many numbers each label has (-1: any); what they are padded
            to (0: as many as the longest has) and with.
        rand_crop_prob, min_crop_scales, ..., num_crop_sampler, max_crop_trials: Random parts that are cut out.
        crop_emit_mode, emit_overlap_thresh: Which objects stay in a part.
        rand_pad_prob, max_pad_scale, fill_value, rand_mirror_prob, random_hue_prob, ...: Other random changes.
        resize, resize_mode, inter_method: How images get their size.
        mean_r, ..., std_r, ..., mean_img, scale: Values become (value - mean) / std * scale.
    Raises: MXNetError: a bad parameter, file, image or label.
    """

    _kind = "ImageDetRecordIter"
    _reads_ahead = True
