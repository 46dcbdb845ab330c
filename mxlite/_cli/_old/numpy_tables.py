"""What NumPy 1.23 had and later ones have not, and what each is now (`mxlite run` puts it back).

A name that this NumPy still has stays what it is. Targets are "module:attribute", "module", or ":function" of
`numpy_functions`. "*" in a table stands for all names of the module that it gives.
"""

from __future__ import annotations

WHOSE = "NumPy"
OWN = "mxlite._cli._old.numpy_functions"

_SAME = {  # old name: the name of the same now
    "Inf": "inf", "Infinity": "inf", "infty": "inf", "PINF": "inf", "NaN": "nan", "NAN": "nan",
    "float_": "float64", "complex_": "complex128", "cfloat": "complex128", "singlecomplex": "complex64",
    "longfloat": "longdouble", "longcomplex": "clongdouble", "clongfloat": "clongdouble",
    "string_": "bytes_", "unicode_": "str_", "bool8": "bool_", "int0": "intp", "uint0": "uintp",
    "object0": "object_", "bytes0": "bytes_", "str0": "str_", "void0": "void",
    "product": "prod", "cumproduct": "cumprod", "sometrue": "any", "alltrue": "all", "round_": "round",
    "row_stack": "vstack", "trapz": "trapezoid", "mat": "asmatrix", "typeDict": "sctypeDict",
}  # fmt: skip
_BUILTIN = {name: f"builtins:{name}" for name in ("bool", "complex", "float", "int", "object", "str")}
_ELSEWHERE = {
    "AxisError": "numpy.exceptions:AxisError",
    "ComplexWarning": "numpy.exceptions:ComplexWarning",
    "ModuleDeprecationWarning": "numpy.exceptions:ModuleDeprecationWarning",
    "RankWarning": "numpy.exceptions:RankWarning",
    "TooHardError": "numpy.exceptions:TooHardError",
    "VisibleDeprecationWarning": "numpy.exceptions:VisibleDeprecationWarning",
    "DataSource": "numpy.lib.npyio:DataSource",
    "add_docstring": "numpy.lib:add_docstring",
    "add_newdoc": "numpy.lib:add_newdoc",
    "byte_bounds": "numpy.lib.array_utils:byte_bounds",
    "chararray": "numpy.char:chararray",
    "compare_chararrays": "numpy.char:compare_chararrays",
    "compat": "mxlite._cli._old.numpy_compat",
    "format_parser": "numpy.rec:format_parser",
    "long": "builtins:int",
    "math": "math",
    "os": "os",
    "safe_eval": "ast:literal_eval",
    "sys": "sys",
    "tracemalloc_domain": "numpy.lib:tracemalloc_domain",
    "unicode": "builtins:str",
    "warnings": "warnings",
}
_FUNCTIONS = (
    "alen asfarray asscalar cast deprecate deprecate_with_doc disp fastCopyAndTranspose find_common_type get_array_wrap"
    " in1d issctype issubclass_ issubsctype lookfor maximum_sctype msort nbytes obj2sctype rank recfromcsv recfromtxt"
    " sctype2char sctypes set_string_function source who"
).split()
_NUMBERS = (
    "ALLOW_THREADS BUFSIZE CLIP ERR_CALL ERR_DEFAULT ERR_IGNORE ERR_LOG ERR_PRINT ERR_RAISE ERR_WARN"
    " FLOATING_POINT_SUPPORT FPE_DIVIDEBYZERO FPE_INVALID FPE_OVERFLOW FPE_UNDERFLOW MAXDIMS MAY_SHARE_BOUNDS"
    " MAY_SHARE_EXACT NINF NZERO PZERO RAISE SHIFT_DIVIDEBYZERO SHIFT_INVALID SHIFT_OVERFLOW SHIFT_UNDERFLOW"
    " UFUNC_BUFSIZE_DEFAULT UFUNC_PYVALS_NAME WRAP"
).split()
_ALL = {
    **{name: f"numpy:{now}" for name, now in _SAME.items()},
    **_BUILTIN,
    **_ELSEWHERE,
    **{name: f":{name}" for name in (*_FUNCTIONS, *_NUMBERS)},
}

