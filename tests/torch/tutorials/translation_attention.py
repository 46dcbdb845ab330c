"""Translation with a recurrent encoder and a decoder with additive attention: numbers become their digits' names."""

from __future__ import annotations

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import initial
from torch import optim
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SOS_token, EOS_token, MAX_LENGTH = 0, 1, 6


class Lang:
    def __init__(self, name):
        self.name = name
        self.word2index = {}
        self.index2word = {0: "SOS", 1: "EOS"}
        self.n_words = 2

    def addSentence(self, sentence):
        for word in sentence.split(" "):
            if word not in self.word2index:
                self.word2index[word] = self.n_words
                self.index2word[self.n_words] = word
                self.n_words += 1


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size, dropout_p=0.0):
        super().__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input):
        embedded = self.dropout(self.embedding(input))
        return self.gru(embedded)


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, dropout_p=0.0):
        super().__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, encoder_outputs, encoder_hidden, target_tensor=None):
        batch_size = encoder_outputs.size(0)
        decoder_input = torch.empty(batch_size, 1, dtype=torch.long, device=device).fill_(SOS_token)
        decoder_hidden = encoder_hidden
        decoder_outputs, attentions = [], []
        for i in range(MAX_LENGTH):
            output, decoder_hidden, weights = self.forward_step(decoder_input, decoder_hidden, encoder_outputs)
            decoder_outputs.append(output)
            attentions.append(weights)
            if target_tensor is not None:
                decoder_input = target_tensor[:, i].unsqueeze(1)
            else:
                _, topi = output.topk(1)
                decoder_input = topi.squeeze(-1).detach()
        decoder_outputs = F.log_softmax(torch.cat(decoder_outputs, dim=1), dim=-1)
        return decoder_outputs, decoder_hidden, torch.cat(attentions, dim=1)

    def forward_step(self, input, hidden, encoder_outputs):
        embedded = self.dropout(self.embedding(input))
        query = hidden.permute(1, 0, 2)
        context, weights = self.attention(query, encoder_outputs)
        output, hidden = self.gru(torch.cat((embedded, context), dim=2), hidden)
        return self.out(output), hidden, weights


def prepare(count):
    rng = np.random.default_rng(0)
    names = "nul een twee drie vier vijf zes zeven acht negen".split()
    source, target, pairs = Lang("digits"), Lang("words"), []
    for _ in range(count):
        digits = [str(d) for d in rng.integers(0, 10, rng.integers(2, MAX_LENGTH))]
        pairs.append((" ".join(digits), " ".join(names[int(d)] for d in reversed(digits))))
        source.addSentence(pairs[-1][0])
        target.addSentence(pairs[-1][1])
    return source, target, pairs


def get_dataloader(batch_size, source, target, pairs):
    input_ids = np.zeros((len(pairs), MAX_LENGTH), dtype=np.int32)
    target_ids = np.zeros((len(pairs), MAX_LENGTH), dtype=np.int32)
    for idx, (inp, tgt) in enumerate(pairs):
        inp_ids = [source.word2index[word] for word in inp.split(" ")] + [EOS_token]
        tgt_ids = [target.word2index[word] for word in tgt.split(" ")] + [EOS_token]
        input_ids[idx, : len(inp_ids)] = inp_ids
        target_ids[idx, : len(tgt_ids)] = tgt_ids
    data = TensorDataset(torch.LongTensor(input_ids).to(device), torch.LongTensor(target_ids).to(device))
    print(len(RandomSampler(data)))
    return DataLoader(data, sampler=SequentialSampler(data), batch_size=batch_size)


def train_epoch(dataloader, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion):
    total_loss = 0
    for input_tensor, target_tensor in dataloader:
        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()
        encoder_outputs, encoder_hidden = encoder(input_tensor)
        decoder_outputs, _, _ = decoder(encoder_outputs, encoder_hidden, target_tensor)
        loss = criterion(decoder_outputs.view(-1, decoder_outputs.size(-1)), target_tensor.view(-1))
        loss.backward()
        encoder_optimizer.step()
        decoder_optimizer.step()
        total_loss += loss.item()
    return total_loss / len(dataloader)


if __name__ == "__main__":
    random.seed(0)
    source, target, pairs = prepare(128)
    print(random.choice(pairs), source.n_words, target.n_words)
    train_dataloader = get_dataloader(32, source, target, pairs)
    encoder = initial(EncoderRNN(source.n_words, 32), 1).to(device)
    decoder = initial(AttnDecoderRNN(32, target.n_words), 2).to(device)
    print(decoder)
    optimizers = [optim.Adam(each.parameters(), lr=0.01) for each in (encoder, decoder)]
    for epoch in range(1, 5):
        print(epoch, train_epoch(train_dataloader, encoder, decoder, *optimizers, nn.NLLLoss()))
    encoder.eval()
    decoder.eval()
    with torch.no_grad():
        inputs, _ = next(iter(train_dataloader))
        outputs, hidden, attention = decoder(*encoder(inputs[:2]))
        print(outputs.exp().max(-1)[0][:, 0], attention.shape, attention.sum(-1)[0], hidden.abs().mean())
