"""Expressions over sparse arrays beside what the real MXNet 1.9.1 answered (tests/reference/sparse.json)."""

from __future__ import annotations

import json
from pathlib import Path

import _answers
import pytest

import mxlite as mx

RECORDED = json.loads((Path(__file__).parents[2] / "reference" / "sparse.json").read_text(encoding="ascii"))

#: Expressions that answer otherwise, and why; docs/compatibility.md has the rows.
DIFFERS = {
    "sp.csr_matrix((nd.array([1,2,3]),nd.array([1,0,2]),nd.array([0,1,2,3])))": "the shape follows",
    "sp.row_sparse_array((nd.array([[1,2],[3,4]]),nd.array([1,4])))": "the shape follows",
    "sp.row_sparse_array((np.array([[1,2],[3,4]]),np.array([4,1])))": "the shape follows from the largest index",
    "sp.zeros('csr',(2,3,4))": "csr has two axes",
    "sp.zeros('csr',(3,))": "csr has two axes",
    "sp.empty('csr',3)": "csr has two axes",
    "bool(sp.zeros('csr',(1,1)))": "one element is true or false",
    "csr()._aux_type(2)": "there are two arrays of indices",
    "a=csr();;a.copyto(a)": "as of a dense array",
    "rsp().retain(nd.array([1,0]))": "it works",
    "rsp().retain(nd.array([1,3],dtype='int64'))": "it works",
    "rsp().retain([1,3])": "it works",
    "csr()/dense()": "it works",
    "sp.subtract(1,csr())": "the number is on the left",
    "sp.subtract(3,csr())": "the number is on the left",
    "sp.divide(2,csr())": "the number is on the left",
    "nd.add(csr(),csr())": "as the operator +",
    "nd.multiply(csr(),csr())": "as the operator *",
    "nd.cast_storage(csr(),'row_sparse')": "it works",
    "nd.cast_storage(rsp(),'csr')": "it works",
    "nd.concatenate([csr(),csr()])": "it works",
    "nd.concatenate([rsp(),rsp()])": "it works",
    "nd.clip(csr(),1,2)": "it works",
    "x=rsp();;x.attach_grad('add');;mx.autograd.set_recording(True);;y=x*2;;mx.autograd.set_recording(False);;"
    "y.backward();;x.grad": "it works",
    "v=mx.sym.var('x');;e=mx.sym.sparse.dot(v,mx.sym.var('w')).simple_bind(mx.cpu(),x=(4,3),w=(3,2),"
    "stype_dict={'x':'csr'});;(e.arg_dict['x'].stype,e.arg_dict['w'].stype,"
    "[g if g is None else g.stype for g in e.grad_arrays])": "it works",
    "kv=mx.kv.create('local');;kv.init('a',rsp());;o=sp.zeros('row_sparse',(4,3));;"
    "kv.row_sparse_pull('a',out=o,row_ids=nd.array([7]));;o": "rows beyond the array are refused",
    "kv=mx.kv.create('local');;kv.init('a',csr());;kv.push('a',csr());;o=sp.zeros('csr',(4,3));;"
    "kv.pull('a',out=o,ignore_sparse=False);;o": "it works",
    "np.random.seed(0);;it=mx.io.NDArrayIter(csr(),nd.arange(4),batch_size=2,shuffle=True,"
    "last_batch_handle='discard');;[x.label for x in it]": "it works without SciPy",
    "v=mx.sym.var('x');;e=mx.sym.sparse.dot(v,mx.sym.var('w')).simple_bind(mx.cpu(),x=(4,3),w=(3,2),"
    "stype_dict={'x':'foo'});;e": "a KeyError names it",
    "v=mx.sym.var('x');;e=mx.sym.sparse.square(v).simple_bind(mx.cpu(),x=(4,3),stype_dict={'y':'row_sparse'});;"
    "e.arg_dict['x'].stype": "names of no argument are ignored, as those of dtypes",
    "p=mx.gluon.Parameter('p',shape=(4,3),stype='row_sparse');;p.initialize('ones');;p._reduce()": "it works",
    "x=nd.ones((2,2),dtype='float64');;x.attach_grad(stype='row_sparse');;x.grad": "gradients have the array's dtype",
    "x=nd.ones((3,));;x.attach_grad(stype='csr');;x.grad": "csr has two axes",
    "csr()[0:0]": "0 is an end",
    "csr()[-1:0]": "0 is an end",
    "csr()[1:1]+csr()[1:1]": "it works",
    "sp.mean(csr()[1:1],axis=0)": "the mean of nothing is NaN",
    "sp.square(sp.zeros('csr',(2,3)))": "indptr is as that of any array",
    "sp.dot(csr(),nd.ones((3,)))": "it works",
    "sp.dot(csr(),nd.ones((3,2,2)))": "it works",
    "sp.dot(csr(),rsp(),transpose_a=True,forward_stype='default')": "it works",
    "sp.dot(sp.csr_matrix([[0,1]]),sp.csr_matrix([[np.inf],[1]]))": "what is not stored is not multiplied",
    "a=sp.zeros('csr',(4,2));;sp.dot(csr(),nd.ones((3,2)),out=a);;a": "it works",
    "dense()+csr()[0:1]": "it works",
    "csr()/nd.zeros((4,3))": "it works",
    "nd.Embedding(nd.array([1]),csr(),input_dim=4,output_dim=3)": "it works",
    "sp.retain(csr(),nd.array([1]))": "it works",
    "sp.retain(dense(),nd.array([1]))": "it works",
    "a=rsp();;sp.retain(a,nd.array([1]),out=a);;a": "it works",
    "a=csr();;sp.cast_storage(a,'csr',out=a);;a": "it works",
    "nd.clip(rsp(),1,2)": "it works",
    "nd._internal._square_sum(dense(),axis=1)": "it works",
    "nd._internal._square_sum(rsp(),axis=(0,1))": "it works",
    "nd.FullyConnected(dense(),sp.zeros('row_sparse',(2,3)),no_bias=True,num_hidden=2)": "it works",
    "a=rsp();;nd.add_n(a,a,out=a);;a": "the input is read first",
    "a=rsp();;nd.elemwise_add(rsp(),a,out=a);;a": "it works",
    "a=rsp();;sp.sqrt(sp.zeros('row_sparse',(4,3)),out=a);;a": "the result is written",
    "a=csr();;sp.sqrt(sp.zeros('csr',(4,3)),out=a);;a": "the result is written",
    "nd.broadcast_mul(csr()[1:2],nd.array([[2,3,4]]))": "all numbers count",
}


