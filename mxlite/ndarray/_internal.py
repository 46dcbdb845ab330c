"""`mx.nd._internal`: a function for every operator whose name begins with an underscore (`_plus_scalar`, ...)."""

from mxlite.ndarray._generate import show_functions as _show_functions

_show_functions(globals())
