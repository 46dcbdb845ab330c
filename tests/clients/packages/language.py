"""GluonNLP: BERT, recurrent language models, attention, beam search, batches and vocabularies."""

import gluonnlp as nlp
import mxnet as mx
import numpy as np
from gluonnlp.model.bert import BERTEncoder, BERTModel
from kit import answer, draw, gradients, set_parameters


def bert(hybridized):
    sizes = {"units": 32, "hidden_size": 64, "num_layers": 2, "num_heads": 4, "max_length": 16, "dropout": 0.0}
    rest = {"vocab_size": 50, "token_type_vocab_size": 2, "units": 32, "embed_size": 32}
    net = BERTModel(encoder=BERTEncoder(**sizes), use_decoder=True, use_classifier=True, **rest)
    net.initialize(mx.init.Normal(0.1))
    words = mx.nd.array(np.arange(24).reshape(2, 12) % 50)
    given = words, mx.nd.zeros((2, 12)), mx.nd.array([12, 7]), mx.nd.array([[1, 2], [3, 4]])
    net(*given)
    set_parameters(net)
    if hybridized:
        net.hybridize(static_alloc=True)
    return gradients(net, lambda: net(*given))


def language_model(kind):
    dropped = dict.fromkeys(("weight_drop", "drop_h", "drop_i", "drop_e"), 0.0) if kind == "AWDRNN" else {}
    net = getattr(nlp.model, kind)("lstm", 20, 8, 8, 2, tie_weights=False, dropout=0.0, **dropped)
    net.initialize(mx.init.Normal(0.1))
    net(mx.nd.ones((5, 2)), net.begin_state(batch_size=2))
    set_parameters(net)
    return answer(net(mx.nd.array(np.arange(10).reshape(5, 2)), net.begin_state(batch_size=2))[0])


def layers():
    convolutions = nlp.model.ConvolutionalEncoder(embed_size=8, num_filters=(4, 5), ngram_filter_sizes=(1, 2))
    highway = nlp.model.Highway(8, 2)
    attention = nlp.model.MultiHeadAttentionCell(nlp.model.DotProductAttentionCell(scaled=True), 8, 8, 8, 2)
    words, queries = mx.nd.array(draw(1, 5, 2, 8)), mx.nd.array(draw(2, 2, 3, 8))
    found = []
    for net, given in ((convolutions, [words]), (highway, [words[0]]), (attention, [queries, queries])):
        net.initialize()
        net(*given)
        set_parameters(net)
        found.append(net(*given))
    return answer(found)


def search():
    table = mx.nd.array(draw(3, 10, 10))
    scorer = nlp.model.BeamSearchScorer(alpha=0.6, K=5)
    sampler = nlp.model.BeamSearchSampler(
        beam_size=3, eos_id=0, decoder=lambda word, state: (mx.nd.take(table, word), state), scorer=scorer, max_length=6
    )
    return answer(sampler(mx.nd.array([1, 2]), mx.nd.zeros((2, 1))))


def trained(name):
    weight = mx.gluon.Parameter("w", shape=(3,))
    weight.initialize(mx.init.One())
    trainer = mx.gluon.Trainer([weight], name, {"learning_rate": 0.1, "wd": 0.01})
    for _ in range(3):
        with mx.autograd.record():
            loss = (weight.data() * mx.nd.array([1, 2, 3])).sum()
        loss.backward()
        trainer.step(1)
    return answer(weight.data())


def words():
    counts = nlp.data.count_tokens("the quick the fox".split())
    vocab = nlp.Vocab(counts, max_size=3)
    tokens = nlp.data.BERTTokenizer(nlp.vocab.BERTVocab(nlp.data.count_tokens("un ##aff ##able hello".split())))
    batchify = nlp.data.batchify.Tuple(nlp.data.batchify.Pad(pad_val=-1), nlp.data.batchify.Stack())
    buckets = nlp.data.FixedBucketSampler([3, 5, 2, 8, 4, 6], 2, num_buckets=2)
    texts = [
        vocab["the"],
        vocab.to_tokens([0, 1]),
        tokens("unaffable hello"),
        [list(map(int, each)) for each in buckets],
    ]
    return [texts, answer(batchify([([1, 2], 1), ([3], 2)]))]


def run():
    return {
        "bert": bert(False),
        "bert hybridized": bert(True),
        "StandardRNN": language_model("StandardRNN"),
        "AWDRNN": language_model("AWDRNN"),
        "layers": layers(),
        "search": search(),
        "bertadam": trained("bertadam"),
        "lamb": trained("lamb"),
        "words": words(),
    }
