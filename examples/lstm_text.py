"""Learns to write text letter by letter with an LSTM (Hochreiter and Schmidhuber 1997), the operator RNN.

    python examples/lstm_text.py [--epochs 15] [--seed 1] [--no-picture]

The text is this project's own documents (examples/data/README.md); each tenth paragraph is held out. After every letter
the network says how probable each letter is to be the next. Its measure is the perplexity, exp(mean of -log(probability
of the letter that came)): who guesses among n letters blindly has perplexity n. The network must do better than tables
that count which letter followed which letters (`Counted`). The last lines are a text of its own and its perplexity.
"""

from __future__ import annotations

import collections
import math
import pathlib
import textwrap
import time

import numpy as np
from common import Adam, cross_entropy
from report import HERE, Bar, draw_curves, new_page, options_of, parser_of, parts_of, save

import mxlite as mx
from mxlite import autograd, nd

WIDTH, UNITS, LAYERS = 32, 192, 1  # numbers of a letter, of a state; layers of the LSTM
STREAMS, STEPS = 16, 64  # a batch is 64 letters of each of 16 places in the text
DROPPED = 0.2  # part of the LSTM's outputs that are 0 while training

State = tuple[nd.NDArray, nd.NDArray]  # what the LSTM keeps from letter to letter: outputs and cells


class Writer:
    """Letters -> vectors (Embedding) -> LSTM -> scores of the next letter."""

    def __init__(self, letters: int) -> None:
        self.letters = letters
        # All weights of an LSTM are one vector: the matrices of every layer, then two biases of every layer.
        inputs = [WIDTH] + [UNITS] * (LAYERS - 1)
        matrices = sum(4 * UNITS * (size + UNITS) for size in inputs)
        reach = 1 / math.sqrt(UNITS)
        self.vectors = nd.random.normal(0, 1, shape=(letters, WIDTH))
        self.lstm = nd.random.uniform(-reach, reach, shape=(matrices + LAYERS * 2 * 4 * UNITS,))
        # A positive bias of the forget gates (the second of four) keeps what cells hold, at first.
        self.lstm[matrices:].reshape((2 * LAYERS, 4, UNITS))[:, 1] = 0.5
        self.dense = nd.random.uniform(-reach, reach, shape=(letters, UNITS))
        self.bias = nd.zeros((letters,))
        self.weights = [self.vectors, self.lstm, self.dense, self.bias]

    def start(self, streams: int) -> State:
        """The state before the first letter."""
        shape = (LAYERS, streams, UNITS)
        return nd.zeros(shape), nd.zeros(shape)

    def scores(self, codes: nd.NDArray, state: State) -> tuple[nd.NDArray, State]:
        """Codes of letters (steps, streams) -> scores of the next ones (steps, streams, letters), and the new state."""
        x = nd.Embedding(codes, self.vectors, input_dim=self.letters, output_dim=WIDTH)
        x, outputs, cells = nd.RNN(
            x, self.lstm, *state, mode="lstm", state_size=UNITS, num_layers=LAYERS, p=DROPPED, state_outputs=True
        )
        x = nd.Dropout(x, p=DROPPED)
        return nd.FullyConnected(x, self.dense, self.bias, num_hidden=self.letters, flatten=False), (outputs, cells)


def in_streams(codes: nd.NDArray, streams: int) -> nd.NDArray:
    """A text as columns (steps, streams): each goes on where it is in the text; a rest at the end is left out."""
    length = len(codes) // streams
    return codes[: streams * length].reshape((streams, length)).T


