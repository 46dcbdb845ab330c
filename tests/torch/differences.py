"""How calls of mxlite.torch differ from PyTorch's and stay so, by name, with the reason: check_calls.py reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Difference:
    """What differs of some functions.

    Attributes:
        names: A pattern that the function's whole name matches.
        what: A pattern of what differs: "refused", "values", "gradient 2", ...
        reason: Why it stays.
        detail: A pattern found in the answers.
        text: A pattern found in the call.
    """

    names: str
    what: str
    reason: str
    detail: str = ""
    text: str = ""

    def is_that(self, call: Any, what: str, detail: str) -> bool:
        """Whether a call's difference is this one."""
        return bool(
            re.fullmatch(self.names, call.name)
            and re.fullmatch(self.what, what)
            and re.search(self.detail, detail)
            and re.search(self.text, call.program())
        )


def _of(names: str) -> str:
    """A pattern of functions by their names without the module, in place or not."""
    return rf"\w+\.({names})_?"


#: A special number in a call.
_SPECIAL = r"1e[+-]?\d\d|\d[eE][+-]\d\d|inf|nan|5e-324"

#: What is not there, and says so.
_MISSING = (
    Difference(_of("as_strided"), "refused|class of the error",
               "there is no storage beside a tensor's own elements", "as_strided of a tensor with gaps"),
    Difference("Tensor.view", "refused|class of the error", "there is no view of the bytes as another dtype",
               r"has no Tensor.view\(dtype\)"),
    Difference("Tensor.put_|" + _of("put|index_put"), "refused", "there is no adding at a key to int16",
               "not supported of int16"),
    Difference("linalg.det", "refused", "there is no float16 in linear algebra, of no elements neither",
               "none of dtype Half"),
)  # fmt: skip

#: What PyTorch refuses and need not: the answer is the plain one.
_MORE = (
    Difference(r"torch.(flip|permute|reshape|tile)|Tensor.(expand|permute|reshape|repeat|tile)",
               "accepted|class of the error",
               "extents and dimensions are taken as a list or one by one, by functions and methods alike",
               r"must be tuple of ints, not|takes \d+ positional arguments|missing 1 required positional"),
    Difference(".*", "accepted", "operands of different dtypes are promoted where PyTorch wants one dtype",
               "must have the same dtype|must be the same, got|expected scalar type|expect parameter to have scalar "
               "type|Found dtype|dtypes match, got|needs_dynamic_casting|expected m1 and m2"),
    Difference("F.huber_loss", "accepted", "integers are promoted", "can't be cast"),
    Difference(_of("stft"), "accepted", "float16 is transformed in float32", "type: Half"),
    Difference("F.(batch_norm|binary_cross_entropy(_with_logits)?|cross_entropy|nll_loss)", "accepted",
               "a weight or a running mean that wants a gradient is no error",
               "is not differentiable with respect to argument"),
    Difference(_of("logsumexp"), "accepted|class of the error", "no dimension, or None, is all of them, as in sum",
               "NoneType|doesn't match the broadcast shape"),
    Difference("F.binary_cross_entropy(_with_logits)?", "accepted", "a weight may be larger than what it weighs",
               "doesn't match the broadcast shape"),
    Difference("Tensor.detach_", "accepted", "a view can leave the graph alone", "Can't detach views in-place"),
    Difference(_of("take_along_dim"), "accepted", "a tensor is flattened whatever its strides", "view size is not"),
    Difference(_of("round"), "accepted", "decimals=0 is no decimals", "round_vml_cpu", "decimals=0"),
    Difference("torch.randint_like", "accepted", "numbers of bool are cast", "out of bounds for bool"),
    Difference(_of("index_fill|index_put|masked_fill|tensor|as_tensor|asarray|baddbmm|pow"
                   "|index_add|threshold") + "|torch.(lin|log)space|Tensor.__i?pow__",
               "accepted", "a number beyond a dtype's range is cast as a tensor's is",
               "without overflow", _SPECIAL + r"|-\d|\d{9}|logspace"),
    Difference("torch.rand_like|Tensor.(uniform_|normal_)", "accepted", "no integers are drawn of no elements",
               "not implemented for"),
    Difference(_of("index_fill|index_put|masked_fill|einsum"), "accepted", "integers have no gradient",
               "Autograd not support"),
    Difference("F.pad", "accepted|class of the error", "a number beyond a dtype's range is cast", "overflow"),
    Difference("F.binary_cross_entropy_with_logits", "accepted", "integers are promoted", "log_sigmoid_cpu"),
    Difference(_of("addmv"), "accepted", "a product of truth values by a factor 0", "addmv_impl_cpu"),
)  # fmt: skip

