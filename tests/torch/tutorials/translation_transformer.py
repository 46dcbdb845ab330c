"""Translation with nn.Transformer: numbers in digits become numbers in words."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn as nn
from seeded import initial
from torch import Tensor
from torch.nn import Transformer
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
WORDS = "zero one two three four five six seven eight nine".split()
UNK_IDX, PAD_IDX, BOS_IDX, EOS_IDX = 0, 1, 2, 3
vocab = {"src": {str(d): 4 + d for d in range(10)}, "tgt": {word: 4 + i for i, word in enumerate(WORDS)}}


class PositionalEncoding(nn.Module):
    def __init__(self, emb_size: int, dropout: float, maxlen: int = 50):
        super().__init__()
        den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        pos_embedding = torch.zeros((maxlen, emb_size))
        pos_embedding[:, 0::2] = torch.sin(pos * den)
        pos_embedding[:, 1::2] = torch.cos(pos * den)
        pos_embedding = pos_embedding.unsqueeze(-2)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pos_embedding", pos_embedding)

    def forward(self, token_embedding: Tensor):
        return self.dropout(token_embedding + self.pos_embedding[: token_embedding.size(0), :])


class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size: int, emb_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_size)
        self.emb_size = emb_size

    def forward(self, tokens: Tensor):
        return self.embedding(tokens.long()) * math.sqrt(self.emb_size)


class Seq2SeqTransformer(nn.Module):
    def __init__(self, layers: int, emb_size: int, nhead: int, src_size: int, tgt_size: int, feedforward: int):
        super().__init__()
        self.transformer = Transformer(emb_size, nhead, layers, layers, feedforward, dropout=0.0)
        self.generator = nn.Linear(emb_size, tgt_size)
        self.src_tok_emb = TokenEmbedding(src_size, emb_size)
        self.tgt_tok_emb = TokenEmbedding(tgt_size, emb_size)
        self.positional_encoding = PositionalEncoding(emb_size, dropout=0.0)

    def forward(self, src, trg, src_mask, tgt_mask, src_padding_mask, tgt_padding_mask, memory_key_padding_mask):
        src_emb = self.positional_encoding(self.src_tok_emb(src))
        tgt_emb = self.positional_encoding(self.tgt_tok_emb(trg))
        outs = self.transformer(
            src_emb, tgt_emb, src_mask, tgt_mask, None, src_padding_mask, tgt_padding_mask, memory_key_padding_mask
        )
        return self.generator(outs)

    def encode(self, src: Tensor, src_mask: Tensor):
        return self.transformer.encoder(self.positional_encoding(self.src_tok_emb(src)), src_mask)

    def decode(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor):
        return self.transformer.decoder(self.positional_encoding(self.tgt_tok_emb(tgt)), memory, tgt_mask)


def generate_square_subsequent_mask(sz):
    mask = (torch.triu(torch.ones((sz, sz), device=DEVICE)) == 1).transpose(0, 1)
    return mask.float().masked_fill(mask == 0, float("-inf")).masked_fill(mask == 1, 0.0)


def create_mask(src, tgt):
    src_seq_len, tgt_seq_len = src.shape[0], tgt.shape[0]
    tgt_mask = generate_square_subsequent_mask(tgt_seq_len).bool()
    src_mask = torch.zeros((src_seq_len, src_seq_len), device=DEVICE).type(torch.bool)
    return src_mask, tgt_mask, (src == PAD_IDX).transpose(0, 1), (tgt == PAD_IDX).transpose(0, 1)


def tensor_of(tokens: list[str], side: str) -> Tensor:
    ids = [vocab[side].get(token, UNK_IDX) for token in tokens]
    return torch.cat((torch.tensor([BOS_IDX]), torch.tensor(ids), torch.tensor([EOS_IDX])))


def collate_fn(batch):
    src = [tensor_of(list(text), "src") for text, _ in batch]
    tgt = [tensor_of(words.split(), "tgt") for _, words in batch]
    return pad_sequence(src, padding_value=PAD_IDX), pad_sequence(tgt, padding_value=PAD_IDX)


def pairs(count: int, seed: int) -> list[tuple[str, str]]:
    texts = [str(each) for each in np.random.default_rng(seed).integers(1, 10000, count)]
    return [(text, " ".join(WORDS[int(d)] for d in text)) for text in texts]


def run_epoch(model, loss_fn, data, optimizer=None):
    model.train(optimizer is not None)
    losses = []
    for src, tgt in DataLoader(data, batch_size=32, collate_fn=collate_fn):
        src, tgt = src.to(DEVICE), tgt.to(DEVICE)
        tgt_input = tgt[:-1, :]
        src_mask, tgt_mask, src_padding, tgt_padding = create_mask(src, tgt_input)
        with torch.set_grad_enabled(optimizer is not None):
            logits = model(src, tgt_input, src_mask, tgt_mask, src_padding, tgt_padding, src_padding)
            loss = loss_fn(logits.reshape(-1, logits.shape[-1]), tgt[1:, :].reshape(-1))
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def translate(model: nn.Module, text: str) -> str:
    model.eval()
    src = tensor_of(list(text), "src").view(-1, 1)
    with torch.no_grad():
        memory = model.encode(src, torch.zeros(src.shape[0], src.shape[0]).type(torch.bool))
        ys = torch.ones(1, 1).fill_(BOS_IDX).type(torch.long)
        for _ in range(len(text) + 2):
            mask = generate_square_subsequent_mask(ys.size(0)).type(torch.bool)
            prob = model.generator(model.decode(ys, memory, mask).transpose(0, 1)[:, -1])
            _, next_word = torch.max(prob, dim=1)
            ys = torch.cat([ys, torch.ones(1, 1).type_as(src.data).fill_(next_word.item())], dim=0)
            if next_word.item() == EOS_IDX:
                break
    names = {number: word for word, number in vocab["tgt"].items()}
    return " ".join(names.get(int(each), "-") for each in ys.flatten())


if __name__ == "__main__":
    model = initial(Seq2SeqTransformer(2, 32, 4, 14, 14, 64), 0).to(DEVICE)
    print(sum(p.numel() for p in model.parameters()), generate_square_subsequent_mask(3))
    loss_fn = torch.nn.CrossEntropyLoss(ignore_index=PAD_IDX)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003, betas=(0.9, 0.98), eps=1e-9)
    for epoch in range(1, 4):
        train_loss = run_epoch(model, loss_fn, pairs(192, 1), optimizer)
        val_loss = run_epoch(model, loss_fn, pairs(64, 2))
        print(f"Epoch: {epoch}, Train loss: {train_loss:.5f}, Val loss: {val_loss:.5f}")
    print(translate(model, "407").split()[0])
