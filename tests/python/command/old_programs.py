"""Expressions of old programs, and what they give; test_command_old.py compares it with what old ones gave.

Run by `mxlite run` it prints the values now. `make oracle`'s Python (NumPy 1.23.5) with `numpy`, and a Python 3.7 with
`python`, print what old_numpy.json and old_python.json have:

    .venvs/mxnet/bin/python tests/python/command/old_programs.py numpy > tests/python/command/old_numpy.json
"""

import json
import sys
import warnings

#: Sections: numpy is asked of NumPy, python of the standard library, gone of the one before Python 3.7 (by hand).
NUMPY = """
np.float np.int np.object np.complex np.str np.unicode
np.float_ np.complex_ np.cfloat np.singlecomplex np.longfloat np.longcomplex np.clongfloat np.string_ np.unicode_
np.bool8 np.int0 np.uint0 np.object0 np.bytes0 np.str0 np.void0
np.Inf np.Infinity np.infty np.PINF np.NINF np.NaN np.NAN np.PZERO np.NZERO np.math.pi np.os.sep np.sys.byteorder
np.warnings.warn.__name__ np.typeDict['float32']
np.ALLOW_THREADS np.BUFSIZE np.CLIP np.ERR_CALL np.ERR_DEFAULT np.ERR_IGNORE np.ERR_LOG np.ERR_PRINT np.ERR_RAISE
np.ERR_WARN np.FLOATING_POINT_SUPPORT np.FPE_DIVIDEBYZERO np.FPE_INVALID np.FPE_OVERFLOW np.FPE_UNDERFLOW np.MAXDIMS
np.MAY_SHARE_BOUNDS np.MAY_SHARE_EXACT np.RAISE np.SHIFT_DIVIDEBYZERO np.SHIFT_INVALID np.SHIFT_OVERFLOW
np.SHIFT_UNDERFLOW np.UFUNC_BUFSIZE_DEFAULT np.UFUNC_PYVALS_NAME np.WRAP
np.zeros(2,np.float) np.array([1,2]).astype(np.int) np.dtype(np.object) np.array([1.5],dtype=np.complex)
np.zeros(1,np.bool) np.zeros(1,np.long)
np.product([2,3]) np.cumproduct([2,3]) np.sometrue([0,1]) np.alltrue([0,1]) np.round_(2.567,1) np.row_stack([[1],[2]])
np.trapz([1,2,4]) np.trapz([1,2,4],dx=2) np.trapz([1,2,4],[0,1,3]) np.mat([[1,2]]) np.msort([[3,1],[2,5]])
np.in1d([[1,2],[3,4]],[2,4]) np.in1d([1,2],[2],invert=True) np.in1d([1,2,2],[[2]])
np.find_common_type([],['i4','c8']) np.find_common_type(['f4'],['f8']) np.find_common_type(['i4'],['f4'])
np.find_common_type(['i4','f4'],[]) np.find_common_type(['u1','i1'],[]) np.find_common_type(['f4','f4'],['i8','c8'])
np.find_common_type([],['f4','i8']) np.find_common_type(['i8'],['u1']) np.find_common_type(['U3'],['f4'])
np.cast['float32']([1,2]) np.cast[np.int8]([1.7,-1.7]) np.cast['f'](3) np.cast[float]([1])
np.nbytes['float32'] np.nbytes[np.complex128] np.nbytes[int] len(np.sctypes) np.sctypes['int'] np.sctypes['float'][:3]
np.sctypes['complex'][:2] np.sctypes['others'] np.sctypes['uint']
np.obj2sctype('f4') np.obj2sctype(np.zeros(1)) np.obj2sctype(int) np.obj2sctype(np.int8) np.obj2sctype(object())
np.obj2sctype('nope',3) np.obj2sctype(list) np.issctype(np.int32) np.issctype(int) np.issctype('f4') np.issctype(3)
np.issctype(list) np.issctype(np.dtype('f4')) np.sctype2char('f4') np.sctype2char(np.int8) np.sctype2char(list)
np.maximum_sctype(np.int8) np.maximum_sctype(np.uint8) np.maximum_sctype('U3') np.maximum_sctype(bool)
np.maximum_sctype(np.complex64)==np.sctypes['complex'][-1] np.maximum_sctype('f4')==np.sctypes['float'][-1]
np.issubclass_(int,object) np.issubclass_(3,object) np.issubsctype('f4',np.floating)
np.issubsctype(np.int8,np.floating)
np.asfarray([1,2]) np.asfarray([1,2],'f4') np.asfarray([1,2],int) np.asfarray([1j])
np.byte_bounds(np.zeros(3))[1]-np.byte_bounds(np.zeros(3))[0]>=0 np.compare_chararrays(['a'],['b'],'<',True)
np.safe_eval('[1,2]') np.fastCopyAndTranspose(np.array([[1,2],[3,4]])) np.format_parser(['i4'],['a'],[]).dtype
np.deprecate(len,message='x')([1]) np.deprecate(message='x')(len)([1]) np.deprecate_with_doc('x')(len)([1,2])
np.deprecate(len,'old','new').__name__ np.get_array_wrap(3) np.get_array_wrap(np.zeros(1)).__name__
np.chararray((2,),itemsize=3).shape np.DataSource.__name__ np.AxisError.__name__ np.ComplexWarning.__name__
np.RankWarning.__name__ np.VisibleDeprecationWarning.__name__ np.ModuleDeprecationWarning.__name__
np.TooHardError.__name__ np.recfromtxt(['1_2','3_4'],delimiter='_').shape np.recfromcsv(['A,b','1,2']).a
np.recfromcsv(['A,b','1,2','3,4'],dtype=None).b np.recfromtxt(['1_2','3_4'],delimiter='_').dtype.names
printed(lambda:np.disp('x')) printed(lambda:np.disp('x',linefeed=False)) printed(lambda:np.who({'x':np.zeros((2,3))}))
shown(np.array([1,2])) text_shown(np.array([1,2]))
np.compat.asbytes('a') np.compat.asstr(b'a') np.compat.long np.compat.unicode np.compat.is_pathlib_path('a')
np.compat.asbytes_nested(['a',['b']]) np.compat.asunicode_nested([b'a']) np.compat.integer_types
module('numpy.compat').asunicode(b'a') module('numpy.lib.function_base').trapz([1,2])
np.lib.function_base.average([1,3])
module('numpy.lib.arraysetops').in1d([1],[1]) module('numpy.lib.index_tricks').r_[1,2]
module('numpy.lib.shape_base').row_stack([[1],[2]]) module('numpy.lib.twodim_base').eye(1)
module('numpy.lib.type_check').asfarray([1]) module('numpy.lib.nanfunctions').nansum([1]) np.lib.pad([1],1,'constant')
module('numpy.lib.polynomial').polyval([1,2],3) module('numpy.lib.ufunclike').fix(2.5)
module('numpy.lib.utils').issubclass_(int,int)
module('numpy.lib.histograms').histogram([1],1)[0] module('numpy.lib.arraypad').pad([1],1,'constant')
module('numpy.lib.npyio').loadtxt(['1']) module('numpy.lib.stride_tricks').broadcast_to([1],2) np.lib.unique([1,1])
module('numpy.core.numeric').NaN module('numpy.core.fromnumeric').product([2]) module('numpy.core').float_
module('numpy.core.multiarray').array([1]) module('numpy.core.umath').add(1,2) np.core.numeric.infty np.core.unicode_
module('numpy.linalg.linalg').norm([3,4]) np.linalg.linalg.LinAlgError.__name__ module('numpy.fft.helper').fftfreq(2)
module('numpy.matlib').float_ module('numpy.core.defchararray').upper('a')
float(np.array([2.5])) int(np.array([[2]])) complex(np.array([2.5])) '%f'%np.array([2.5]) '%d'%np.array([2])
'%.2e'%np.array([[2.5]])
math.sqrt(np.array([4.0])) float(np.array(2.5)) int(np.array([2.7])) bool(np.array([])) bool(np.zeros((0,3)))
bool(np.array([1]))
float(np.array([1,2])) int(np.zeros(0)) bool(np.array([1,2])) float(np.array(['2.5'])) float(np.array(['x']))
float(np.array([None],object)) '%s'%np.array([2]) float(np.matrix([[2.]])) round(float(np.array([2.5])))
assigned(np.zeros(2),0,np.array([2.5])) assigned(np.zeros(2),1,np.array([[2]]))
assigned(np.zeros(2,int),0,np.array([2.5]))
assigned(np.zeros(2),0,np.array([1,2])) np.array([np.array([1.]),2.0],float) np.array([[1],[2,3]],float)
np.array([[1],[2,3]]) np.asarray([[1],[2,3]]) np.asanyarray([(1,2),(3,)]) np.array([[1],[2,3]],int) np.array([[1],2])
np.array([np.zeros(2),np.zeros(3)]).shape np.array([[1],[2,3]],dtype=object) np.array(['a',[1]]).dtype
np.array([1,2],copy=False) np.array(np.ones(2),copy=False) np.array([1,2],dtype='f4',copy=False) same(np.ones(2))
np.array(np.ones(2),'f4',copy=False) np.array([[1],[2,3]],copy=False) np.array([1.5],copy=True)
np.array([-1,300],np.uint8) np.asarray(-1,np.uint16) np.array([2**40],'i4') np.array([2**70],int)
np.fromstring(b'\\x01\\x02\\x03\\x04',np.uint8) np.fromstring(b'\\x01\\x02\\x03\\x04','<u2')
np.fromstring('\\x01\\xe9',np.uint8)
np.fromstring(b'\\x01\\x02\\x03',np.uint8,2) np.fromstring(b'\\x01\\x02\\x03','<u2')
np.fromstring(b'\\x01',np.uint8,2)
np.fromstring(b'\\x01\\x02',dtype=np.uint8,count=1) np.fromstring(b'\\x01\\x02',np.uint8).flags.writeable
np.fromstring(b'',np.uint8)
np.fromstring('1_2',sep='_') np.fromstring('1,2,x',sep=',') np.fromstring('1,2',dtype=int,sep=',')
np.fromstring('x',sep=',')
np.fromstring('1,2.5',dtype=int,sep=',') np.fromstring('1,2,3',count=2,sep=',')
np.fromstring('1,2',sep=',',dtype='f4')
np.percentile([1,2,3],40,interpolation='lower') np.quantile([1,2,3],.4,interpolation='nearest')
np.percentile([1,2],50,nope=1)
np.nanpercentile([1,2,3],40,interpolation='higher') np.nanquantile([1,2,3],.4,interpolation='midpoint')
np.histogram([1,1,2],2,normed=True)[0] np.histogram([1,1,2],2,normed=False)[0]
np.histogram2d([1],[1],1,normed=True)[0]
np.reshape([1,2],newshape=(2,1)) np.vstack(x~for~x~in~[[1],[2]]) np.hstack(map(list,[[1],[2]]))
np.stack(x~for~x~in~[[1],[2]])
np.dstack(x~for~x~in~[[1],[2]]) np.column_stack(x~for~x~in~[[1],[2]]) np.vstack(5) np.sum(x~for~x~in~[1,2])
np.cross([1,2],[3,4]) np.cross([[1,2],[3,4]],[5,6]) np.cross([1,2,3],[4,5]) np.cross([1,2],[3,4,5])
np.cross([1,2,3],[3,4,5])
np.cross([[1,2],[3,4]],[[5,6],[7,8]],axis=0) np.cross([1],[2])
np.linalg.eig(np.array([[2.,0],[0,3.]]))[0] np.linalg.eig(np.array([[2.,0],[0,3.]]))[1] np.linalg.eigvals(np.eye(2))
np.linalg.eigvals(np.array([[0.,1],[-1,0]])).dtype np.linalg.eigvals(np.eye(2)*1j).dtype
np.linalg.solve(np.eye(2)*[[[2]],[[4]],[[8]]],[[1,2],[3,4],[5,6]])
np.linalg.solve(np.eye(2)*[[[2]],[[4]]],[[1,2],[3,4]])
np.linalg.solve(np.eye(2),[1,2]) np.linalg.solve(np.eye(2),[[1],[2]]) np.ndindex(2).ndincr()
np.save(module('io').BytesIO(),[1],fix_imports=False) np.corrcoef([1,2],[1,2],bias=True).shape
np.corrcoef([1,2],[1,2],nope=True) np.array2string(np.array([1,2]),style=str)
module('numpy.testing.utils').assert_equal.__name__ module('numpy.core.umath_tests').inner1d([[1,2]],[[3,4]])
np.array([1,2],'u1').tostring() np.array([[1,2],[3,4]],'u1').tostring('F') np.float32(1).tostring()
np.array([1,5]).ptp()
np.array([[1,5],[2,2]]).ptp(axis=1) np.array([[1,5],[2,2]]).ptp(0,keepdims=True) np.array([1],'<u2').newbyteorder()
np.array([1],'<u2').newbyteorder('<') np.float64(3).ptp() set_item(np.zeros((2,2)),5) set_item(np.zeros((2,2)),1,5)
set_item(np.zeros((2,2)),1,0,5) set_item(np.zeros((2,2)),(1,1),5) set_item(np.zeros(1),5) set_item(np.zeros(2),7,5)
set_item(np.zeros(2),-1,5) set_item(np.zeros(2)) np.matrix([[1,5]]).ptp()
np.int16(1).newbyteorder() np.source.__name__ hasattr(np,'no_such_name') np.no_such_name public_names()
np.add_docstring.__name__ np.add_newdoc.__name__
np.tracemalloc_domain printed(lambda:np.lookfor('no_such_word_at_all'))
np.lib.stride_tricks.broadcast_arrays([1],[2])[0]
np.lib.stride_tricks.broadcast_shapes((1,2),(2,)) np.lib.arrayterator.Arrayterator.__name__ np.lib.asfarray([1])
"""
PYTHON = """
collections.Iterable collections.Iterator collections.Mapping collections.MutableMapping collections.Sequence
collections.MutableSequence collections.Set collections.MutableSet collections.Callable collections.Hashable
collections.Sized collections.Container collections.Generator collections.Awaitable collections.Coroutine
collections.KeysView collections.ItemsView collections.ValuesView collections.MappingView collections.ByteString
collections.AsyncIterable collections.AsyncIterator collections.AsyncGenerator collections.Collection
collections.Reversible isinstance([],collections.Iterable) collections.no_such_name inspect.ArgSpec._fields
time.clock()>=0 inspect.getargspec(lambda~a,b=1,*c,**d:0) tuple(inspect.getargspec(sample_function))
inspect.getargspec(kinds)
inspect.formatargspec(['a','b'],'c','d',(1,)) fractions.gcd(12,18) fractions.gcd(12,-18) fractions.gcd(0,0)
fractions.gcd(-4,6)
fractions.gcd(7.5,2.5) base64.encodestring(b'a') base64.decodestring(b'YQ==\\n') array.array('b',[1]).tostring()
filled(array.array('b'),b'\\x01\\x02') [c.tag~for~c~in~element.getchildren()] [c.tag~for~c~in~element.getiterator()]
[c.tag~for~c~in~element.getiterator('b')] [c.tag~for~c~in~tree.getiterator('b')] HTMLParser().unescape('&lt;&eacute;')
threading.current_thread().isAlive() json.loads('[1]',encoding='utf-8') json.load(io.StringIO(u'[1]'),encoding='x')
len(random.sample({1,2,3},2)) sorted(random.sample(frozenset([1,2]),2)) shuffled([1,2,3,4,5])
random.sample([1,2],1)[0]>0 random.sample({1:2}.keys(),1) random.seed((1,2)) random.seed([1])
random.Random((1,2)).random()==random.Random(hash((1,2))).random() random.randint(3,3.0) random.randrange(2.0,3.0)
random.randrange(1.0) random.randrange(4.5) module('re').findall('a(?i)b','AB~ab')
module('re').sub(b'x(?i)y(?s)z',b'',b'XYZ')
module('pkg_resources').parse_version('1.10')>module('pkg_resources').parse_version('1.9')
str(module('pkg_resources').parse_version('1.0.1')) module('pkg_resources').resource_exists('json','__init__.py')
module('pkg_resources').resource_isdir('json','') module('pkg_resources').resource_string('json','__init__.py')[:1]
'decoder.py'~in~module('pkg_resources').resource_listdir('json','')
module('pkg_resources').resource_filename('json','x.py')[-6:]
module('pkg_resources').resource_stream('json','tool.py')!=None
module('pkg_resources').get_distribution('pip').project_name module('pkg_resources').get_distribution('no-such-package')
module('pkg_resources').get_distribution('pip<0.1') module('pkg_resources').require('pip>1')[0].key
list(module('pkg_resources').iter_entry_points('no_such_group'))
'pip'~in~module('pkg_resources').working_set.by_key
random.sample({1:2},1) random.Random(5).random()==random.Random(5).random() opened('rU') opened('U') opened('r')
opened('Uw')
run_coroutine() run_plain_coroutine() configuration() locale.format('%d',1234)
locale.format('%.1f',12.5) tuple(map(type,platform.linux_distribution())) tuple(map(type,platform.dist()))
importlib.find_loader('json').name importlib.find_loader('no_such_module') unittest.makeSuite(Tests).countTestCases()
tests_of_unittest() unittest._TextTestResult.__name__ len(unittest.findTestCases(importlib)._tests)
locale.resetlocale!=None typing_io() sys.getcheckinterval()
module('cgi').escape('<a>&"') module('cgi').escape('"',True) module('cgi').parse_qs('a=1&b=2')
module('cgi').parse_qsl('a=1')
module('cgi').parse_header('text/html;~charset=utf-8') module('pipes').quote('a~b')
module('imghdr').what(None,b'GIF89a')
module('imghdr').what(None,b'\\211PNG\\r\\n\\032\\n') module('imghdr').what(None,b'\\0\\0\\0\\0\\0\\0JFIF')
module('imghdr').what(None,b'x')
module('imghdr').what(None,b'P6~') module('imghdr').what(None,b'RIFF____WEBP') module('imghdr').what(None,b'BM')
module('imp').new_module('x').__name__ module('imp').reload(json).__name__ found_module() loaded_source()
loaded_package()
module('imp').find_module('no_such_module') module('imp').PY_SOURCE module('imp').lock_held()
version('1.10')>version('1.9') version('1.10')>='1.9' version('1.0.dev')<version('1.0.post') version('1.9.1').version
str(version('1.5'))
repr(version('1.5')) version('1.5')=='1.5' version('a')<version('1') strict('1.2')<strict('1.2.1')
strict('1.2a1')<strict('1.2')
str(strict('1.2.0')) strict('1.2.3.4') strict('1.2a1').prerelease int(module('distutils.util').strtobool('Yes'))
int(module('distutils.util').strtobool('off')) module('distutils.util').strtobool('nope') copied_tree()
module('distutils.spawn').find_executable('sh')!=None module('xml.etree.cElementTree').fromstring('<a/>').tag
"""
MODULES = "array base64 collections fractions inspect locale platform threading time typing"
#: What went before Python 3.7, or that 3.7 itself has otherwise: the answers by hand.
GONE = """
os.errno.ENOENT np.asscalar(np.array([2])) np.rank([[1]]) np.alen([1,2]) np.alen(3) platform.popen('echo~a').read()
sys.setcheckinterval(5) importlib.find_loader('json').name
"""
GONE_ANSWERS = {
    "os.errno.ENOENT": "2",
    "np.asscalar(np.array([2]))": "2",
    "np.rank([[1]])": "2",
    "np.alen([1,2])": "2",
    "np.alen(3)": "1",
    "platform.popen('echo~a').read()": "'a\\n'",
    "sys.setcheckinterval(5)": "None",
    "importlib.find_loader('json').name": "'json'",
}


