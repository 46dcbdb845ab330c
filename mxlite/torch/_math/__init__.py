"""Functions of elements, sums and other reductions, order, and matrices."""
