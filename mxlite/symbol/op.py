"""`mx.sym.op`: a function for every operator with a public name."""

from mxlite.symbol._generate import show_functions as _show_functions

_show_functions(globals())
