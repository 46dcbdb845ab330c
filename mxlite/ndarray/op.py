"""`mx.nd.op`: a function for every operator with a public name, made from the library's introspection."""

from mxlite.ndarray._generate import show_functions as _show_functions

_show_functions(globals())