#: Modules of numpy.lib that have another name now.
_LIB = {
    name: f"numpy.lib._{name}_impl"
    for name in (
        "arraypad arraysetops arrayterator function_base histograms index_tricks nanfunctions polynomial shape_base"
        " twodim_base type_check ufunclike utils"
    ).split()
}
_OF_NUMPY = {"*": "numpy"}

#: Names of modules.
NAMES: dict[str, dict[str, str]] = {
    "numpy": _ALL,
    "numpy.lib": {**_LIB, **_OF_NUMPY},
    **{f"numpy.lib._{name}_impl": _OF_NUMPY for name in _LIB},
    "numpy.lib.npyio": _OF_NUMPY,
    "numpy.lib.stride_tricks": {
        "broadcast_to": "numpy:broadcast_to",
        "broadcast_arrays": "numpy:broadcast_arrays",
        "broadcast_shapes": "numpy:broadcast_shapes",
    },
    "numpy.core": {"umath_tests": "numpy._core._umath_tests", **_OF_NUMPY},
    "numpy.core.numeric": _OF_NUMPY,
    "numpy.core.fromnumeric": _OF_NUMPY,
    "numpy.core.multiarray": _OF_NUMPY,
    "numpy.core.umath": _OF_NUMPY,
    "numpy.core.defchararray": _OF_NUMPY,
    "numpy.linalg": {"linalg": "numpy.linalg._linalg"},
    "numpy.fft": {"helper": "numpy.fft._helper"},
    "numpy.matlib": _OF_NUMPY,
    "numpy.testing": {"utils": "numpy.testing"},
}
#: Methods of classes, by "module:class".
_OF_BOTH = {name: f":{name}" for name in ("newbyteorder", "ptp", "tostring")}
METHODS: dict[str, dict[str, str]] = {
    "numpy:ndarray": {**_OF_BOTH, "itemset": ":itemset"},
    "numpy:generic": _OF_BOTH,
    "numpy:ndindex": {"ndincr": ":ndincr"},
}
#: Functions of `numpy_functions` that change what a module's functions take.
CHANGED = {"numpy": ":change"}
#: What these changes allow, as `names()` has it.
PHRASES = (
    "np.array(copy=False) of what must be copied",
    "np.array of lists of several lengths",
    "np.array of numbers beyond the dtype",
    "np.fromstring of bytes",
    "np.fromstring of text with a rest",
    "an array of one element as a number",
    "an empty array as False",
    "functions of a generator of arrays",
    "np.percentile(interpolation=)",
    "np.histogram(normed=)",
    "np.reshape(newshape=)",
    "np.cross of vectors of 2",
    "arguments without a meaning, such as np.save(fix_imports=)",
    "np.linalg.eig of real eigenvalues",
    "np.linalg.solve of vectors in a stack",
)
MODULES: tuple[str, ...] = ()
ALWAYS: dict[str, str] = {}

#: What cannot be put back, and why: nothing of it is said but by NumPy's own error.
NOT_PUT_BACK = {
    "np.set_numeric_ops": "arithmetic is fixed in NumPy 2",
    "np.geterrobj": "np.geterr and np.getbufsize have what it said",
    "np.seterrobj": "np.seterr and np.setbufsize do what it did",
    "np.testing.dec": "it was of nose, which is gone",
    "np.testing.Tester": "it was of nose, which is gone",
    "np.testing.run_module_suite": "it was of nose, which is gone",
    "np.distutils": "Python has no distutils from 3.12 on",
    **{
        f"np.{name}": "pip install numpy-financial has it"
        for name in "fv ipmt irr mirr nper npv pmt ppmt pv rate".split()
    },
}


def modules() -> set[str]:
    """The modules that the tables change."""
    return {*NAMES, *CHANGED}
