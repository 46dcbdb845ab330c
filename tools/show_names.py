#!/usr/bin/env python3
"""Writes docs/names.md: what became of every public name of MXNet 1.9.1's mx.nd and its modules of dense arrays.

``show_names.py`` prints the page, ``--write`` writes it, ``--check`` fails if it differs; with it goes
mxlite/_cli/differences.json, from which `mxlite names` and `mxlite op` quote. The names are facts of 1.9.1
(tests/reference/names.json); whether one is there is asked of mxlite; where it differs is in the tables of
docs/compatibility.md, by the rows that name it or a case of its operator; why one is refused is below.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import mxlite as mx
from mxlite._cli._names.known import canonical
from mxlite.error import MXAttributeError
from mxlite.ndarray._operators import Operator, operator_names

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/names.md"
QUOTES = ROOT / "mxlite/_cli/differences.json"
COMPATIBILITY = ROOT / "docs/compatibility.md"
NAMES = json.loads((ROOT / "tests/reference/names.json").read_text(encoding="utf-8"))

#: Why names are refused, by their patterns (module/name); the first that fits. Those that fit none are missing.
REFUSED = (
    (
        "nd/gen_* nd/register nd/utils nd/ndarray contrib/ndarray nd/get_* nd/indexing_*"
        " contrib/current_context random/current_context random/numeric_types",
        "a part of 1.9.1's own front end that shows, and no function for its users",
    ),
    ("contrib/uniform", "of arrays of `mx.np`, which mx.np.random.uniform draws"),
    ("contrib/quantize_asym contrib/quantized_rnn", "of quantized recurrent layers, which are left out"),
    ("contrib/count_sketch", "CUDA only: 1.9.1 refuses it on the CPU too"),
    ("contrib/backward_*", "an operator of 1.9.1's backward; here backward is made of other operators"),
    ("numpy/_npi_backward_* numpy/*_backward", "an operator of 1.9.1's backward; here it is made of other operators"),
    ("nd/imdecode", "mx.image.imdecode reads images"),
)

#: Rows that ordinary programs meet, and not in corner cases alone, by their subjects or the beginnings of these: the
#: names that they are about (".name" is a method's), and in brackets an argument, or its value, that a call must have.
ORDINARY = {
    '`mx.kv.create("dist_sync")`': "kv.create(name=dist_sync)",
    "`contrib.amp` with the target float16": "contrib.amp.init contrib.amp.convert_hybrid_block",
    "`RNN` with p while training": "nd.RNN(p) sym.RNN(p) gluon.rnn.RNN(dropout) gluon.rnn.LSTM(dropout)"
    " gluon.rnn.GRU(dropout) rnn.FusedRNNCell(dropout)",
    "`mx.rnn.encode_sentences` with `unknown_token`": "rnn.encode_sentences(unknown_token)",
    "`RNN` with `use_sequence_length`": "nd.RNN(use_sequence_length) sym.RNN(use_sequence_length)",
    "Gluon's recurrent layers with lengths": "gluon.rnn.RNN(use_sequence_length) gluon.rnn.LSTM(use_sequence_length)"
    " gluon.rnn.GRU(use_sequence_length)",
    "`RNN` with `lstm_state_clip_min`": "nd.RNN(lstm_state_clip_min) sym.RNN(lstm_state_clip_min)"
    " gluon.rnn.LSTM(state_clip_min)",
    "files of optimizer states": ".save_states .save_optimizer_states",
    "random numbers": "random.seed",
    "`_sample_unique_zipfian`, probability": "nd.contrib.rand_zipfian",
    "`hybridize(backend=...)`": ".hybridize(backend)",
    "`contrib.text`: `GloVe`, `FastText`": "contrib.text.embedding.GloVe contrib.text.embedding.FastText"
    " contrib.text.embedding.create",
    "the order of shuffled iterators": "io.MNISTIter(shuffle=True) io.ImageRecordIter(shuffle=True)"
    " io.ImageDetRecordIter(shuffle=True)",
    "`CheckpointHandler`": "gluon.contrib.estimator.CheckpointHandler",
    "gradient of `nn.SELU` below 0": "gluon.nn.SELU",
    "gradient of `LeakyReLU` selu below 0": "nd.LeakyReLU(act_type=selu) sym.LeakyReLU(act_type=selu)",
    "`SoftmaxOutput` with `out_grad`": "nd.SoftmaxOutput(out_grad) sym.SoftmaxOutput(out_grad)",
    "`ImageRecordIter`, `ImageDetRecordIter` with samples of 4": "io.ImageRecordIter(aug_seq)"
    " io.ImageDetRecordIter(aug_seq)",
    "`mp_lamb_update_phase2`": "nd.mp_lamb_update_phase2 optimizer.LAMB(multi_precision)",
}

#: Where the names that rows say without their module are looked for, if they are not an operator's.
MODULES = (
    (". autograd contrib contrib.amp contrib.io contrib.text.embedding gluon gluon.contrib.estimator gluon.contrib.nn")
    + (" gluon.contrib.rnn gluon.data gluon.data.dataloader gluon.loss gluon.nn gluon.rnn image io kvstore metric")
    + (" module operator optimizer profiler recordio rnn symbol test_utils util")
).split()

HEAD = """# Names of MXNet 1.9.1

