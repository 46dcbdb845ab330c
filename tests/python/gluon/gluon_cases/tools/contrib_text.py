"""mx.contrib.text: counts, vocabularies, and vectors of tokens from files."""

from __future__ import annotations

import importlib
import os
from collections import Counter

from _case import case

COUNTS = {"b": 2, "a": 2, "c": 5, "d": 1, "<unk>": 7, "E": 2}
FILES = {
    "plain": "a 1 2 3\nb 4 5 6\nc 1 1 1\n",
    "unknown": "a 1 2 3\n<unk> 9 9 9\nb 4 5 6\n",
    "twice": "a 1 2 3\nb 4 5 6\na 7 7 7\n",
    "header": "3 3\na 1 2 3\nb 4 5 6\n",
    "header inside": "a 1 2 3\n7 8\nb 4 5 6",
    "blanks": "a 1 2 3  \nb 4 5 6\n",
    "commas": "a,1,2,3\nb,4,5,6\n",
    "short": "a 1 2 3\nb 4 5\n",
    "no vector": "a 1 2 3\nb\n",
    "words": "a x y z\n",
    "only headers": "a 1\nb 2\n",
    "empty": "",
    "letters": "ä 1 2\nß 3 4\n",
}


def _text(mx, module):
    return importlib.import_module(f"{mx.__name__}.contrib.text.{module}")


def _vocabulary(mx, counts=None, **kwargs):
    return _text(mx, "vocab").Vocabulary(Counter(COUNTS if counts is None else counts), **kwargs)


def _embedding(mx, folder, kind, **kwargs):
    path = os.path.join(folder, f"{kind}.txt")
    with open(path, "w", encoding="utf8") as file:
        file.write(FILES[kind])
    return _text(mx, "embedding").CustomEmbedding(path, **kwargs)


def _all(embedding):
    return [embedding.idx_to_token, embedding.vec_len, embedding.idx_to_vec, embedding.unknown_token, len(embedding)]


@case(most=[None, 0, 1, 3, 100], least=[1, 2, 5], reserved=[None, [], ["<pad>", "a"]], unknown=["<unk>", "?"])
def vocabulary(mx, most, least, reserved, unknown):
    made = _vocabulary(mx, most_freq_count=most, min_freq=least, reserved_tokens=reserved, unknown_token=unknown)
    return [made.idx_to_token, made.token_to_idx, made.reserved_tokens, made.unknown_token, len(made)]


@case(
    arguments=[
        {"min_freq": 0},
        {"min_freq": -1},
        {"reserved_tokens": ["<unk>"]},
        {"reserved_tokens": ["x", "x"]},
        {"counter": {"a": 1}},
        {"counter": ["a"]},
        {},
    ]
)
def bad_vocabularies(mx, arguments):
    return _text(mx, "vocab").Vocabulary(**arguments).idx_to_token


@case(tokens=["c", "zz", "<unk>", ["c", "zz"], [], ("c",), 5, None])
def to_indices(mx, tokens):
    return _vocabulary(mx).to_indices(tokens)


@case(indices=[0, 3, [0, 1], [], 100, -1, "x", 1.0, [1, 100], [1, 2.0]])
def to_tokens(mx, indices):
    return _vocabulary(mx).to_tokens(indices)


@case(
    text=["a b\nc A", "", " a  a\n\nb ", "a,b;c a"],
    delimiters=[
        {},
        {"token_delim": ","},
        {"token_delim": ",", "seq_delim": ";"},
        {"token_delim": r"\s", "seq_delim": "a"},
    ],
    lower=[False, True],
)
def count_tokens(mx, text, delimiters, lower):
    counts = _text(mx, "utils").count_tokens_from_str(text, to_lower=lower, **delimiters)
    return [type(counts).__name__, sorted(counts.items())]


@case
def count_on(mx):
    counts = Counter({"a": 3})
    made = _text(mx, "utils").count_tokens_from_str("a b", counter_to_update=counts)
    return [made is counts, sorted(counts.items())]


@case(kind=list(FILES))
def custom_embedding(mx, folder, kind):
    return _all(_embedding(mx, folder, kind))


@case(kind=["commas", "plain"], delimiter=[",", ";"])
def delimiters(mx, folder, kind, delimiter):
    return _all(_embedding(mx, folder, kind, elem_delim=delimiter))


@case(start=["ones", "zeros"], kind=["plain", "unknown"])
def vector_of_unknown(mx, folder, start, kind):
    return _embedding(mx, folder, kind, init_unknown_vec=getattr(mx.nd, start)).idx_to_vec


