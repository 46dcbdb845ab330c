"""Functions of NumPy arrays that front ends share and that no operator has: positions, and special functions."""
