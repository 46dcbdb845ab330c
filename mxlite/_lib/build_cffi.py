"""The cffi module of the hot calls, `mxlite._mxlite_cffi`; setup.py builds it, mxlite._lib.hot_cffi wraps it.

It is not linked with the library: `bind` fills its function pointers with addresses in the library that mxlite._lib
opened, so that there is one library in the process. Handles are integers; a new handle is the result, 0 an error.
"""

import os
import runpy

import cffi

_DECLARATIONS = """
static char *const names;
int bind(int number, uint64_t address);
int into1(uint64_t call, uint64_t a, uint64_t out);
int into2(uint64_t call, uint64_t a, uint64_t b, uint64_t out);
int into1_float(uint64_t call, uint64_t a, double value, uint64_t out);
int graph_into(uint64_t op, int num_inputs, const uint64_t *inputs, int num_outputs, uint64_t *outputs);
uint64_t graph_one(uint64_t op, int num_inputs, const uint64_t *inputs);
uint64_t slice_rows(uint64_t a, int64_t begin, int64_t end);
uint64_t at(uint64_t a, int64_t index);
uint64_t reshape(uint64_t a, int ndim, const int64_t *shape);
int64_t device(uint64_t a);
int fresh(uint64_t a);
uint64_t gradient(uint64_t a);
uint64_t identity(uint64_t a);
uint64_t detached(uint64_t a);
int backward_of_one(uint64_t a, int keep_graph, int dialect);
int set_recording(int flag);
int set_training(int flag);
int set_grad_mode(int flag);
int grad_mode(void);
uint64_t make_type(int number);
uint64_t make_function(int number);
uint64_t payload_release(void);
int64_t num_kept(void);
"""


#: The C sources, in their order: one file to the compiler.
_SOURCES = """
    functions.c payloads.c survey.c owner.c call.c operation.c keys.c views.c make.c join.c facts.c call_type.c
    elements.c lists.c
""".split()


def _source(name: str) -> str:
    """The text of a file in cffi/, with its own line numbers in the compiler's messages."""
    with open(os.path.join(os.path.dirname(__file__), "cffi", name), encoding="ascii") as file:
        return f'#line 1 "mxlite/_lib/cffi/{name}"\n{file.read()}'


#: The letters of prototypes.py as C; handles and addresses are integers here.
_TYPES = {"P": "uint64_t", "z": "uint64_t", "q": "int64_t", "d": "double", "i": "int"}


def _direct(tables: dict) -> "tuple[str, str]":
    """The declarations and the sources of the functions that are called as they are."""
    prototypes = dict(entry.split(":") for entry in tables["TABLE"].split())
    declarations = sources = ""
    for name, symbol in tables["HOT"].items():
        letters, _, result = prototypes[symbol].partition(">")
        arguments = [(letter, f"a{number}") for number, letter in enumerate(letters)]
        values = ", ".join(f"HANDLE({each})" if letter == "P" else each for letter, each in arguments)
        head = f"{_TYPES[result or 'i']} {name}({', '.join(f'{_TYPES[letter]} {each}' for letter, each in arguments)})"
        call = f"p_{symbol}({values})"
        declarations += f"{head};\n"
        sources += f"static {head}\n{{\n    return {f'NUMBER({call})' if result else call};\n}}\n"
    return declarations, sources


# By path: `import mxlite` opens the library, which may not be built yet.
_declared, _defined = _direct(runpy.run_path(os.path.join(os.path.dirname(__file__), "prototypes.py")))
ffibuilder = cffi.FFI()
ffibuilder.cdef(_DECLARATIONS + _declared)
ffibuilder.set_source(
    "mxlite._mxlite_cffi",
    "".join(map(_source, _SOURCES)) + _defined,
    include_dirs=["include"],
    define_macros=[("Py_LIMITED_API", "0x03090000")],
    extra_compile_args=["-O2", "-fno-plt"],  # calls of the interpreter go through no table: 5 to 9 ns of 150
    py_limited_api=True,
)
