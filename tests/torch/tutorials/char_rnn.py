"""A character-level RNN that tells languages apart; the words come from three made-up languages."""

from __future__ import annotations

import string

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import initial
from torch.utils.data import DataLoader, Dataset, random_split

allowed_characters = string.ascii_lowercase + " '"
n_letters = len(allowed_characters)
LANGUAGES = {"Vowish": ("aeiou", "lmnr"), "Klackish": ("ktpx", "ao"), "Sussian": ("szv", "iey")}


def make_words(count: int, seed: int) -> list[tuple[str, str]]:
    rng = np.random.default_rng(seed)
    words = []
    for _ in range(count):
        name = list(LANGUAGES)[rng.integers(len(LANGUAGES))]
        often, seldom = LANGUAGES[name]
        letters = [rng.choice(list(often if rng.random() < 0.6 else seldom)) for _ in range(rng.integers(3, 9))]
        words.append(("".join(letters), name))
    return words


def letterToIndex(letter: str) -> int:
    return allowed_characters.find(letter)


def lineToTensor(line: str) -> torch.Tensor:
    tensor = torch.zeros(len(line), 1, n_letters)
    for li, letter in enumerate(line):
        tensor[li][0][letterToIndex(letter)] = 1
    return tensor


class NamesDataset(Dataset):
    def __init__(self, words):
        self.labels_uniq = sorted({label for _, label in words})
        self.data = [word for word, _ in words]
        self.data_tensors = [lineToTensor(word) for word in self.data]
        self.labels_tensors = [torch.tensor([self.labels_uniq.index(label)], dtype=torch.long) for _, label in words]

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        return self.labels_tensors[idx], self.data_tensors[idx], self.data[idx]


class CharRNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, line_tensor):
        rnn_out, hidden = self.rnn(line_tensor)
        return self.softmax(self.h2o(hidden[0]))


def label_from_output(output, output_labels):
    top_n, top_i = output.topk(1)
    label_i = top_i[0].item()
    return output_labels[label_i], label_i


def train(rnn, data, n_epoch=4, batch_size=16, learning_rate=0.15, criterion=F.nll_loss):
    rnn.train()
    optimizer = torch.optim.SGD(rnn.parameters(), lr=learning_rate)
    rng = np.random.default_rng(3)
    all_losses = []
    for epoch in range(1, n_epoch + 1):
        current = 0.0
        order = rng.permutation(len(data))
        batches = np.array_split(order, len(order) // batch_size)
        for batch in batches:
            batch_loss = 0
            for i in batch:
                label, line, _ = data[int(i)]
                batch_loss += criterion(rnn(line), label)
            batch_loss.backward()
            nn.utils.clip_grad_norm_(rnn.parameters(), 3)
            optimizer.step()
            optimizer.zero_grad()
            current += batch_loss.item() / len(batch)
        all_losses.append(current / len(batches))
        print(f"{epoch} ({epoch / n_epoch:.0%}): average batch loss = {all_losses[-1]:.6f}")
    return all_losses


def evaluate(rnn, data, classes):
    confusion = torch.zeros(len(classes), len(classes))
    rnn.eval()
    with torch.no_grad():
        for label, line, _ in DataLoader(data, batch_size=None):
            guess, guess_i = label_from_output(rnn(line), classes)
            confusion[label.item()][guess_i] += 1
    for i in range(len(classes)):
        denominator = confusion[i].sum()
        if denominator > 0:
            confusion[i] = confusion[i] / denominator
    return confusion


if __name__ == "__main__":
    print(lineToTensor("ab").shape, F.one_hot(torch.tensor([letterToIndex("c")]), n_letters).argmax())
    dataset = NamesDataset(make_words(160, 1))
    held = NamesDataset(make_words(60, 2))
    parts = random_split(dataset, [0.75, 0.25], generator=torch.Generator().manual_seed(2024))
    print("examples", len(dataset), "parts", [len(part) for part in parts])
    model = initial(CharRNN(n_letters, 32, len(dataset.labels_uniq)), 0)
    print(model)
    output = model(lineToTensor("albert"))
    print(output, label_from_output(output, dataset.labels_uniq))
    train(model, dataset)
    print(evaluate(model, held, dataset.labels_uniq))