def numpy_values():
    """What the expressions of NUMPY give."""
    import contextlib
    import importlib
    import io
    import math

    import numpy as np

    def printed(function):
        held = io.StringIO()
        with contextlib.redirect_stdout(held):
            function()
        return held.getvalue()

    def shown(array):
        np.set_string_function(lambda given: f"<{given.size}>")
        found = repr(array)
        np.set_string_function(None)
        return found, repr(array)

    def text_shown(array):
        np.set_string_function(lambda given: f"<{given.size}>", repr=False)
        found = str(array)
        np.set_string_function(None, repr=False)
        return found, str(array)

    def assigned(array, key, value):
        array[key] = value
        return array

    def set_item(array, *args):
        array.itemset(*args)
        return array

    def public_names():
        names = {name for name in dir(np) if not name.startswith("_")} - {"core"}
        return sorted(names | {"bool", "complex", "float", "int", "object", "str", "typeDict", "long", "unicode"})

    def same(array):
        return np.array(array, copy=False) is array

    held = dict(locals(), module=importlib.import_module, math=math)

    def show(value):
        if isinstance(value, type) and issubclass(value, np.generic):
            return "dtype " + np.dtype(value).str
        if isinstance(value, np.dtype):
            return "dtype " + value.str
        if isinstance(value, np.ndarray):
            kind = "matrix" if isinstance(value, np.matrix) else "array"
            return f"{kind} {value.shape} {value.dtype.str} {value.tolist()!r}"
        if isinstance(value, np.generic):
            return f"number {value.dtype.str} {value.item()!r}"
        if isinstance(value, (list, tuple)):
            return "{}({})".format(type(value).__name__, ", ".join(map(show, value)))
        return repr(value)

    return values(NUMPY, held, show)


