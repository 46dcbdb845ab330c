"""One line for a program of Python 2 that ends with an error, and for what is gone and cannot be put back."""

from __future__ import annotations

import os
import re
import sys
from types import TracebackType

from mxlite._cli._old import numpy_tables, python_tables

_HERE = os.path.dirname(__file__)
#: Names of Python 2, for which `mxlite names` looks too.
BUILTINS = (
    "apply basestring buffer cmp coerce execfile file intern long raw_input reduce reload unichr unicode xrange"
).split()
MODULES = (
    "BaseHTTPServer CGIHTTPServer ConfigParser Cookie HTMLParser Queue SimpleHTTPServer SocketServer StringIO Tkinter"
    " UserDict UserList __builtin__ anydbm cPickle cStringIO commands cookielib copy_reg dummy_thread exceptions"
    " htmlentitydefs httplib md5 robotparser sets sha thread tkFileDialog tkMessageBox urllib2 urlparse xmlrpclib"
).split()
#: Attributes, by what has them: a class, or a module.
ATTRIBUTES = {
    "dict": "has_key iteritems iterkeys itervalues viewitems viewkeys viewvalues",
    "OrderedDict defaultdict Counter": "has_key iteritems iterkeys itervalues viewitems viewkeys viewvalues",
    "function": "func_closure func_code func_defaults func_dict func_doc func_globals func_name",
    "method": "im_class im_func im_self",
    "generator list_iterator zip map enumerate filter": "next",
    "str": "decode",
    "itertools": "ifilter ifilterfalse imap izip izip_longest",
    "os": "getcwdu",
    "string": (
        "atof atoi atol find join joinfields letters lower lowercase lstrip maketrans replace rstrip split splitfields"
        " strip upper uppercase zfill"
    ),
    "sys": "exc_clear exc_type exc_value exitfunc maxint setdefaultencoding",
    "types": (
        "BooleanType ClassType DictType FileType FloatType InstanceType IntType ListType LongType NoneType ObjectType"
        " StringType StringTypes TupleType UnicodeType"
    ),
    "urllib": "quote quote_plus unquote unquote_plus urlencode urlopen urlretrieve",
    "inspect": "getargspec",
    "thread": "start_new_thread",
}
#: Lines that Python 3 cannot read and Python 2 could.
_LINES = (
    (
        r"^\s*print\s+[^=\s(]|^\s*print\s+\(.*\)\s*%|^\s*print\s*$|:\s*print\s+[^=\s(]|^\s*print\s*>>",
        "the statement print",
    ),
    (r"^\s*except\s+[\w.()\s,]+,\s*\w+\s*:", "except E, e"),
    (r"^\s*raise\s+[\w.]+\s*,", "raise E, text"),
    (r"^\s*exec\s+[^=(\s]", "the statement exec"),
    (r"<>", "<>"),
    (r"`[^`]+`", "`x` for repr(x)"),
    (r"\bur[\"']", "ur''"),
    (r"(?<![\w.])0[0-7]+(?![\w.])", "0777 for 0o777"),
    (r"(?<![\w.])(0[xX][0-9a-fA-F]+|\d+)[lL]\b", "10L for 10"),
    (r"\bdef\s+\w+\s*\(.*\([\w\s,]+\).*\)\s*:|\blambda\s*\(", "def f((a, b))"),
)


def of_source(error: BaseException) -> str | None:
    """The line in place of the traceback, if the error is that of Python 3 about a file of Python 2; else None."""
    if not isinstance(error, SyntaxError) or not error.filename:
        return None
    text = re.sub(r"\"[^\"]*(\"|$)|'[^']*('|$)", '""', error.text or "").partition("#")[0]
    what = next((what for pattern, what in _LINES if re.search(pattern, text)), None)
    if what is None:
        return None
    return f"{error.filename}, line {error.lineno}: this is Python 2 ({what}); {rewrite(error.filename)}"


def rewrite(file: str) -> str:
    """What makes a file of Python 2 one of Python 3."""
    version = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    return f"`pip install fissix` and `python -m fissix -w {file}` rewrite it for {version}"


def after(error: BaseException) -> str | None:
    """A line below the traceback: the error is of Python 2, or of a module that Python has no longer; else None."""
    what = _of_python_2(error)
    if what is not None:
        return f"{what} is of Python 2: if this program is, {rewrite(_file(error.__traceback__))}"
    for name in _missing(error):
        if name in python_tables.NOT_PUT_BACK:
            what = name.partition(" ")[2] or name
            version = f"{sys.version_info[0]}.{sys.version_info[1]}"
            return f"Python {version} has no {what} any more: {python_tables.NOT_PUT_BACK[name]}"
    found = re.match(r"module 'numpy(?:\.testing)?' has no attribute '(\w+)'", str(error))
    if isinstance(error, AttributeError) and found:
        for name in (f"np.{found[1]}", f"np.testing.{found[1]}"):
            if name in numpy_tables.NOT_PUT_BACK:
                return f"{name} cannot be put back: {numpy_tables.NOT_PUT_BACK[name]}"
    return None


def _missing(error: BaseException) -> list[str]:
    """What an error says is not there, as `NOT_PUT_BACK` names it: the module, packages that it is in; or the name."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        parts = error.name.split(".")
        return [f"module {'.'.join(parts[:count])}" for count in range(len(parts), 0, -1)]
    for kind, pattern in (
        (AttributeError, r"module '(?P<owner>\w+)' has no attribute '(?P<name>\w+)'"),
        (ImportError, r"cannot import name '(?P<name>\w+)' from '(?P<owner>\w+)'"),
    ):
        found = re.match(pattern, str(error))
        if found and isinstance(error, kind):
            return [f"{found['owner']}.{found['name']}"]
    return []


def _of_python_2(error: BaseException) -> str | None:
    """The name of Python 2 that is missing."""
    text = str(error)
    if isinstance(error, NameError):
        found = re.match(r"(?:global )?name '(\w+)' is not defined", text)
        return found[1] if found and found[1] in BUILTINS else None
    if isinstance(error, TypeError) and ">>: 'builtin_function_or_method'" in text:
        return "print >>file"
    if isinstance(error, ModuleNotFoundError):
        return f"module {error.name}" if error.name in MODULES else None
    for pattern, owner, name in (
        (r"(?:module )?'([\w.]+)'(?: object)? has no attribute '(\w+)'", 1, 2),
        (r"cannot import name '(\w+)' from '(\w+)'", 2, 1),
    ):
        found = re.match(pattern, text)
        if found and isinstance(error, (AttributeError, ImportError)):
            for owners, names in ATTRIBUTES.items():
                if found[owner].rpartition(".")[2] in owners.split() and found[name] in names.split():
                    return f"{found[owner]}.{found[name]}"
    return None


def _file(trace: TracebackType | None) -> str:
    """The file of the innermost frame."""
    name = "FILE"
    while trace is not None:
        if not _ours(trace) and not trace.tb_frame.f_code.co_filename.startswith("<"):
            name = trace.tb_frame.f_code.co_filename
        trace = trace.tb_next
    return name


def _ours(trace: TracebackType) -> bool:
    return trace.tb_frame.f_code.co_filename.startswith(_HERE)


def without_ours(trace: TracebackType | None) -> TracebackType | None:
    """The traceback less the frames of this package."""
    while trace is not None and _ours(trace):
        trace = trace.tb_next
    at = trace
    while at is not None:
        below = at.tb_next
        while below is not None and _ours(below):
            below = below.tb_next
        at.tb_next = below
        at = below
    return trace
