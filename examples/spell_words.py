"""Learns how words are spelled, with LSTM cells of mx.rnn and a BucketingModule, which has a network for each length.

    python examples/spell_words.py [--epochs 12] [--seed 1] [--no-picture]

The words are those of this project's documents (examples/data/README.md), each once; each tenth is held out. A batch
has words of about one length (`BucketSentenceIter`), so little of it is padding; the networks of all lengths share
their weights. The measure is the perplexity of a letter, as in lstm_text.py, of words that were never read; the network
must do better than counts of which letter follows which. At the end it spells words of its own, letter by letter: by a
network of one step, whose inputs are the letter and the states that the step before gave.
"""

from __future__ import annotations

import pathlib
import random
import re
from typing import Any

import numpy as np
from lstm_text import Counted
from report import HERE, draw_curves, new_page, options_of, parser_of, parts_of, save

import mxlite as mx

WIDTH, UNITS, BATCH = 24, 96, 16  # numbers of a letter and of a state, words of a batch
BUCKETS = [5, 7, 9, 11, 14]  # lengths, with the signs of the begin and the end
END, PADDING = "\n", 0


def read_words(path: pathlib.Path) -> tuple[list[str], list[str]]:
    """The different words, in small letters: those to learn, and each tenth, which is held out."""
    text = path.read_text(encoding="ascii").lower()
    found = sorted(word for word in set(re.findall(r"[a-z]+", text)) if 3 <= len(word) <= BUCKETS[-1] - 2)
    random.shuffle(found)
    return found[len(found) // 10 :], found[: len(found) // 10]


def cells() -> mx.rnn.SequentialRNNCell:
    """Two layers of LSTM, which know no length."""
    stack = mx.rnn.SequentialRNNCell()
    for layer in range(2):
        stack.add(mx.rnn.LSTMCell(UNITS, prefix=f"lstm{layer}_"))
        stack.add(mx.rnn.DropoutCell(0.2, prefix=f"dropout{layer}_"))
    return stack


def scores(stack: Any, length: int, letters: int, states: Any = None) -> tuple[Any, Any]:
    """A network of so many steps: scores of each next letter (batch * length, letters), and the last states."""
    x = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=letters, output_dim=WIDTH, name="embed")
    x, states = stack.unroll(length, x, begin_state=states, layout="NTC", merge_outputs=True)
    x = mx.sym.reshape(x, shape=(-1, UNITS))
    return mx.sym.FullyConnected(x, num_hidden=letters, name="scores"), states


def trained(words: list[list[int]], held: list[list[int]], letters: int, epochs: int) -> tuple[Any, Any, dict]:
    """The cells, the module, and the perplexities of every epoch."""
    stack = cells()

    def network(length: int) -> tuple:
        label = mx.sym.reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
        found, _ = scores(stack, length, letters)
        loss = mx.sym.SoftmaxOutput(
            found, label, use_ignore=True, ignore_label=PADDING, normalization="valid", name="softmax"
        )
        return loss, ["data"], ["softmax_label"]

    source = mx.rnn.BucketSentenceIter(words, BATCH, BUCKETS, PADDING)
    other = mx.rnn.BucketSentenceIter(held, 1, BUCKETS, PADDING)  # what does not fill a batch would be left out
    model = mx.mod.BucketingModule(network, default_bucket_key=source.default_bucket_key)
    model.bind(source.provide_data, source.provide_label)
    model.init_params(mx.init.Xavier())
    model.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": 0.004, "rescale_grad": 1.0})
    measure = mx.metric.Perplexity(PADDING)
    curves: dict[str, list[float]] = {"training": [], "held out": []}
    print("epoch   training perplexity   held-out perplexity")
    for epoch in range(1, epochs + 1):
        measure.reset()
        source.reset()
        for batch in source:
            model.forward_backward(batch)
            model.update()
            model.update_metric(measure, batch.label)
        curves["training"].append(measure.get()[1])
        curves["held out"].append(model.score(other, measure)[0][1])
        print(f"{epoch:5}{curves['training'][-1]:22.2f}{curves['held out'][-1]:22.2f}", flush=True)
    return stack, model, curves


class Speller:
    """A network of one step with the weights of a module."""

    def __init__(self, stack: Any, model: Any, letters: list[str]) -> None:
        self.letters = letters
        first = stack.begin_state(func=mx.sym.var)
        found, states = scores(stack, 1, len(letters), first)
        self.names = [each.name for each in first]
        network = mx.sym.Group([mx.sym.softmax(found / 0.7), *states])
        shapes = dict.fromkeys(self.names, (1, UNITS))
        self.step = network.simple_bind(mx.cpu(), grad_req="null", data=(1, 1), **shapes)
        self.step.copy_params_from(*model.get_params(), allow_extra_params=True)

    def spell(self) -> str:
        """A word, drawn letter by letter."""
        word, letter = "", self.letters.index(END)
        states = [mx.nd.zeros((1, UNITS)) for _ in self.names]
        while len(word) < 20:
            given = dict(zip(self.names, states))
            chances, *states = self.step.forward(is_train=False, data=mx.nd.array([[letter]]), **given)
            states = [each.copy() for each in states]
            letter = int(mx.nd.random.multinomial(chances).asscalar())
            if self.letters[letter] == END:
                break
            word += self.letters[letter]
        return word


def main() -> None:
    options = options_of(parser_of(__doc__, "spell_words", "epochs", 12))
    mx.random.seed(options.seed)
    random.seed(options.seed)
    np.random.seed(options.seed)
    words, held = read_words(HERE / "data" / "prose.txt")
    spelled, numbers = mx.rnn.encode_sentences([f"{END}{word}{END}" for word in words], None, PADDING, "", 1)
    unread, _ = mx.rnn.encode_sentences([f"{END}{word}{END}" for word in held], numbers)
    letters = sorted(numbers, key=lambda letter: numbers[letter])
    print(f"{len(words)} words to learn, {len(held)} held out, {len(letters) - 1} different letters")
    stack, model, curves = trained(spelled, unread, len(letters), options.epochs)
    counted = Counted(END + END.join(words) + END, 2, len(letters) - 1).perplexity(END + END.join(held) + END)
    speller = Speller(stack, model, letters)
    new = sorted({speller.spell() for _ in range(60)} - {*words, *held}, key=lambda word: (len(word), word))[-40:]
    lines = [" ".join(new[i : i + 8]) for i in range(0, len(new), 8)]
    print("\nWords of its own:\n", *lines, "", sep="\n")
    if not options.no_picture:
        page = new_page(4.6)
        above, below = parts_of(page, [3.4, 1.2])
        curves["held out, pairs counted"] = [counted] * options.epochs
        draw_curves(
            above, "How words are spelled", "epoch", "perplexity (letters)", range(1, options.epochs + 1), curves
        )
        below.text(0.08, 0.95, "\n".join(["Words of its own:", *lines]), fontsize=9, va="top", parse_math=False)
        save(page, options.picture)
        print(f"perplexities: {options.picture}")
    print(f"held-out perplexity {curves['held out'][-1]:.2f}, of pairs of letters {counted:.2f}")


if __name__ == "__main__":
    main()