#: What PyTorch takes and should not.
_LESS = (
    Difference(_of("bmm|matmul|linear|mv|mm|baddbmm") + "|Tensor.__matmul__", "refused",
               "products of no elements are held to one dtype, too", "same dtype|must be the same"),
    Difference("F.batch_norm", "refused|class of the error", "PyTorch writes running values into expanded tensors",
               "share memory"),
    Difference("Tensor.__i?pow__|" + _of("linspace|logspace|softmax|log_softmax|softmin|cumprod|cumsum|pow|einsum")
               + r"|\w+.median", "refused",
               "what a dtype has not got is refused of no elements and of powers of 1, too",
               "there is none of dtype|bool is not supported"),
    Difference("torch.tensordot", "refused", "truth values are not multiplied, one by one neither",
               "mm: there is none of dtype"),
    Difference("torch.full_like|Tensor.new_full|" + _of("scatter|index_add"), "refused",
               "a number that the dtype cannot hold", "outside the range"),
    Difference("torch.cat|torch.concat|torch.concatenate", "refused", "empty vectors have one dimension as others have",
               "there is no dimension"),
    Difference(_of("index_add"), "refused", "a wrong index is refused of no elements, too", "is outside"),
    Difference("Tensor.index_put_", "refused", "truth values are not added up", "adding by index: dtype bool"),
)  # fmt: skip

#: Calls with two mistakes, of which the other one is named first.
_FIRST = (
    Difference(_of("index_add"), "class of the error", "two mistakes", "index"),
    Difference("F.huber_loss", "class of the error", "two mistakes", "not implemented for|there is none of dtype"),
    Difference(_of("nansum|sum|prod|cumsum|cumprod"), "class of the error", "two mistakes",
               "Autograd not support|a gradient is wanted|there is none of dtype"),
    Difference("F.cosine_similarity", "class of the error", "two mistakes", "common dtype"),
    Difference("F.smooth_l1_loss|F.huber_loss|F.l1_loss|F.mse_loss|F.kl_div", "class of the error", "two mistakes",
               "valid value for reduction"),
    Difference("torch.trace|Tensor.trace", "class of the error", "two mistakes", "trace"),
    Difference(_of("baddbmm|addmm|bmm|matmul|einsum|pow|index_select|dropout|repeat_interleave|lerp"
                   "|div|divide|true_divide")
               + "|Tensor.__i?(pow|mod)__|" + _of("logaddexp|softmax|log_softmax|softmin|nll_loss")
               + "|F.scaled_dot_product_attention",
               "class of the error", "two mistakes",
               "not implemented for|there is none of dtype|out of|cast to|must have"),
    Difference("torch.broadcast_shapes|torch.arange", "class of the error", "a shape that there cannot be",
               "negative length|Maximum allowed"),
    Difference(_of("std|var|std_mean|var_mean"), "class of the error", "two mistakes", "only support floating point"),
    Difference(_of("permute"), "class of the error", "two mistakes", "duplicate dims"),
)  # fmt: skip

#: A zero in a call, or small integers, which are exponents.
_ZERO, _WHOLE = r"[\[ (]-?0\.0[,\])]", r"[\[ (]-?[0123]\.0[,\])]"

