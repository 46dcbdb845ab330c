"""Writes facts.json: PyTorch's own answers to expressions.py. Run with the Python that has torch==2.13.0."""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))

import ask
import expressions
import texts
import torch


def main() -> None:
    """Asks PyTorch everything."""
    facts = {
        "torch": torch.__version__,
        "graph": {each: ask.graph_answer(torch, each) for each in expressions.GRAPH},
        "texts": {each: ask.text_answer(torch, each) for each in texts.TEXTS},
    }
    with open(ask.FACTS, "w", encoding="utf-8") as file:
        json.dump(facts, file, separators=(",", ":"), sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
