"""Functions that make tensors: of a shape, of data, at random."""
