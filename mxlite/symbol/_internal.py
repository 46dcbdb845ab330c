"""`mx.sym._internal`: a function for every operator whose name begins with `_`."""

from mxlite.symbol._generate import show_functions as _show_functions

_show_functions(globals())
