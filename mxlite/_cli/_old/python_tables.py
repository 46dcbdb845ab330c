"""What older Pythons' standard libraries had and later ones have not, and what each is now.

A name that this Python still has stays what it is. Targets are as in `numpy_tables`, ":function" of `python_functions`.
"""

from __future__ import annotations

import sys

WHOSE = "Python"
OWN = "mxlite._cli._old.python_functions"

_ABSTRACT = (
    "AsyncGenerator AsyncIterable AsyncIterator Awaitable ByteString Callable Collection Container Coroutine Generator"
    " Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence MutableSet"
    " Reversible Sequence Set Sized ValuesView"
).split()

#: Names of modules.
NAMES: dict[str, dict[str, str]] = {
    "asyncio": {"coroutine": ":coroutine"},
    "base64": {"encodestring": "base64:encodebytes", "decodestring": "base64:decodebytes"},
    "cgi": {"escape": ":escape", "parse_qs": "urllib.parse:parse_qs", "parse_qsl": "urllib.parse:parse_qsl"},
    "collections": {name: f"collections.abc:{name}" for name in _ABSTRACT},
    "configparser": {"SafeConfigParser": "configparser:ConfigParser"},
    "fractions": {"gcd": ":gcd"},
    "importlib": {"find_loader": ":find_loader"},
    "inspect": {
        "ArgSpec": ":ArgSpec",
        "formatargspec": ":formatargspec",
        "getargspec": ":getargspec",
    },
    "locale": {"format": ":format_number", "resetlocale": ":resetlocale"},
    "os": {"errno": "errno"},
    "platform": {
        "dist": ":linux_distribution",
        "linux_distribution": ":linux_distribution",
        "popen": "os:popen",
    },
    "sys": {"getcheckinterval": ":getcheckinterval", "setcheckinterval": ":setcheckinterval"},
    "time": {"clock": "time:process_time"},
    "typing": {"io": "typing.io", "re": "typing.re"},
    "unittest": {
        "_TextTestResult": "unittest:TextTestResult",
        "findTestCases": ":find_test_cases",
        "makeSuite": ":make_suite",
    },
    "xml.etree": {"cElementTree": "xml.etree.ElementTree"},
}
#: Methods of classes, by "module:class".
METHODS: dict[str, dict[str, str]] = {
    "array:array": {"fromstring": "array:array.frombytes", "tostring": "array:array.tobytes"},
    "configparser:RawConfigParser": {"readfp": ":readfp"},
    "html.parser:HTMLParser": {"unescape": ":unescape"},
    "threading:Thread": {"isAlive": "threading:Thread.is_alive"},
    "unittest:TestCase": {
        "assertAlmostEquals": "unittest:TestCase.assertAlmostEqual",
        "assertDictContainsSubset": ":assert_dict_contains",
        "assertEquals": "unittest:TestCase.assertEqual",
        "assertNotAlmostEquals": "unittest:TestCase.assertNotAlmostEqual",
        "assertNotEquals": "unittest:TestCase.assertNotEqual",
        "assertNotRegexpMatches": "unittest:TestCase.assertNotRegex",
        "assertRaisesRegexp": "unittest:TestCase.assertRaisesRegex",
        "assertRegexpMatches": "unittest:TestCase.assertRegex",
        "assert_": "unittest:TestCase.assertTrue",
        "failIf": "unittest:TestCase.assertFalse",
        "failIfAlmostEqual": "unittest:TestCase.assertNotAlmostEqual",
        "failIfEqual": "unittest:TestCase.assertNotEqual",
        "failUnless": "unittest:TestCase.assertTrue",
        "failUnlessAlmostEqual": "unittest:TestCase.assertAlmostEqual",
        "failUnlessEqual": "unittest:TestCase.assertEqual",
        "failUnlessRaises": "unittest:TestCase.assertRaises",
    },
    "xml.etree.ElementTree:Element": {"getchildren": ":get_children", "getiterator": ":get_iterator"},
    "xml.etree.ElementTree:ElementTree": {"getiterator": ":get_iterator"},
}
#: Functions of `python_functions` that change what a module's functions take.
CHANGED = {"builtins": ":change_open", "json": ":change_json", "random": ":change_random", "re": ":change_re"}
#: What these changes allow, as `names()` has it.
PHRASES = (
    "open(mode='U')",
    "json.loads(encoding=)",
    "random.randrange of floats",
    "random.sample of a set",
    "random.seed of any object",
    "random.shuffle(random=)",
    "re.compile with flags in the middle",
)
#: Modules of the folder `modules`, for Pythons that have them not.
MODULES = ("cgi", "distutils", "imghdr", "imp", "pipes", "pkg_resources")
#: Modules that are made at once, since nothing would look for them.
ALWAYS = {f"typing.{name}": f":typing_{name}" for name in ("io", "re") if sys.version_info >= (3, 13)}

#: Modules and names that Python has no longer, and what has them.
NOT_PUT_BACK = {
    **{
        f"module {name}": f"pip install standard-{name} has it"
        for name in (
            "aifc asynchat asyncore cgitb chunk crypt mailcap nntplib smtpd sndhdr sunau telnetlib uu xdrlib"
        ).split()
    },
    "module audioop": "pip install audioop-lts has it",
    "module distutils": "pip install setuptools has it",
    "module lib2to3": "pip install fissix has it",
    "module parser": "ast has what it did",
    "module symbol": "ast has what it did",
    "module dummy_threading": "threading has what it did",
    "module _dummy_thread": "_thread has what it did",
    "module binhex": "nothing has what it did",
    "module formatter": "nothing has what it did",
    "module msilib": "nothing has what it did",
    "module nis": "nothing has what it did",
    "module ossaudiodev": "nothing has what it did",
    "module spwd": "nothing has what it did",
    "cgi.FieldStorage": "pip install legacy-cgi has it",
    "pipes.Template": "subprocess has what it did",
    "ssl.wrap_socket": "ssl.SSLContext().wrap_socket has what it did",
    "typing.GenericMeta": "classes of typing have no metaclass of their own",
}


def modules() -> set[str]:
    """The modules that the tables change."""
    return {*NAMES, *CHANGED, *(kind.partition(":")[0] for kind in METHODS)}
