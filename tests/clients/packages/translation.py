"""Sockeye: a transformer that learns to turn lines of digits around; it must come to know more than chance."""

import contextlib
import io
import random
import tempfile
from pathlib import Path
from unittest import mock

OPTIONS = """
--use-cpu --num-layers 1:1 --transformer-model-size 32 --transformer-attention-heads 4
--transformer-feed-forward-num-hidden 64 --batch-size 100 --batch-type word --checkpoint-interval 60
--max-num-checkpoint-not-improved 3 --max-updates 120 --decode-and-evaluate 0 --initial-learning-rate 0.003 --seed 1
--max-seq-len 12 --no-bucketing --quiet
"""


def write(folder, name, lines):
    dice = random.Random(name)
    rows = [[str(dice.randint(0, 9)) for _ in range(dice.randint(3, 8))] for _ in range(lines)]
    (folder / f"{name}.src").write_text("".join(" ".join(row) + "\n" for row in rows))
    (folder / f"{name}.tgt").write_text("".join(" ".join(reversed(row)) + "\n" for row in rows))


def run():
    from sockeye import train, translate

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, "train", 400)
        write(folder, "dev", 40)
        files = f"-s {name}/train.src -t {name}/train.tgt -vs {name}/dev.src -vt {name}/dev.tgt -o {name}/model"
        with (
            mock.patch("sys.argv", ["train", *files.split(), *OPTIONS.split()]),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            train.main()
        metrics = (folder / "model" / "metrics").read_text().split()
        perplexity = min(float(each.split("=")[1]) for each in metrics if each.startswith("perplexity-val="))
        asked = f"-m {name}/model -i {name}/dev.src -o {name}/out --use-cpu --beam-size 2 --quiet"
        with mock.patch("sys.argv", ["translate", *asked.split()]):
            translate.main()
        lines = (folder / "out").read_text().splitlines()
    return {"perplexity": perplexity < 9.5, "lines": len(lines)}
