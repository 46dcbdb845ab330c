"""Recurrent layers and cells: with states and without, packed in a network of one's own."""

from __future__ import annotations

from typing_extensions import assert_type

from mxlite import gluon, nd
from mxlite.gluon import nn, rnn

States = list[nd.NDArray]


class Tagger(gluon.Block):
    """Scores for each step of a sequence (time, batch)."""

    def __init__(self, words: int, tags: int) -> None:
        super().__init__()
        with self.name_scope():
            self.embed = nn.Embedding(words, 6)
            self.lstm = rnn.LSTM(8, num_layers=2, bidirectional=True)
            self.out = nn.Dense(tags, flatten=False)

    def forward(self, words: nd.NDArray, states: States) -> tuple[nd.NDArray, States]:
        hidden, states = self.lstm(self.embed(words), states)
        return self.out(hidden), states


def main() -> None:
    tagger = Tagger(10, 3)
    tagger.initialize()
    scores, states = tagger(nd.array([[1, 2], [3, 4], [5, 6]]), tagger.lstm.begin_state(batch_size=2))
    assert scores.shape == (3, 2, 3) and [each.shape for each in states] == [(4, 2, 8)] * 2
    gru = rnn.GRU(4, layout="NTC")
    gru.initialize()
    x = nd.ones((2, 3, 5))
    assert_type(gru(x), nd.NDArray)
    assert_type(gru(x, gru.begin_state(2)), tuple[nd.NDArray, list[nd.NDArray]])
    cell = rnn.LSTMCell(4)
    cell.initialize()
    state: States = cell.begin_state(batch_size=2)
    for step in range(3):
        output, state = cell(x[:, step], state)
        assert_type(output, nd.NDArray)
    outputs, state = cell.unroll(3, x, layout="NTC", merge_outputs=True)
    assert outputs.shape == (2, 3, 4)


if __name__ == "__main__":
    main()
