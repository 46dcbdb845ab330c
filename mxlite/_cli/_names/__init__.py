"""What ``mxlite names`` is made of: sources, what they use and where, and what becomes of it here."""
