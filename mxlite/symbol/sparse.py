"""`mx.sym.sparse`: a function for every operator `_sparse_*`, named without that beginning."""

from mxlite.symbol._generate import show_functions as _show_functions

_show_functions(globals())
