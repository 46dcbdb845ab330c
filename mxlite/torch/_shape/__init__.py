"""Functions that give the same elements in another shape, parts of them, and elements by keys, indices and masks."""
