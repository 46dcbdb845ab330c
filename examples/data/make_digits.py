"""Makes digits.u8 from the copy of the UCI digits in scikit-learn (`pip install scikit-learn`).

Nobody has to run this: digits.u8 is part of the tree. It documents how that file was made.
"""

import random
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

SEED = 2026


def main() -> None:
    """Write digits.u8: one record of 65 bytes per image, in an order drawn once."""
    digits = load_digits()
    records = np.column_stack([digits.data, digits.target]).astype(np.uint8)
    order = list(range(len(records)))
    random.Random(SEED).shuffle(order)
    target = Path(__file__).resolve().parent / "digits.u8"
    target.write_bytes(records[order].tobytes())
    print(f"{target}: {len(records)} images, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
