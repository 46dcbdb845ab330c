"""Programs of `mx.sym.np` whose answers 1.9.1 has given (tests/reference/numpy/symbols.json.xz), and what an answer is.

A program is an expression of symbols; VALUES are the arrays that they stand for. make_symbols.py runs programs on
1.9.1, test_numpy_symbols.py here.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy

#: The arrays of the variables.
VALUES = {
    "x": numpy.array([[1.0, 2.0], [3.0, 4.5]], "float32"),
    "y": numpy.array([[0.5, -1.0], [2.0, 1.5]], "float32"),
    "v": numpy.array([1.0, 2.0, 3.0], "float32"),
    "c": numpy.arange(1, 9, dtype="float32").reshape(2, 2, 2),
    "i": numpy.array([1, 0], "int32"),
    "b": numpy.array([[True, False], [False, True]]),
    "d": numpy.array([1.0, 2.0], "float64"),
    "z": numpy.array(3.5, "float32"),
    "s": numpy.array([[2.0, 0.5], [0.5, 1.0]], "float32"),
}

#: Arguments that every function of `mx.sym.np` is called with; those that 1.9.1 refuses are left out of the answers.
ARGUMENTS = """
x
x,y
x,2
2,x
x,axis=1
x,axis=0,keepdims=True
v
[x,y]
b,x,y
b,x,3
i
x,i
i,2
x,(4,)
x,(2,2)
x,0,1
x,1
x,dtype='float64'
(2,3)
3
x,50
c
c,2
z
x,z
d,2.5
""".split()

PROGRAMS = """
np.add(2,3) | np.zeros(()) | np.zeros((2,3),dtype='int32') | np.arange(1,9,2) | np.eye(3,k=1) | np.full((2,),x[0])
np.full_like(x,3,dtype='int32') | np.linspace(0,1,5,retstep=True) | np.linspace(0,1,5,endpoint=False)
np.hsplit(x,(1,)) | np.split(x,[1],axis=1) | np.array_split(x,2) | np.concatenate([x,y],axis=1)
np.concatenate([x,y],axis=None) | np.append(x,y,axis=0) | np.stack([x,y],axis=1) | np.atleast_1d(x,z)
np.pad(x,((1,1),(0,0))) | np.resize(x,(3,3)) | np.pad(x,((1,1),(0,2)),mode='edge') | np.reshape(x,(4,-1))
np.unique(x,True,True,True) | np.unravel_index(i,(3,4)) | np.histogram(x,4,(0,5)) | np.histogram(x,v)
np.where(b,3,2) | np.where(b,3,y) | np.where(True,x,y) | np.clip(x,None,2) | np.clip(x,2,4) | np.take(x,i)
np.take(x,i,axis=1,mode='clip') | np.average(x,weights=y) | np.dsplit(c,2)
np.average(x,axis=0,weights=y,returned=True) | np.bincount(i,d) | np.bincount(i,minlength=5) | np.percentile(v,d)
np.quantile(x,0.5,axis=1) | np.percentile(x,50,interpolation='nearest') | np.ediff1d(v,2,y)
np.tensordot(x,y,([0],[1])) | np.tensordot(x,y,1) | np.einsum('ij,jk->ik',x,y) | np.delete(x,1,axis=0)
np.delete(v,slice(0,2)) | np.delete(x,i) | np.insert(x,1,2) | np.insert(v,1,2,axis=0)
np.insert(x,slice(0,1),y,axis=1) | np.insert(x,i,y,axis=0) | np.flip(x,1) | np.rot90(x,2) | np.tile(x,(2,1))
np.broadcast_to(2,(2,3)) | np.broadcast_to(v,(2,3)) | np.indices((2,3)) | np.diff(v,2) | np.nan_to_num(x,nan=1.0)
np.round_(x/3,2) | np.std(x,ddof=1,axis=0) | np.sum(x,name='total') | np.sum(x,axis=(0,1)) | np.roll(x,1,axis=1)
np.repeat(x,2,axis=1) | np.moveaxis(c,0,2) | np.swapaxes(c,0,2) | np.transpose(c,(1,0,2)) | np.linalg.norm(x)
np.linalg.norm(x,ord='fro',axis=(0,1)) | np.linalg.norm(x,ord=1,axis=0) | np.linalg.norm(x,axis=1)
np.linalg.norm(x,ord=3,axis=1) | np.linalg.norm(x,2,axis=1,keepdims=True) | np.linalg.norm(x,'nuc',axis=(0,1))
np.linalg.norm(x,1,axis=(0,1)) | np.linalg.norm(c) | np.linalg.svd(x) | np.linalg.eigvalsh(s) | np.linalg.pinv(x)
np.linalg.cholesky(s) | np.linalg.det(x) | np.linalg.slogdet(x) | np.linalg.inv(x) | np.linalg.solve(x,y)
npx.relu(y) | npx.sigmoid(x) | npx.softmax(x,axis=0) | npx.log_softmax(x) | npx.reshape(c,(-2,-1)) | npx.topk(x,k=1)
npx.topk(x,k=2,ret_typ='both') | npx.pick(x,i) | npx.one_hot(i,4) | npx.leaky_relu(y,act_type='leaky') | npx.erf(x)
npx.embedding(i,x,input_dim=2,output_dim=2) | npx.batch_dot(c,c) | npx.batch_flatten(c)
npx.activation(y,act_type='tanh') | npx.fully_connected(x,y,num_hidden=2,no_bias=True,name='fc')
npx.gather_nd(x,np.zeros((1,1),dtype='int32')) | npx.gamma(x) | npx.arange_like(x,axis=0)
npx.sequence_mask(c,value=1) | npx.smooth_l1(x,scalar=1.0) | npx.reshape_like(x,y) | npx.shape_array(x)
npx.slice(x,begin=(0,1),end=(1,2)) | npx.cast(x,dtype='int32')
npx.layer_norm(x,d.astype('float32'),z*d.astype('float32')) | x+y | x+2 | 2+x | x-y | 2-x | x*y | 2*x | x/y | 2/x
x%2 | 7%x | x**2 | 2**x | x**y | -x | x==y | x!=2 | x<y | x>2 | x>=y | x<=3 | i+1 | i*2 | i/2 | x+z | x+v[0] | x[0]
x[1:2] | x[0,1:2] | x[0,1] | x[0:2][1] | c[:,1] | c[1:,0,:1] | c[0] | x.T | x.sum() | x.sum(axis=1,keepdims=True)
x.mean(1) | x.max() | x.min(0) | x.argmax(1) | x.argmin() | x.std() | x.var(0) | x.cumsum() | x.prod()
x.reshape(4,1) | x.reshape((-1,)) | x.transpose() | c.transpose(1,0,2) | x.flatten() | x.round() | x.astype('int32')
x.dot(y) | x.swapaxes(0,1) | x.squeeze() | x.take(i,axis=0) | x.clip(2,3) | x.repeat(2,axis=0) | x.argsort(axis=0)
np.split(x,2)[1] | np.split(x,2)[0:1] | np.sin(x)*np.exp(y)-np.sum(x*y,axis=1,keepdims=True)
np.dot(np.tanh(x),y.T)+npx.relu(x-2) | x.as_nd_ndarray() | x.as_nd_ndarray().as_np_ndarray()
x.as_np_ndarray() is x | np.sum(x.as_nd_ndarray()) | mx.sym.exp(x) | x+x.as_nd_ndarray()
mx.sym.exp(x.as_nd_ndarray()) | x[None] | x[i] | len(x) | bool(x) | hash(x) | x+'a' | iter(x) | x.asnumpy()
repr(x+y) | x.num_outputs | x.exp() | np.sin(x,name='f') | np.add(x,y,where=True) | np.sin(x,out=y)
mx.sym.Group([x,y]) | np.delete(x,[1,2]) | np.histogram(x,4)
""".replace("\n", " | ").split(" | ")


def programs(mx: Any) -> list[str]:
    """All programs."""
    names = sorted(name for name in dir(mx.sym.np) if name[0] != "_" and callable(getattr(mx.sym.np, name)))
    grid = [f"np.{name}({arguments})" for name in names for arguments in ARGUMENTS]
    return [*dict.fromkeys([*grid, *filter(None, PROGRAMS)])]


def run(program: str, mx: Any) -> Any:
    """The answer of a program. Raises: what it raises."""
    mx.npx.set_np()
    with mx.name.NameManager():
        names = {name: mx.sym.var(name).as_np_ndarray() for name in VALUES}
        made = eval(program, {"mx": mx, "np": mx.sym.np, "npx": mx.sym.npx, **names})
    outputs = list(made) if isinstance(made, (list, tuple)) else [made]
    symbols = [each for each in outputs if isinstance(each, mx.sym.Symbol)]
    kinds = [type(made).__name__, *(type(each).__name__ for each in outputs)]
    if not symbols:
        return {"kinds": kinds, "text": str(made)}
    graph = mx.sym.Group(symbols)
    return {"kinds": kinds, "json": graph.tojson(), "outputs": graph.list_outputs(), **computed(graph, mx)}


def computed(graph: Any, mx: Any) -> dict[str, Any]:
    """What a symbol computes of VALUES: shapes and dtypes as inferred, values, and gradients (None: there are none)."""
    given = {name: VALUES[name] for name in graph.list_arguments()}
    types = {name: each.dtype for name, each in given.items()}
    shapes = graph.infer_shape_partial(**{name: each.shape for name, each in given.items()})[1]
    dtypes = graph.infer_type_partial(**types)[1]
    arrays = {name: mx.np.array(each, dtype=each.dtype) for name, each in given.items()}
    values = [_described(each) for each in graph.bind(mx.cpu(), arrays, grad_req="null").forward()]
    return {
        "shapes": [list(each) for each in shapes],
        "dtypes": [None if each is None else numpy.dtype(each).name for each in dtypes],
        "values": values,
        "grads": _gradients(graph, arrays, mx),
    }


def _gradients(graph: Any, arrays: dict[str, Any], mx: Any) -> Any:
    floats = {name: each for name, each in arrays.items() if numpy.dtype(each.dtype).kind == "f"}
    if not floats:
        return None
    grads = {name: mx.np.zeros(each.shape, dtype=each.dtype) for name, each in floats.items()}
    requests = {name: "write" if name in floats else "null" for name in arrays}
    try:
        executor = graph.bind(mx.cpu(), arrays, grads, requests)
        heads = [mx.nd.ones(each.shape, dtype=each.dtype) for each in executor.forward(is_train=True)]
        executor.backward(heads)
        return {name: _described(each) for name, each in sorted(grads.items())}
    except (mx.MXNetError, ValueError):
        return None


def _described(array: Any) -> Any:
    values = array.asnumpy()
    elements = [each if math.isfinite(each) else str(each) for each in values.ravel().tolist()]
    return [values.dtype.name, list(values.shape), elements]


def nodes(text: str) -> list[Any]:
    """The nodes of a symbol's JSON that are no variables: operators, names, and their inputs."""
    graph = json.loads(text)
    return [[each["op"], each["name"], each["inputs"]] for each in graph["nodes"] if each["op"] != "null"]