def train_epoch(writer: Writer, adam: Adam, columns: nd.NDArray, rate: float, bar: Bar, text: str) -> float:
    """The whole text once; returns the mean loss. States go on from batch to batch, gradients stay within one."""
    state, losses = writer.start(STREAMS), []
    begins = range(0, len(columns) - 1, STEPS)
    for number, begin in enumerate(begins):
        end = min(begin + STEPS, len(columns) - 1)
        with autograd.record():
            scores, state = writer.scores(columns[begin:end], state)
            loss = cross_entropy(scores, columns[begin + 1 : end + 1])
        loss.backward()
        adam.step(rate, clip=0.1)
        state = state[0].detach(), state[1].detach()
        losses.append(loss.asscalar())
        bar.show(100 * number // len(begins), text)
    bar.clear()
    return float(np.mean(losses))


def perplexity(writer: Writer, codes: nd.NDArray) -> float:
    """That of a whole text, read from its first letter to its last."""
    column = in_streams(codes, 1)
    scores, _ = writer.scores(column[:-1], writer.start(1))
    return math.exp(cross_entropy(scores, column[1:]).asscalar())


def write(writer: Writer, letters: list[str], start: str, length: int, boldness: float = 0.6) -> str:
    """Goes on from `start`: draws a letter by its probability, reads it, and so on. Less boldness, fewer surprises."""
    text, state = start, writer.start(1)
    codes = [letters.index(letter) for letter in start]
    for _ in range(length):
        scores, state = writer.scores(nd.array(codes).reshape((-1, 1)), state)
        drawn = nd.random.multinomial(nd.softmax(scores[-1, 0] / boldness))
        codes = [int(drawn.asscalar())]
        text += letters[codes[0]]
    return text


class Counted:
    """Probabilities by counting: how often a letter followed the `order - 1` letters before it.

    Rare contexts say little, so each count is joined with `trust` times the probability by one letter less.
    """

    def __init__(self, text: str, order: int, letters: int, trust: float = 5.0) -> None:
        self.order, self.letters, self.trust = order, letters, trust
        self.counts = collections.Counter(text[i : i + n] for n in range(order + 1) for i in range(len(text) - n + 1))

    def probability(self, before: str, letter: str) -> float:
        result = 1 / self.letters
        for n in range(min(self.order, len(before) + 1)):
            context = before[len(before) - n :]
            count = self.counts[context + letter] + self.trust * result
            result = count / (self.counts[context] + self.trust)
        return result

    def perplexity(self, text: str) -> float:
        before = self.order - 1
        logs = [math.log(self.probability(text[max(0, i - before) : i], text[i])) for i in range(1, len(text))]
        return math.exp(-sum(logs) / len(logs))


def read_text(path: pathlib.Path) -> tuple[str, str]:
    """The text to learn, and the text that is held out: each tenth line (a line is a paragraph)."""
    lines = path.read_text(encoding="ascii").splitlines(keepends=True)
    return "".join(line for i, line in enumerate(lines) if i % 10 != 9), "".join(lines[9::10])


def print_table(rows: list[tuple[str, float, float]]) -> None:
    print(f"\n{'model':34}{'perplexity: training':>20}{'held out':>12}")
    for name, training, held in rows:
        print(f"{name:34}{training:20.2f}{held:12.2f}")


def draw(path: pathlib.Path, curves: dict[str, list[float]], sample: str) -> None:
    """The perplexities of every epoch, and a text that the network wrote, as one PNG."""
    lines = ["It writes:", "", *sample.splitlines()]
    page = new_page(3.4 + 0.2 * len(lines))
    above, below = parts_of(page, [3.4, 0.2 * len(lines)])
    epochs = range(1, len(curves["training"]) + 1)
    draw_curves(above, "LSTM on text", "epoch", "perplexity (letters)", epochs, curves)
    below.text(0.08, 0.95, "\n".join(lines), fontsize=9, va="top", parse_math=False)
    save(page, path)


def main() -> None:
    options = options_of(parser_of(__doc__, "lstm_text", "epochs", 15))
    mx.random.seed(options.seed)
    train_text, held_text = read_text(HERE / "data" / "prose.txt")
    letters = sorted(set(train_text + held_text))
    train_codes, held_codes = (nd.array([letters.index(each) for each in text]) for text in (train_text, held_text))
    columns = in_streams(train_codes, STREAMS)
    writer = Writer(len(letters))
    adam = Adam(writer.weights)
    bar = Bar(100)
    pair, best = (Counted(train_text, order, len(letters)) for order in (2, 5))
    bigrams = pair.perplexity(held_text)
    curves: dict[str, list[float]] = {"training": [], "held out": [], "held out, bigrams": []}
    print(f"{len(train_text)} letters to learn, {len(held_text)} held out, {len(letters)} different ones")
    print("epoch   training perplexity   held-out perplexity   seconds")
    for epoch in range(1, options.epochs + 1):
        begin = time.perf_counter()
        rate = 0.008 * (1 + math.cos(math.pi * epoch / options.epochs)) / 2 + 0.0001  # half a wave of the cosine
        loss = train_epoch(writer, adam, columns, rate, bar, f"epoch {epoch} of {options.epochs}")
        for name, value in zip(curves, (math.exp(loss), perplexity(writer, held_codes), bigrams)):
            curves[name].append(value)
        seconds = time.perf_counter() - begin
        print(f"{epoch:5}{curves['training'][-1]:22.2f}{curves['held out'][-1]:22.2f}{seconds:10.2f}", flush=True)
    reached = perplexity(writer, held_codes)
    print_table(
        [
            ("every letter alike", len(letters), len(letters)),
            ("counted: pairs of letters (bigram)", pair.perplexity(train_text), bigrams),
            ("counted: five letters in a row", best.perplexity(train_text), best.perplexity(held_text)),
            ("LSTM", perplexity(writer, train_codes), reached),
        ]
    )
    sample = "\n".join(textwrap.wrap(write(writer, letters, "The library ", 400), 90))
    print(f"\nIt writes:\n\n{sample}\n")
    if not options.no_picture:
        draw(options.picture, curves, sample)
        print(f"perplexities: {options.picture}")
    print(f"held-out perplexity {reached:.2f}, of bigrams {bigrams:.2f}")


if __name__ == "__main__":
    main()