`tools/show_names.py --write` makes this page: what became of every public name of 1.9.1's `mx.nd` and its modules of
dense arrays, and of the operators of its NumPy arrays. A name *works* where nothing is said; it *differs* where rows of
[compatibility.md](compatibility.md#operators) are about it, which are quoted here; it is *refused* for a reason, or
*missing* so far. Using a name that is refused or missing raises an error that says so in a sentence. Rows that hold for
all operators (gradients of every order, arrays without elements) are not repeated.

Which of these names a program uses, whether they stop it and where, `mxlite names FILE` says
([from-mxnet.md](from-mxnet.md#the-first-minute)).
"""


class Row(NamedTuple):
    """A row of docs/compatibility.md: cells, the names in its subject, patterns of operators whose cases it lists."""

    subject: str
    theirs: str
    ours: str
    named: frozenset[str]
    patterns: tuple[str, ...]


def rows() -> list[Row]:
    """The rows of differences from 1.9.1."""
    text = COMPATIBILITY.read_text(encoding="utf-8").split("\n## Where the graph differs from PyTorch")[0]
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    found = []
    for row in cells:
        if len(row) == 5 and row[0] != "subject":
            named = re.findall(r"`(?:x\.|nd\.|mx\.nd\.)?([\w.]+)(?:\(.*?\))?`", row[0])
            patterns = {pattern for pattern in re.findall(r"`case ([^`/]+)/", row[4]) if pattern.strip("*?")}
            found.append(Row(row[0], row[1], row[2], frozenset(named), tuple(sorted(patterns))))
    return found


def spellings(module: str, name: str) -> set[str]:
    """The names that rows may have of a function: its own, and those of its operator."""
    own = {name, f"{module}.{name}"}
    begins = {"nd": "", "numpy": "", "contrib": "_contrib_", "linalg": "_linalg_", "image": "_image_"}
    for operator in (begins.get(module, "_random_") + name, "_sample_" + name if module == "random" else name):
        try:
            own |= {operator, Operator(operator).first_name}
        except MXAttributeError:
            pass
    return own


def differences(module: str, name: str, known: Iterable[Row]) -> list[Row]:
    """The rows that are about a name."""
    own = spellings(module, name)
    return [
        row
        for row in known
        if row.named & own or any(fnmatchcase(each, pattern) for each in own for pattern in row.patterns)
    ]


def reason(module: str, name: str) -> str:
    """Why a name that is not there is refused; "" where it is missing."""
    for patterns, why in REFUSED:
        if any(fnmatchcase(f"{module}/{name}", pattern) for pattern in patterns.split()):
            return why
    return ""


def quoted(names: Iterable[str]) -> str:
    """Names in backticks."""
    return " ".join(f"`{name}`" for name in names)


def listing(names: Iterable[str]) -> str:
    """Names as a paragraph."""
    return "\n".join(textwrap.wrap(quoted(names), 120, break_on_hyphens=False)) + "\n"


def absent(module: str, names: list[str]) -> str:
    """The table of names that are not there, by their reasons."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(reason(module, name), []).append(name)
    table = "| names | state | reason |\n| --- | --- | --- |\n"
    for why, each in sorted(groups.items(), key=lambda group: (not group[0], group[1])):
        table += (
            f"| {' '.join(f'`{name}`' for name in each)} | {'refused' if why else 'missing'} | {why or 'not yet'} |\n"
        )
    return table


def section(module: str, names: list[str], here: set[str], known: list[Row]) -> str:
    """All names of a module: those that work, that differ, that are not there."""
    present = [name for name in names if name in here]
    other = {name: found for name in present if (found := differences(module, name, known))}
    other.pop("numpy", None)  # mx.np, which shares its name with a method
    title = "Operators of NumPy arrays" if module == "numpy" else f"`mx.nd{'' if module == 'nd' else '.' + module}`"
    counts = f"{len(names)} names: {len(present) - len(other)} work, {len(other)} work and differ, "
    missing = [name for name in names if name not in here]
    refused = sum(1 for name in missing if reason(module, name))
    text = f"\n## {title}\n\n{counts}{refused} are refused, {len(missing) - refused} are missing.\n"
    text += f"\n### Work\n\n{listing(name for name in present if name not in other)}"
    if other:
        text += "\n### Differ\n\n| name | where |\n| --- | --- |\n"
        groups: dict[str, list[str]] = {}
        for name, about in other.items():
            groups.setdefault("; ".join(row.subject for row in about), []).append(name)
        for subjects, each in groups.items():
            text += f"| {quoted(each)} | {subjects} |\n"
    if missing:
        text += f"\n### Are not there\n\n{absent(module, missing)}"
    return text


def page() -> str:
    """The whole page."""
    known = rows()
    text = HEAD
    for module, names in NAMES["modules"].items():
        owner = mx.nd if module == "nd" else getattr(mx.nd, module)
        text += section(module, names, {name for name in names if hasattr(owner, name)}, known)
    return text + section("numpy", sorted(NAMES["numpy"]), set(operator_names()), known)


def thing(name: str) -> str:
    """The canonical name of what a name means here, "mod.Module", "nd.exp", or a class's "F1"; "" for nothing."""
    parts = name.split(".")
    for module in MODULES if parts[0][:1].isupper() or len(parts) > 1 else (".",):
        found: object = mx
        for part in [*filter(None, module.split(".")), *parts]:
            try:
                found = getattr(found, part)
            except Exception:  # an error of ours that says what is missing
                break
        else:
            if canonical(found):
                return canonical(found)
    return ""


def ordinary(known: list[Row]) -> dict[str, list[tuple[str, Row]]]:
    """The rows that ordinary programs meet, with the argument that they need, by canonical names and methods."""
    found: dict[str, list[tuple[str, Row]]] = {}
    for subject, calls in ORDINARY.items():
        meant = [each for each in known if each.subject == subject]
        meant = meant or [each for each in known if each.subject.startswith(subject)]
        if len(meant) != 1:
            raise ValueError(f"ORDINARY: {len(meant)} rows begin with {subject}")
        for call in calls.split():
            name, _, argument = call.rstrip(")").partition("(")
            key = name if name.startswith(".") else thing(name)
            if not key:
                raise ValueError(f"ORDINARY: {name} is nothing")
            found.setdefault(key, []).append((argument, meant[0]))
    return found


def quotes() -> str:
    """The differences as JSON: texts, and which are about a name: nd.exp, or what a row's subject calls so.

    "names" has them by names of mx.nd, "things" by what the names mean; "ordinary" those that are no corner cases.
    """
    known, found, things = rows(), {}, {}
    for module, names in NAMES["modules"].items():
        for name in names:
            about = differences(module, name, known)
            found["nd." * (module != "nd") + f"{module}.{name}"] = about
            for key in {thing(("nd." * (module != "nd")) + f"{module}.{name}"), thing(f"sym.{name}")} - {""}:
                things.setdefault(key, []).extend(about)
    for row in known:
        for name in sorted(row.named):
            key = thing(name.replace("mx.", ""))
            if key:
                things.setdefault(key, []).append(row)
    texts: dict[str, int] = {}

    def at(row: Row) -> int:
        return texts.setdefault(f"{row.subject}: 1.9.1: {row.theirs}; here: {row.ours}", len(texts))

    held = {
        "names": {name: sorted({at(row) for row in about}) for name, about in sorted(found.items()) if about},
        "things": {name: sorted({at(row) for row in about}) for name, about in sorted(things.items()) if about},
        "ordinary": {
            name: [[argument, at(row)] for argument, row in about] for name, about in sorted(ordinary(known).items())
        },
    }
    lines = ["{" + f'"texts":{json.dumps(list(texts), ensure_ascii=False, separators=(f",{chr(10)}", ":"))}']
    for part, about in held.items():
        entries = (f"{json.dumps(name)}:{json.dumps(value)}" for name, value in about.items())
        lines.append(f'"{part}":{{' + ",\n".join(entries) + "}")
    return ",\n".join(lines) + "}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--check", action="store_true", help="fail if the page differs")
    arguments = parser.parse_args()
    if arguments.write:
        PAGE.write_text(page(), encoding="utf-8")
        QUOTES.write_text(quotes(), encoding="utf-8")
    elif arguments.check:
        for path, text in ((PAGE, page()), (QUOTES, quotes())):
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                print(f"{path.name} is out of date: run tools/show_names.py --write", file=sys.stderr)
                return 1
    else:
        print(page(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