#: Where PyTorch's derivative is missing, wrong, or no number; ours is compared with finite differences elsewhere.
_DERIVATIVES = (
    Difference("Tensor.(arc|a)(sinh|cosh|tanh)_", "gradient 1", "PyTorch has no derivative of these in place",
               "derivative for 'inplace version"),
    Difference("F.hardsigmoid", "gradient 1", "PyTorch's sixth is rounded to single precision"),
    Difference("F.hardsigmoid", "gradient 2", "PyTorch has no second derivative", "hardsigmoid_backward"),
    Difference("F.(layer_norm|batch_norm)", "gradient 3", "PyTorch's third derivative takes the variance as constant"),
    Difference(_of("scatter_add|scatter"), "gradient 1", "PyTorch's rule wants a source no larger than the index",
               "(Scatter(Add)?Backward0|CopySlices) returned an invalid gradient"),
    Difference(_of("index_fill"), "gradient 1", "PyTorch's rule wants one index for a tensor without dimensions",
               "Index to scalar can have only 1 value"),
    Difference(_of("clamp|clip"), "gradient 1", "PyTorch does not sum the gradient to a tensor smaller than its bounds",
               "doesn't match the broadcast shape"),
    Difference(_of("atan2|arctan2"), "gradient [123]", "PyTorch's rule computes in the dtype of an integer operand",
               "", "dtype=torch.(u?int|bool)"),
    Difference(_of("addcdiv"), "gradient 1", "PyTorch's rule divides integers in place", "can't be cast"),
    Difference("F.huber_loss", "gradient 1", "PyTorch's rule wants one dtype", "Found dtype"),
    Difference("Tensor.__rpow__|Tensor.(index_put|masked_fill|fill)_", "gradient 1", "PyTorch fails within",
               "INTERNAL ASSERT FAILED"),
    Difference(".*", "gradient [123]", "PyTorch's rule subtracts truth values",
               "Subtraction, the `-` operator, with (a bool tensor|two bool tensors) is not supported.*/ .*\\["),
    Difference("torch.index_fill", "gradient 1", "PyTorch's rule picks nothing from a number", "Index to scalar"),
    Difference(_of("addcdiv"), "gradient 1", "PyTorch's rule computes in the dtype of an integer operand", "",
               "dtype=torch.u?int"),
    Difference(_of("addcdiv"), "gradient [23]", "infinities that meet at a division by 0", "nan", _ZERO),
    Difference("F.normalize", "gradient 1", "digits of float16", "", "float16"),
    Difference(r"\w+\.(rrelu_?|hardshrink)", "gradient 1", "the slope at NaN", "", "nan"),
    Difference("torch.broadcast_shapes|torch.cumulative_trapezoid|" + _of("div|divide"), "class of the error",
               "two mistakes"),
    Difference(_of("renorm"), "gradient 1", "roots at 0", "", r"0\.0\b"),
    Difference("F.normalize|" + _of("norm|vector_norm"), "gradient [23]", "the length at 0", "nan", _ZERO),
    Difference(_of("prod"), "gradient [123]", "products beyond the dtype's range", "inf|nan"),
    Difference(_of("prod"), "gradient [123]", "products beyond the dtype's range", "", _SPECIAL),
    Difference(_of("xlogy|xlog1py"), "gradient 1", "0 times the logarithm of NaN", "nan",
               r"xlog(y|1py)_?\((t0, )?nan"),
    Difference(_of("digamma"), "gradient [123]", "no number is the derivative at a pole", r"inf|e[+]?[123]\d"),
    Difference(_of("lgamma|gammaln"), "gradient [23]", "no number is the derivative at a pole", r"inf|e[+]?[123]\d"),
    Difference(_of("var|std|var_mean|std_mean"), "gradient [123]",
               "PyTorch's rule counts the elements of no dimensions as one", "", r"\(\)[,)]"),
    Difference(_of("pow|float_power") + "|Tensor.__i?pow__", "gradient [23]",
               "PyTorch takes x ** 0, which derivatives of whole powers come to, as constant in the exponent, too", "",
               _WHOLE),
    Difference("Tensor.__rpow__", "gradient [23]", "0 ** x is constant above 0", "nan", r"; (0|0\.0|False) \*\*"),
    Difference("Tensor.__pow__|" + _of("pow|float_power"), "gradient [23]", "0 ** x is constant above 0", "nan",
               "dtype=torch.bool"),
    Difference("F.prelu", "gradient [23]", "PyTorch takes the other side of 0 from the second derivative on", "",
               _ZERO),
    Difference(_of("cumprod"), "gradient [123]", "PyTorch divides by elements, and so loses digits", "", _SPECIAL),
    Difference("F.binary_cross_entropy", "gradient [23]", "near 0 and 1 digits are lost, and PyTorch has no number",
               r"nan|inf|\d{7}\.|e\+"),
    Difference("F.relu6|F.hardtanh|F.(soft|hard)shrink", "gradient 1", "PyTorch passes a gradient at a NaN by place",
               "", "nan"),
    Difference(_of("div|divide|true_divide") + "|Tensor.__i?truediv__", "gradient [123]",
               "infinities that meet at a division by 0 or by nearly nothing", "inf|nan|e[+-]"),
    Difference(_of("logdet"), "gradient [123]", "the logarithm of a negative determinant is no number"),
    Difference(_of("vector_norm|norm"), "gradient [123]", "the largest of numbers beside a NaN", "nan", "nan"),
    Difference(_of("atan2|arctan2|hypot"), "gradient [123]", "an angle or a distance at the origin", "",
               _ZERO + "|" + _SPECIAL),
    Difference("F.leaky_relu", "gradient 1", "an infinite slope times nothing is no number", "nan", "inf"),
)  # fmt: skip

