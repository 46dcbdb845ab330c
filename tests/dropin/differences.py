"""The checks whose answers differ on purpose, and why; docs/compatibility.md has each."""

SPARSE = "mxlite has no sparse arrays, and says so"
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
    "gluon: plain SparseEmbedding": SPARSE,
    "gluon: hybrid SparseEmbedding": SPARSE,
    "gluon: static SparseEmbedding": SPARSE,
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
    "nd: is refused: mx.nd.sparse.csr_matrix((2, 3))": SPARSE,
    "nd: is refused: mx.nd.sparse.row_sparse_array((2, 3))": SPARSE,
    "nd: is refused: mx.nd.sparse.zeros('csr', (2, 3))": SPARSE,
    "nd: is refused: mx.nd.sparse.array(mx.nd.sparse.csr_matrix(np.eye(2)))": SPARSE,
    "nd: is refused: x.tostype('row_sparse')": SPARSE,
    "nd: is refused: mx.nd.contrib.quantize(x, mx.nd.array([-1]), mx.nd.array([1]))": QUANTIZED,
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
    "runtime: models_in_half_precision": "operators compute in the dtypes of their arrays",
    "np: np.insert(x, 1, 5.0, axis=0)": "a number is inserted along an axis, as in NumPy",
    "np: gradient of std": "std and var have gradients",
    "np: gradient of var": "std and var have gradients",
}
