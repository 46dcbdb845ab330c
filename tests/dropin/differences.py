"""The checks whose answers differ on purpose, and why; docs/compatibility.md has each."""

PARTS = "parts that contradict one another are refused where they are read"
MATRIX = "a csr array has two dimensions"
WRITTEN = "a result that stores nothing is written too"
WORKS = "there is no reason to refuse it"
ZEROS = "rows of zeros are not stored"
QUANTIZED = "quantized networks are not in mxlite"
ORDERS = "everything that has a derivative has derivatives of any order"
ALIAS = "1.9.1 reads what it has written already where an output is a broadcast input"
SELU = "1.9.1's gradient of selu is not that of the function"
CRASH = "the process ends in 1.9.1"
DATA = "the data of FullyConnected is found from its weight"
OWN = "it is a function of its inputs"
KNOWN = "a size above 1 is the result's, whatever an unknown one beside it is"

DIFFERENCES = {
    "autograd: gradients_by_value": ORDERS,
    "autograd: second order x * x * x": ORDERS,
    "autograd: second order 1 / (x + 2)": ORDERS,
    "autograd: second order mx.nd.elemwise_mul(x, mx.nd.sin(x))": ORDERS,
    "autograd: second order mx.nd.square(x).mean()": ORDERS,
    "contrib: losses_of_gradients": ORDERS,
    "gluon: plain SELU": SELU,
    "gluon: hybrid SELU": SELU,
    "gluon: static SELU": SELU,
    "gluon: hybrid Identity": "a graph without an operator is a function that can be differentiated too",
    "gluon: transform RandomHue": "the last digit of colours",
    "gluon: transform RandomColorJitter": "1.9.1 multiplies by 0 where no jitter is asked for",
    "c graphs: infer  from a weight": DATA,
    "c graphs: infer Partial from a weight": DATA,
    "ndarray: write x += x[0]": ALIAS,
    "ndarray: write mx.nd.broadcast_add(x, x[0:1], out=x)": ALIAS,
    "nd: mx.nd.batch_take(w, mx.nd.array([0, 1, 2, 3, 0]))": "indices may have any dtype",
    "nd: mx.nd.amp_multicast(x.astype('float16'), x, num_outputs=2)": "it does what its parameters say",
    "nd: mx.nd.reshape(x, (5, 5))": "a shape of another size is an error",
    "nd: mx.nd._internal._scatter_set_nd(x, mx.nd.ones(2), mx.nd.array([[0, 1], [1, 0], [0, 0]]), shape=(2, 3, 4))": (
        OWN
    ),  # noqa: E501
    "nd: is refused: mx.nd.contrib.fft(w)": WORKS,
    "nd: is refused: mx.nd.contrib.quantized_flatten(x, mx.nd.array([-1]), mx.nd.array([1]))": QUANTIZED,
    "operator: mx.nd.Custom(a=x, b=y, op_type='pair')": CRASH,
    "operator: mx.nd.Custom(x, no_such=3, op_type='scaled')": CRASH,
    "corners: mx.sym.broadcast_add(a, b).infer_shape_partial(a=(2, 0), b=(1, 3))": KNOWN,
    "corners: mx.sym.broadcast_mul(a, b).infer_shape_partial(a=(2, 3), b=(0,))": KNOWN,
    "sym: net.infer_shape_partial(data=(0, 0))": "sizes that are not known stay so, and are no error",
    "sym: net.optimize_for('no such')": "there are no back ends to partition for",
    "image: mx.nd.image.flip_left_right(p)": "1.9.1 leaves the middle column of an odd width to chance",
    "gluon: half_precision": "operators compute in the dtypes of their arrays",
    "nd: floats float16": "products of float16 are computed",
    "np: np.insert(x, 1, 5.0, axis=0)": "a number is inserted along an axis, as in NumPy",
    "np: gradient of std": "std and var have gradients",
    "np: gradient of var": "std and var have gradients",
    "sparse: sp.csr_matrix(([1,2,3],[1,0],[0,1,2,3]),shape=(3,4))": PARTS,
    "sparse: sp.row_sparse_array((np.array([[1,2],[3,4]]),np.array([1])),shape=(3,2))": PARTS,
    "sparse: sp.zeros('csr',(2,3,4))": MATRIX,
    "sparse: sp.zeros('csr',(3,))": MATRIX,
    "sparse: sp.empty('csr',3)": MATRIX,
    "sparse: a=rsp();;a[:]=0;;a": ZEROS,
    "sparse: i=mx.init.Zero();;a=sp.zeros('row_sparse',(4,3));;i('weight',a);;a": ZEROS,
    "sym: net.simple_bind(mx.cpu(), data=(2, 6), stype_dict={'data': 'csr'})": WORKS,
    "sparse: csr()/dense()": WORKS,
    "sparse: nd.cast_storage(csr(),'row_sparse')": WORKS,
    "sparse: nd.cast_storage(rsp(),'csr')": WORKS,
    "sparse: nd.clip(csr(),1,2)": WORKS,
    (
        "sparse: x=rsp();;x.attach_grad('add');;mx.autograd.set_recording(True);;y=x*2;;"
        "mx.autograd.set_recording(False);;y.backward();;x.grad"
    ): WORKS,
    (
        "sparse: v=mx.sym.var('x');;"
        "e=mx.sym.sparse.dot(v,mx.sym.var('w')).simple_bind(mx.cpu(),x=(4,3),w=(3,2),stype_dict={'x':'csr'});;"
        "(e.arg_dict['x'].stype,e.arg_dict['w'].stype,[g if g is None else g.stype for g in e.grad_arrays])"
    ): WORKS,
    (
        "sparse: kv=mx.kv.create('local');;kv.init('a',csr());;kv.push('a',csr());;o=sp.zeros('csr',(4,3));;"
        "kv.pull('a',out=o,ignore_sparse=False);;o"
    ): WORKS,
    (
        "sparse: v=mx.sym.var('x');;"
        "e=mx.sym.sparse.dot(v,mx.sym.var('w')).simple_bind(mx.cpu(),x=(4,3),w=(3,2),stype_dict={'x':'foo'});;"
        "e"
    ): WORKS,
    (
        "sparse: v=mx.sym.var('x');;"
        "e=mx.sym.sparse.square(v).simple_bind(mx.cpu(),x=(4,3),stype_dict={'y':'row_sparse'});;"
        "e.arg_dict['x'].stype"
    ): WORKS,
    (
        "sparse: kv=mx.kv.create('local');;kv.init('a',rsp());;"
        "kv.set_optimizer(mx.optimizer.SGD(learning_rate=1.0));;kv.push('a',rsp());;"
        "o=sp.zeros('row_sparse',(4,3));;kv.row_sparse_pull('a',out=o,row_ids=nd.array([0,1,2,3]));;o"
    ): WORKS,
    (
        "sparse: kv=mx.kv.create('local');;kv.init('a',rsp());;o=sp.zeros('row_sparse',(4,3));;"
        "kv.row_sparse_pull('a',out=o,row_ids=nd.array([7]));;o"
    ): "rows beyond the array are refused",
    "sparse: csr()._aux_type(2)": "there are two arrays of indices",
    "sparse: x=nd.ones((2,2),dtype='float64');;x.attach_grad(stype='row_sparse');;x.grad": (
        "the dtype of a gradient is judged where it is given"
    ),
    "sparse: x=nd.ones((3,));;x.attach_grad(stype='csr');;x.grad": MATRIX,
    "sparse: csr()[1:1]+csr()[1:1]": WORKS,
    "sparse: sp.mean(csr()[1:1],axis=0)": "the mean of nothing is NaN",
    "sparse: sp.square(sp.zeros('csr',(2,3)))": "indptr is as that of any array",
    "sparse: sp.dot(csr(),nd.ones((3,)))": WORKS,
    "sparse: sp.dot(csr(),nd.ones((3,2,2)))": WORKS,
    "sparse: sp.dot(csr(),rsp(),transpose_a=True,forward_stype='default')": WORKS,
    "sparse: sp.dot(sp.csr_matrix([[0,1]]),sp.csr_matrix([[np.inf],[1]]))": "what is not stored is not multiplied",
    "sparse: a=sp.zeros('csr',(4,2));;sp.dot(csr(),nd.ones((3,2)),out=a);;a": WORKS,
    "sparse: dense()+csr()[0:1]": WORKS,
    "sparse: csr()/nd.zeros((4,3))": WORKS,
    "sparse: nd.Embedding(nd.array([1]),csr(),input_dim=4,output_dim=3)": WORKS,
    "sparse: sp.retain(csr(),nd.array([1]))": WORKS,
    "sparse: sp.retain(dense(),nd.array([1]))": WORKS,
    "sparse: a=rsp();;sp.retain(a,nd.array([1]),out=a);;a": WORKS,
    "sparse: a=csr();;sp.cast_storage(a,'csr',out=a);;a": WORKS,
    "sparse: nd.clip(rsp(),1,2)": WORKS,
    "sparse: nd._internal._square_sum(dense(),axis=1)": WORKS,
    "sparse: nd._internal._square_sum(rsp(),axis=(0,1))": WORKS,
    "sparse: nd.FullyConnected(dense(),sp.zeros('row_sparse',(2,3)),no_bias=True,num_hidden=2)": WORKS,
    "sparse: a=rsp();;nd.add_n(a,a,out=a);;a": "the input is read first",
    "sparse: a=rsp();;nd.elemwise_add(rsp(),a,out=a);;a": WORKS,
    "sparse: a=rsp();;sp.sqrt(sp.zeros('row_sparse',(4,3)),out=a);;a": WRITTEN,
    "sparse: a=csr();;sp.sqrt(sp.zeros('csr',(4,3)),out=a);;a": WRITTEN,
    "sparse: nd.broadcast_mul(csr()[1:2],nd.array([[2,3,4]]))": "all numbers count",
}