def _is_same(found: str, recorded: str) -> bool:
    """Errors are the same where one of its classes is the recorded one; mxlite's own begin with MX."""
    if not recorded.startswith("! "):
        return found == recorded
    wanted = recorded.split()[1]
    return found.startswith("! ") and {wanted, f"MX{wanted}"} & set(found.split()) != set()


@pytest.mark.parametrize("line", _answers.lines())
@pytest.mark.filterwarnings("ignore")
def test_an_answer(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert line in RECORDED, "record the answers of 1.9.1: _answers.py says how"
    found = _answers.answer(mx, line)
    if line in DIFFERS:
        assert not _is_same(found, RECORDED[line]), "the answer is 1.9.1's now: drop it from DIFFERS"
    else:
        assert _is_same(found, RECORDED[line]), f"{found}\n1.9.1: {RECORDED[line]}"


def test_what_differs_is_asked() -> None:
    assert set(DIFFERS) <= set(_answers.lines()) and len(set(_answers.lines())) == len(_answers.lines())


def test_names_are_those_of_1_9_1() -> None:
    """`mx.nd.sparse` and `mx.sym.sparse` have the functions that 1.9.1's `__all__` lists."""
    operators = """ElementWiseSum Embedding FullyConnected LinearRegressionOutput LogisticRegressionOutput
    MAERegressionOutput _contrib_round_ste _contrib_sign_ste abs adagrad_update adam_update add_n arccos arccosh arcsin
    arcsinh arctan arctanh broadcast_add broadcast_div broadcast_minus broadcast_mul broadcast_plus broadcast_sub
    cast_storage cbrt ceil clip concat cos cosh degrees dot elemwise_add elemwise_div elemwise_mul elemwise_sub exp
    expm1 fix floor ftrl_update gamma gammaln log log10 log1p log2 make_loss mean negative norm radians relu retain rint
    round rsqrt sgd_mom_update sgd_update sigmoid sign sin sinh slice sqrt square stop_gradient sum tan tanh trunc where
    zeros_like""".split()
    for name in operators:
        assert callable(getattr(mx.nd.sparse, name)) and callable(getattr(mx.sym.sparse, name)), name
    public = {name for name in operators if name[0] != "_"}
    assert public <= set(dir(mx.sym.sparse))
    written = {"csr_matrix", "row_sparse_array", "zeros", "empty", "array", "add", "subtract", "multiply", "divide"}
    assert public | written | {"BaseSparseNDArray", "CSRNDArray", "RowSparseNDArray"} <= set(dir(mx.nd.sparse))
