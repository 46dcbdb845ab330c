"""Modules that Python has no longer, for programs of `mxlite run`: what old training scripts take from them."""