#: Numbers that are another for a reason.
_NUMBERS = (
    Difference("Tensor.(is_set_to|storage_offset|stride)", "values", "what is empty has no place in memory", "",
               r"torch.zeros\(|\[1:\]|\(0[,)]|::2"),
    Difference(_of("median"), "values", "PyTorch reads beside an expanded tensor", "", "expand"),
    Difference("F.binary_cross_entropy(_with_logits)?", "dtype", "the wider of two dtypes, not the target's"),
    Difference(_of("std|std_mean"), "gradient [123]", "PyTorch's equal numbers deviate from their mean", "", "expand"),
    Difference(_of("lerp"), "dtype", "a weight without dimensions has no say in the dtype"),
    Difference("torch.einsum", "dtype", "the wider of two dtypes, of no elements, too", r"\[\]"),
    Difference(_of("clamp|clip|clamp_min|clamp_max|maximum|minimum|max|min|amax|amin"), "sign of zero",
               "0 and -0 are equal: which of both is taken is open"),
    Difference("F.softshrink", "sign of zero", "PyTorch's sign depends on the element's place"),
    Difference("F.dropout", "dtype", "what is dropped is multiplied by 0.0", "", "dtype=torch.(bool|u?int)"),
    Difference("F.elu|F.nll_loss|F.batch_norm|F.layer_norm|F.binary_cross_entropy", "sign of zero",
               "a product with -0 or -1 is -0"),
    Difference(_of("index_add|index_put|scatter_add|cumsum"), "sign of zero", "-0 + 0 is 0"),
    Difference(_of("tensordot|baddbmm|bmm|matmul|addmm|addmv|mm|mv|dot|vdot|inner|einsum|solve|stft"), "sign of zero",
               "the sign of a sum of zeros depends on their order"),
    Difference(r"(F|torch)\.(batch_norm|layer_norm|group_norm)", "values|sign of zero|gradient [123]",
               "sums of squares beyond the dtype's range", "", _SPECIAL),
    Difference(r"(F|torch)\.(batch_norm|layer_norm|group_norm)", "values|gradient 1",
               "numbers that nearly vanish, rounded", "", "float16|float32"),
    Difference(_of("stft"), "values|gradient [123]", "sums in another order", "", _SPECIAL),
    Difference("F.gelu", "values", "PyTorch's infinity times nothing depends on the element's place", "inf|nan", "inf"),
    Difference("F.elu", "values|gradient [123]", "infinity times nothing", "nan", r"(inf|nan)\)"),
    Difference(_of("sum|nansum|mean|add|sub|subtract|scatter_add|index_add"), "values",
               "numbers whose order counts, or beyond an integer", "",
               _SPECIAL),
    Difference(_of("remainder|fmod") + "|Tensor.__r?i?mod__", "values|gradient 1",
               "a quotient beyond the range, which PyTorch's vectors and single elements see differently", "nan",
               _SPECIAL),
    Difference(_of("addcdiv|addcmul|solve|addmm|addmv|baddbmm") + "|F.scaled_dot_product_attention",
               "values|gradient 1", "large numbers, infinities and NaN are met in another order", "", _SPECIAL),
    Difference(_of("norm|vector_norm") + "|F.(pairwise_distance|cosine_similarity|normalize)", "values|gradient 1",
               "powers beyond the dtype's range", "", _SPECIAL),
    Difference(_of("std_mean|var_mean"), "values", "PyTorch's mean beside the deviation is none of infinities, and is "
               "added up in another order", "", _SPECIAL),
    Difference(r"(F|torch)\.celu_?", "values|gradient [123]", "1 / alpha is beyond the range", "",
               r"inf\)|nan\)|5e-324\)"),
    Difference(_of("pow|float_power") + "|Tensor.__i?pow__", "values|sign of zero|gradient [123]",
               "PyTorch's power by 0.5 is a root, and numbers keep more digits than the dtype", "", _SPECIAL),
    Difference(_of("pow|float_power") + "|Tensor.__i?pow__", "values|gradient [123]",
               "PyTorch's power by -0.5 is 1 / sqrt(x), which of -0.0 is -inf", "inf", r"-0\.0.*-0\.5"),
    Difference(_of("mul|multiply|div|divide|true_divide") + "|Tensor.__[ir]?mul__", "values",
               "PyTorch's float16 times a number of another dtype is computed in float32", "inf|nan", "float16"),
    Difference(_of("logical_(and|or|xor)"), "values", "PyTorch casts a number beyond the dtype's range first", "",
               r"\d{9}"),
    Difference(_of("add|sub|subtract"), "sign of zero", "products below the smallest number", "", "5e-324"),
)  # fmt: skip