def python_values(expressions):
    """What the expressions of PYTHON, or others, give."""
    import asyncio
    import configparser
    import importlib
    import io
    import os
    import random
    import tempfile
    import types
    import unittest
    import xml.etree.ElementTree as tree_module

    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "given.py")
    os.mkdir(os.path.join(folder, "part"))
    for name, text in (("given.py", "X = 5\n"), ("part/__init__.py", "Y = 6\n")):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    tree = tree_module.ElementTree(tree_module.fromstring("<a><b/><c><b/></c></a>"))
    element = tree.getroot()

    def module(name):
        return importlib.import_module(name)

    def filled(held, given):
        held.fromstring(given)
        return held.tolist()

    def sample_function(a, b=1):
        return a, b

    def kinds(a, *, b):
        return a, b

    def shuffled(given):
        random.shuffle(given, lambda: 0.25)
        return given

    def opened(mode):
        with open(path, mode) as file:
            return file.read()

    def run_coroutine():
        @asyncio.coroutine
        def old():
            yield from asyncio.sleep(0)
            return 5

        return asyncio.run(awaits(old))

    def run_plain_coroutine():
        @asyncio.coroutine
        def old():
            return 6

        return asyncio.run(awaits(old))

    async def awaits(function):
        return await function()

    def configuration():
        held = configparser.SafeConfigParser()
        held.readfp(io.StringIO("[a]\nb=1\n"))
        return held.get("a", "b")

    class Tests(unittest.TestCase):
        def test_old(self):
            for name, args in (  # by getattr: ruff would write them as they are now
                ("assertEquals", (1, 1)),
                ("assertNotEquals", (1, 2)),
                ("assert_", (True,)),
                ("failUnless", (True,)),
                ("failUnlessEqual", (1, 1)),
                ("failIf", (False,)),
                ("failIfAlmostEqual", (1.0, 2.0)),
                ("failIfEqual", (1, 2)),
                ("failUnlessAlmostEqual", (1.0, 1.0)),
                ("failUnlessRaises", (ValueError, self.fails)),
                ("assertAlmostEquals", (1.0, 1.0)),
                ("assertNotAlmostEquals", (1.0, 2.0)),
                ("assertRaisesRegexp", (ValueError, "x", self.fails)),
                ("assertRegexpMatches", ("abc", "b")),
                ("assertNotRegexpMatches", ("abc", "x")),
                ("assertDictContainsSubset", ({1: 2}, {1: 2, 3: 4})),
            ):
                getattr(self, name)(*args)

        def test_fails(self):
            self.assertEqual(1, 2)

        def fails(self):
            raise ValueError("x")

    def tests_of_unittest():
        found = unittest.TestResult()
        unittest.makeSuite(Tests).run(found)
        return found.testsRun, len(found.failures), len(found.errors)

    def typing_io():
        return module("typing.io").BinaryIO.__name__, module("typing.re").Pattern is not None

    def found_module():
        file, place, what = module("imp").find_module("given", [folder])
        text = file.read()
        file.close()
        package = module("imp").find_module("part", [folder])
        return text, place == path, what, package[0], package[2]

    def loaded_source():
        again = module("imp").load_source("given_here", path)
        file, place, what = module("imp").find_module("given", [folder])
        return (
            again.X,
            again.__name__,
            sys.modules["given_here"] is again,
            module("imp").load_module("b", file, place, what).X,
        )

    def loaded_package():
        return module("imp").load_package("part_here", os.path.join(folder, "part")).Y

    def version(text):
        return module("distutils.version").LooseVersion(text)

    def strict(text):
        return module("distutils.version").StrictVersion(text)

    def copied_tree():
        copies = module("distutils.dir_util").copy_tree(
            folder, os.path.join(folder, "..", os.path.basename(folder) + "c")
        )
        module("distutils.dir_util").mkpath(os.path.join(folder, "x", "y"))
        module("distutils.dir_util").remove_tree(os.path.join(folder, "x"))
        return sorted(os.path.basename(each) for each in copies if each.endswith(".py")), os.listdir(folder).count("x")

    held = dict(locals(), json=json, sys=sys, HTMLParser=module("html.parser").HTMLParser)
    held.update((name, module(name)) for name in MODULES.split())
    if expressions is GONE:
        held["np"] = module("numpy")

    def show(value):
        if isinstance(value, type):
            return "class " + value.__name__
        if isinstance(value, types.FunctionType):
            return "function"
        return repr(value)

    return values(expressions, held, show)


def values(expressions, held, show):
    """The text of each value, or the kind of error."""
    found = {}
    for expression in expressions.split():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[expression] = show(eval(expression.replace("~", " "), held))
        except Exception as error:  # the answer
            found[expression] = "! " + type(error).__name__
    return found


if __name__ == "__main__":
    section = sys.argv[1]
    answers = numpy_values() if section == "numpy" else python_values(PYTHON if section == "python" else GONE)
    print(json.dumps(answers, indent=0, sort_keys=True))
