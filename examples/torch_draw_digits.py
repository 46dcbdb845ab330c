"""Learns to draw digits: a deep convolutional generator against a discriminator (DCGAN).

    mxlite run --as torch examples/torch_draw_digits.py [--steps 800] [--seed 1] [--no-picture]

The discriminator learns to tell real images from drawn ones, the generator to draw what it takes for real (Radford et
al. 2016): transposed convolutions, batch normalisation, two Adams, and labels of 1 and 0. All random numbers are
NumPy's, so that they are the same on every library. The program runs on PyTorch as it stands.
"""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from report import Bar, digit_records, draw_curves, draw_images, new_page, options_of, parser_of, parts_of, save

NOISE, MAPS, BATCH, ROWS = 16, 24, 64, 10


class Generator(nn.Module):
    """Noise (n, 16, 1, 1) -> images (n, 1, 8, 8) in -1 .. 1."""

    def __init__(self) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(NOISE, MAPS * 4, 2, 1, 0, bias=False),
            nn.BatchNorm2d(MAPS * 4),
            nn.ReLU(True),
            nn.ConvTranspose2d(MAPS * 4, MAPS * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(MAPS * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(MAPS * 2, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self.main(input)


class Discriminator(nn.Module):
    """Images (n, 1, 8, 8) -> the probability that each is real (n, 1, 1, 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, MAPS, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(MAPS, MAPS * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(MAPS * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(MAPS * 2, 1, 2, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self.main(input)


def weights_init(numbers: np.random.Generator) -> Callable[[nn.Module], None]:
    """What `apply` calls for each module: convolutions of spread 0.05, normalisations around 1."""

    def init(m: nn.Module) -> None:
        classname = m.__class__.__name__
        if classname.find("Conv") != -1:
            m.weight.data.copy_(torch.from_numpy(numbers.normal(0.0, 0.05, tuple(m.weight.shape))))
        elif classname.find("BatchNorm") != -1:
            m.weight.data.copy_(torch.from_numpy(numbers.normal(1.0, 0.02, tuple(m.weight.shape))))
            nn.init.constant_(m.bias.data, 0)

    return init


def distance(some: torch.Tensor, others: torch.Tensor, directions: torch.Tensor) -> float:
    """The sliced Wasserstein distance of two sets of as many images, of ink from 0 to 1."""
    some, others = ((each.reshape(-1, 64) / 2 @ directions).sort(dim=0)[0] for each in (some, others))
    return (some - others).abs().mean().item()


def main() -> None:
    options = options_of(parser_of(__doc__, "torch_draw_digits", "steps", 800))
    numbers = np.random.default_rng(options.seed)
    images = torch.from_numpy(digit_records()[0] / 8 - 1).float().reshape(-1, 1, 8, 8)
    netG, netD = Generator(), Discriminator()
    netG.apply(weights_init(numbers))
    netD.apply(weights_init(numbers))
    criterion = nn.BCELoss()
    optimizerD = optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.999))

    def noise(count: int) -> torch.Tensor:
        return torch.from_numpy(numbers.normal(size=(count, NOISE, 1, 1))).float()

    fixed_noise, directions = noise(360), torch.from_numpy(numbers.normal(size=(64, 100))).float()
    directions /= directions.norm(dim=0)
    steps: list[int] = []
    curves: dict[str, list[float]] = {"drawn": [], "real": []}
    rows: list[tuple[str, torch.Tensor]] = []
    floor = distance(images[:360], images[1437:], directions)
    shown = {max(1, options.steps * part // ROWS) for part in range(1, ROWS + 1)}
    bar, begin = Bar(options.steps), time.perf_counter()
    print(" step   loss D   loss G   D(x)   D(G(z))   distance   seconds")
    for step in range(1, options.steps + 1):
        real = images[torch.from_numpy(numbers.integers(0, 1437, BATCH))]
        label = torch.full((BATCH,), 1.0, dtype=torch.float)
        netD.zero_grad()
        output = netD(real).view(-1)
        errD_real = criterion(output, label * 0.9)
        errD_real.backward()
        D_x = output.mean().item()
        fake = netG(noise(BATCH))
        errD_fake = criterion(netD(fake.detach()).view(-1), label.fill_(0.0))
        errD_fake.backward()
        optimizerD.step()
        netG.zero_grad()
        output = netD(fake).view(-1)
        errG = criterion(output, label.fill_(1.0))
        errG.backward()
        optimizerG.step()
        bar.show(step, f"step {step} of {options.steps}")
        if step in shown:
            with torch.no_grad():
                drawn = netG(fixed_noise).detach().cpu()
            steps.append(step)
            curves["drawn"].append(distance(drawn, images[1437:], directions))
            curves["real"].append(floor)
            bar.clear()
            loss, seconds = (errD_real + errD_fake).item(), time.perf_counter() - begin
            print(f"{step:5}{loss:9.4f}{errG.item():9.4f}{D_x:7.3f}{output.mean().item():10.3f}"
                  f"{curves['drawn'][-1]:11.4f}{seconds:10.2f}", flush=True)  # fmt: skip
            if len(steps) in (1, 3, ROWS):
                rows.append((f"step {step}", drawn))
    if not options.no_picture:
        draw(options.picture, steps, curves, [*rows, ("real", images[1437:])])
        print(f"distances and drawn digits: {options.picture}")
    print(f"distance {curves['drawn'][-1]:.4f} after training, {floor:.4f} of real digits")


def draw(
    path: pathlib.Path, steps: list[int], curves: dict[str, list[float]], rows: list[tuple[str, torch.Tensor]]
) -> None:
    """The distances, and a row of images for each name, as one PNG."""
    page = new_page(3.4 + 0.95 * len(rows))
    parts = parts_of(page, [3.4] + [0.95] * len(rows))
    title = "DCGAN: how far drawn digits are from held-out ones"
    draw_curves(parts[0], title, "step", "sliced Wasserstein distance (ink, 0 to 1)", steps, curves)
    for part, (name, images) in zip(parts[1:], rows):
        draw_images(part, name, [((image + 1) * 8).numpy().reshape(8, 8) for image in images[:12]], [], 12)
    save(page, path)


if __name__ == "__main__":
    main()
