"""A picture of bytes: cut, turned, filtered, counted; then noise is taken away by descending a gradient."""

import numpy as np
from mxnet import autograd, nd

HEIGHT, WIDTH = 24, 32


def picture():
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    disc = (y - 12) ** 2 + (x - 14) ** 2 < 64
    return nd.array(np.where(disc, 200, 40) + (x % 8 == 0) * 30, dtype="uint8")


def filtered(image, weights):
    """A cross-correlation of 3 x 3 over (height, width), zeros around."""
    around = nd.pad(
        image.expand_dims(0).expand_dims(0), mode="constant", constant_value=0, pad_width=(0,) * 4 + (1,) * 4
    )
    shifted = [around[0, 0, i : i + HEIGHT, j : j + WIDTH] for i in range(3) for j in range(3)]
    return nd.dot(weights.reshape((1, 9)), nd.stack(*shifted).reshape((9, -1))).reshape((HEIGHT, WIDTH))


def denoise(noisy, strength=0.15, steps=30):
    """Few differences between neighbours, and not far from what was seen."""
    image, course = noisy.copy(), []
    image.attach_grad()
    for _ in range(steps):
        with autograd.record():
            down, right = image[1:] - image[:-1], image[:, 1:] - image[:, :-1]
            roughness = nd.sqrt(down**2 + 1e-3).sum() + nd.sqrt(right**2 + 1e-3).sum()
            cost = ((image - noisy) ** 2).sum() + strength * roughness
        cost.backward()
        image -= 0.05 * image.grad
        course.append(cost.asscalar())
    return image, course


def run():
    image = picture()
    light = image.astype("float32") / 255
    edges = filtered(light, nd.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]]))
    noisy = light + nd.array(np.random.RandomState(4).randn(HEIGHT, WIDTH) * 0.1)
    clean, course = denoise(noisy)
    changed = image.copy()
    changed[2:6, ::4] = 255
    changed[:, -1] = nd.arange(HEIGHT)
    changed[[0, HEIGHT - 1], [0, 0]] = 7
    changed[10:12] += 250
    counts, bounds = nd.histogram(light, bins=8, range=(0, 1))
    blocks = light.reshape((HEIGHT // 4, 4, WIDTH // 4, 4)).mean(axis=(1, 3))
    return {
        "sums": nd.stack(image.sum(), nd.flip(image, axis=1)[:, :5].sum(), image.T[3].sum(), image[5, ::-2].sum()),
        "changed": changed,
        "bright": (image > 100).sum(axis=1),
        "where": nd.where(image > 100, image, nd.zeros_like(image))[12],
        "edges": edges,
        "counts": counts,
        "bounds": bounds,
        "blocks": blocks,
        "larger": nd.repeat(nd.repeat(blocks, 2, axis=0), 2, axis=1)[3:6],
        "deep": nd.space_to_depth(light.reshape((1, 1, HEIGHT, WIDTH)), 4).mean(axis=(0, 2, 3)),
        "course": course,
        "clean": clean,
        "error": nd.stack((noisy - light).norm(), (clean - light).norm()),
        "half": nd.clip(nd.round(clean * 4), 0, 4).astype("int8"),
    }