@case(kind=["plain", "unknown"], arguments=[{"unknown_token": "a"}, {"unknown_token": "?"}])
def words_of_embeddings(mx, folder, kind, arguments):
    return _all(_embedding(mx, folder, kind, **arguments))


@case(kind=["plain", "unknown"], counts=[{"b": 2, "q": 1}, {"q": 1}, {"a": 1, "b": 2, "c": 3}])
def with_vocabulary(mx, folder, kind, counts):
    return _all(_embedding(mx, folder, kind, vocabulary=_vocabulary(mx, counts)))


@case(differs="Reserved tokens have vectors; 1.9.1 shifts all vectors against the tokens.", words=[["b"], ["p"]])
def reserved_words(mx, folder, words):
    return _all(_embedding(mx, folder, "plain", reserved_tokens=words))


@case(differs="The unknown token's vector alone; 1.9.1 raises an error of an operator.")
def vocabulary_without_words(mx, folder):
    return _all(_embedding(mx, folder, "plain", vocabulary=_vocabulary(mx, {})))


@case(vocabulary=["text", 3])
def with_no_vocabulary(mx, folder, vocabulary):
    return _all(_embedding(mx, folder, "plain", vocabulary=vocabulary))


@case(tokens=["a", "A", "zz", ["a"], ["b", "a"], ["A", "zz", "b"]], lower=[False, True], kind=["plain", "unknown"])
def vectors(mx, folder, tokens, lower, kind):
    return _embedding(mx, folder, kind).get_vecs_by_tokens(tokens, lower_case_backup=lower)


@case(
    tokens=["a", ["a"], ["a", "b"], ["b", "a"], "zz", ["a", "zz"], "<unk>"],
    values=[[0, 5, 1], [[0, 5, 1]], [[0, 5, 1], [7, 8, 9]], [1, 2], 3],
)
def update_vectors(mx, folder, tokens, values):
    embedding = _embedding(mx, folder, "plain")
    embedding.update_token_vectors(tokens, mx.nd.array(values))
    return embedding.idx_to_vec


@case
def update_by_a_list(mx, folder):
    _embedding(mx, folder, "plain").update_token_vectors("a", [1, 2, 3])


@case(parts=[["plain"], ["plain", "unknown"], ["header", "plain", "plain"]], counts=[{"b": 1}, {"a": 1, "q": 2}])
def composite(mx, folder, parts, counts):
    embeddings = [_embedding(mx, folder, kind) for kind in parts]
    return _all(_text(mx, "embedding").CompositeEmbedding(_vocabulary(mx, counts), embeddings))


@case
def composite_of_one(mx, folder):
    return _all(_text(mx, "embedding").CompositeEmbedding(_vocabulary(mx, {"b": 1}), _embedding(mx, folder, "plain")))


@case(what=["vocabulary", "embeddings", "one of them"])
def bad_composites(mx, folder, what):
    good = _embedding(mx, folder, "plain")
    given = {
        "vocabulary": ("text", good),
        "embeddings": (_vocabulary(mx), 3),
        "one of them": (_vocabulary(mx), [good, None]),
    }[what]
    return _all(_text(mx, "embedding").CompositeEmbedding(*given))


@case
def no_file(mx, folder):
    return _text(mx, "embedding").CustomEmbedding(os.path.join(folder, "none.txt"))


@case(name=["glove", "x", "GLOVE"])
def names_of_files(mx, name):
    return _text(mx, "embedding").get_pretrained_file_names(name)


@case
def names_of_embeddings(mx):
    return list(_text(mx, "embedding").get_pretrained_file_names())


@case(name=["custom", "nothing"])
def create_others(mx, name):
    return _text(mx, "embedding").create(name)


@case(name=["glove", "GloVe"], file=["none.txt", "wiki.simple.vec"])
def files_of_others(mx, folder, name, file):
    return _text(mx, "embedding").create(name, pretrained_file_name=file, embedding_root=folder)


@case
def register(mx, folder):
    embedding = _text(mx, "embedding")
    path = os.path.join(folder, "own.txt")
    with open(path, "w") as file:
        file.write(FILES["plain"])

    @embedding.register
    class MyVectors(embedding.CustomEmbedding):
        pass

    return [type(embedding.create("myvectors", pretrained_file_path=path)).__name__]


@case
def register_others(mx):
    return _text(mx, "embedding").register(int)