_LINEAR = _of(
    "qr|svd|orgqr|householder_product|pinverse|lu|lu_factor|lu_unpack|lu_solve|lstsq|cond|cross|pinv|matrix_rank"
    "|solve_ex"
    "|svdvals|vecdot|lu_factor_ex|triangular_solve|solve_triangular"
    "|matrix_norm|nuclear_norm|norm|cholesky_solve|cholesky_inverse|inv_ex"
)

#: Of functions of order, of sets, of linear algebra, and special ones.
_NAMES = (
    Difference(_of("ldexp"), "values", "PyTorch cuts exponents to 32 bits", "", r"\d{10}"),
    Difference(_of("ldexp"), "gradient [123]", "powers beyond the dtype's range", "", _SPECIAL),
    Difference(_of("ldexp"), "gradient [123]", "PyTorch's rule takes 2 to a whole power, which is 0 below 1", "",
               r"dtype=torch\.u?int"),
    Difference("Tensor.index_fill_", "gradient 1", "of no elements an index is not looked at",
               "INDICES element is out"),
    Difference(".*", "accepted", "float16 is computed in float64", "not implemented for 'Half'|[Ll]ow precision"),
    Difference(".*", "class of the error", "two mistakes, or a dtype that linear algebra has not got",
               "there is none of dtype|float64 is not supported|Half|Bool"),
    Difference(r"(torch|Tensor)\.(arc|a)(sin|cos|tan)h_", "gradient 1", "PyTorch has no derivative of these in place",
               "derivative for 'inplace version"),
    Difference("torch.detach_", "accepted", "a view can leave the graph alone", "Can't detach views"),
    Difference("torch.set_flush_denormal", "values", "numbers near 0 stay what they are"),
    Difference("torch.(layer|group)_norm", "gradient [123]", "as of torch.nn.functional"),
    Difference(_of("prelu"), "gradient [23]", "as of torch.nn.functional"),
    Difference(_of("scatter"), "gradient 1", "there is a derivative with `reduce`", "derivative for aten::scatter"),
    Difference(_of("scatter_reduce"), "gradient 1", "PyTorch's rule wants a source no larger than the index",
               "ScatterReduceBackward0 returned an invalid|CopySlices|must match the size of"),
    Difference(_of("scatter_reduce|index_reduce"), "gradient [123]",
               "products and means of special numbers, or of zeros; elements that do not count share nothing",
               "", _SPECIAL + "|prod|include_self=False"),
    Difference(_of("index_reduce"), "gradient 1", "PyTorch's rule wants indices of int64", "index_fill"),
    Difference(_of("scatter_reduce|index_reduce|index_copy|tensor_split|narrow_copy|unique(_consecutive)?"),
               "class of the error", "two mistakes"),
    Difference(_of("index_reduce"), "refused", "truth values are refused of no elements, too", "dtype Bool"),
    Difference(_of("index_put"), "gradient 1", "PyTorch fails within", "INTERNAL ASSERT FAILED"),
    Difference(_of("index_put"), "refused", "what a key selects is not added to in int16", "not supported of int16"),
    Difference(_of("index_put"), "refused", "a mask without dimensions is held to one dtype, too", "both dtypes must"),
    Difference(_of("(slice|select|diagonal)_scatter"), "accepted", "integers have no gradient", "Autograd not support"),
    Difference("torch.block_diag", "dtype", "the wider of two dtypes, also of numbers"),
    Difference(_of("kron|isin|fill_diagonal"), "accepted", "a tensor's strides and a number's kind do not matter",
               "view size is not|Unsupported input|overflow|contiguous"),
    Difference("torch.searchsorted", "values|accepted|refused", "truth values have no order, and NaN is behind all", "",
               "bool|nan|-1"),
    Difference(_of("kthvalue|nanmedian|mode"), "values|sign of zero",
               "which of equal elements it is, also expanded ones", "",
               r"expand|dtype=torch\.(u?int|bool)|-?0\.0|(-?\d\.\d+)[,\]].*\2[,\]]|" + _SPECIAL),
    Difference(_of("median"), "sign of zero", "0 and -0 are equal"),
    Difference(_of("corrcoef"), "gradient [23]", "one value has no deviation", "nan", "expand"),
    Difference(_of("dist"), "gradient 1", "powers beyond the dtype's range", "inf|nan", _SPECIAL),
    Difference(_of("svd"), "values", "vectors beside values that vanish", "", _SPECIAL),
    Difference(_of("cummax|cummin"), "refused", "a wrong dimension is refused of no elements, too", "there is no dim"),
    Difference(_of("logcumsumexp"), "gradient [23]", "PyTorch has no third derivative", "nan|inf"),
    Difference(_of("logcumsumexp"), "gradient [123]", "digits of large numbers", "", _SPECIAL),
    Difference(_of("aminmax"), "sign of zero", "0 and -0 are equal"),
    Difference(_of("logcumsumexp"), "sign of zero|values", "0 and -0 are equal", "-0.0"),
    Difference(_of("unique"), "values", "rows with NaN come last", "nan"),
    Difference(_of("narrow_copy"), "gradient 1", "PyTorch loses the gradient of a start that counts from the end"),
    Difference("torch.(h|v|d)split|torch.histogram|Tensor.histogram|" + _of("histc"), "refused|sign of zero|values",
               "edges that a dtype cannot tell apart", "Too many bins|none of dtype|-0.0|expand"),
    Difference("torch.(poisson|binomial)", "gradient 1", "what is drawn has no derivative", "not implemented"),
    Difference("torch.vander|linalg.(cond|vander)", "gradient 1|accepted", "PyTorch's own edits stop its backward, and "
               "float16 is computed", "modified by an inplace|Half"),
    Difference("torch.(cdist|pdist)", "values|gradient 1", "a norm of NaN, that of order 0 too", "nan"),
    Difference("torch.(cdist|pdist)", "gradient 2", "PyTorch has no second derivative", "is not implemented"),
    Difference(_of("dist"), "gradient 1", "PyTorch's rule of the 0-norm fails", "got None"),
    Difference(_of("addr"), "values|sign of zero|gradient 1", "numbers whose order counts", "", _SPECIAL),
    Difference(_of("addr"), "gradient 1|accepted", "operands of different dtypes are promoted",
               "same dtype|Boolean beta|expected scalar|must not be a floating"),
    Difference(_of("addbmm"), "values|sign of zero|gradient [123]", "numbers whose order counts", "",
               _SPECIAL + "|0.0"),
    Difference(r"\w+\.(polygamma|multigammaln|mvlgamma|psi|digamma)_?", "values|gradient [123]",
               "a pole is infinite, or no number; PyTorch's are rounded", r"inf|nan|e[+]?\d\d|\d{6}\.|\d{9}"),
    Difference(r"\w+\.(i0|i1|i0e|i1e)_?|special.*bessel.*", "values|gradient [123]|sign of zero",
               "infinities, and PyTorch's series far from 0", "nan|inf"),
    Difference(r"\w+\.(igammac?|gammaincc?)_?", "values", "digits of the least numbers, and of NaN", "",
               r"\de-\d\d|nan"),
    Difference("special.log_ndtr", "gradient 1", "far below 0 the derivative is -x", "",
               "-1e[+]?20|-1.0000000200408773e"),
    Difference("special.(modified_)?bessel.*", "values", "PyTorch's series in float32 have fewer digits far from 0", "",
               r"\d{4}[,\]]|" + _SPECIAL),
    Difference("special.airy_ai", "values", "PyTorch's series between 1 and 2.1, and near -4.3"),
    Difference("special.*polynomial.*", "values", "infinity meets infinity, or a power is beyond float32 on the way",
               "nan|inf"),
    Difference("special.zeta", "values", "the sum of infinite powers is 0", "nan"),
    Difference(r"\w+\.(sinc|copysign)_?", "gradient [12]", "PyTorch's derivative at 0 and infinities is no number", ""),
    Difference(r"\w+\.(i1|i1e|entr|erfcx|log_ndtr|ndtri|zeta)", "gradient [123]",
               "there is a derivative in float16, and digits are lost at the ends", "Half|inf|nan"),
    Difference("special.round", "values|accepted", "as torch.round", "float16|Long|Int|Byte|Char|Short"),
    Difference(r"\w+\.renorm_?", "gradient [123]", "PyTorch's factor beyond the range", "nan|inf"),
    Difference(r"\w+\.(logical_\w+|eq|ne|lt|le|gt|ge|not_equal|less\w*|greater\w*)_", "gradient 1",
               "truth values have no gradient; PyTorch passes on what comes"),
    Difference("Tensor.xlogy_", "gradient 1", "nearly nothing is not 0", "", _SPECIAL),
    Difference("Tensor.(cumsum|cumprod)_", "accepted", "a sum is converted to the tensor's dtype", "Bad in-place call"),
    Difference(_of("nanmean"), "accepted", "integers are converted to the dtype that is asked for"),
    Difference("torch.(trapz|trapezoid|cumulative_trapezoid)", "dtype|accepted|sign of zero",
               "the integral of integers is floating, of no elements, too"),
    Difference(_of("cholesky_solve|cholesky_inverse"), "gradient [123]",
               "one triangle is read; PyTorch gives the other one a gradient, too"),
    Difference(_LINEAR, "sign of zero|accepted|class of the error|refused",
               "singular matrices, dtypes that are promoted, and signs of nothing"),
    Difference(_LINEAR, "values|gradient [123]", "special numbers", "nan|inf", _SPECIAL),
    Difference(_LINEAR, "values|gradient [123]", "singular matrices", "", r"expand|zeros"),
    Difference(_of("solve"), "values", "digits of float32 beside nearly singular matrices", "", "float32"),
    Difference(_of("orgqr|householder_product"), "gradient [12]", "digits of products of reflections", "",
               _SPECIAL + "|float32"),
    Difference("linalg.lstsq", "values", "MKL refuses PyTorch's call, and the rank is any number", "", r"\[2\]"),
    Difference(_of("matrix_exp"), "gradient [123]", "digits of float32 in large powers", "", "float32"),
    Difference("Tensor.(apply|map|map2|resize|resize_as)_", "accepted|refused|values",
               "elements keep their order, not their place in memory"),
    Difference("torch.(resize_as_|empty_strided|gradient)", "values|accepted|refused|class of the error",
               "elements keep their order, not their place in memory"),
    Difference(_of("float_power|mvlgamma|logaddexp2"), "accepted", "truth values are numbers", ""),
)  # fmt: skip

DIFFER = (*_MISSING, *_MORE, *_LESS, *_FIRST, *_DERIVATIVES, *_NUMBERS, *_NAMES)
