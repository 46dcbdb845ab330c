"""What nodes of operators show of what they keep, `_saved_NAME`, by their names: the table of FRONT_END.saved_names.

An entry is a name and where its value comes from: input 0 `i0`, or output 1 `r1`, if the node saves it; the sizes,
number of elements or strides of input 0, `@0`, `#0`, `/0`; a parameter of the operator, `.axis`, and what it is by
default, `.axis:1`, only if it is a number, `-axis`, or its one element, `,axis`; or always the same, `:1`. `self`,
`other` and `result` are `i0`, `i1` and `r0`; `sizes` is `self_sym_sizes=@0`, `keepdim` is `keepdim=.keepdims:False`.
"""

from __future__ import annotations

from mxlite.torch._gradient import FRONT_END

_TABLE = """
AdaptiveAvgPool2D0 self
Add0 alpha=.value:1
Addcdiv0 tensor1=i1 tensor2=i2 value=.value:1
Addcmul0 tensor1=i1 tensor2=i2 value=.value:1
Addmm0 alpha=.alpha:1 beta=.beta:1 mat1=i1 mat1_sym_sizes=@1 mat1_sym_strides=/1 mat2=i2 \
    mat2_sym_sizes=@2 mat2_sym_strides=/2
AsStrided0 size=.shape stride=.strides
AvgPool2D0 count_include_pad=.count_include_pad:True kernel_size=.kernel padding=.pad
Bmm0 self mat2=i1
Cat0 dim=.dim:1
Clamp1 max=.a_max:1 min=.a_min:0 self
Convolution0 dilation=.dilate groups=.num_group:1 input=i0 padding=.pad stride=.stride weight=i1
Cumprod0 dim=.axis self result
Cummax0 dim=.axis indices=i1
Cummin0 dim=.axis indices=i1
Cumsum0 dim=.axis
Diagonal0 dim1=.axis1:0 dim2=.axis2:1 offset=.k:0 sizes
Dot0 self tensor=i1
Embedding0 indices=i1
Div0 self other
Expand0 sizes
Flip0 dims=.axis
Gather0 dim=.axis:-1 index=i1 sparse_grad=:False
Hardsigmoid0
Index0 sizes
IndexFill0
IndexSelect0 dim=.axis:0 index=i1 sizes
Kthvalue0 dim=.axis indices=i1 sizes
LeakyRelu0 negative_slope=.slope:0.25 self
Lerp0 weight=.weight
LinalgDet0 A=i0
LinalgInvEx0 inverse=r0
LogSoftmax0 dim=.axis:-1 result
MaskedFill0 mask=i1
Max0 dim=.axis indices=r1 keepdim sizes
MaxPool2DWithIndices0 kernel_size=.kernel padding=.pad self
Mean0 self_sym_numel=#0 sizes
Mean1 dim=.axis keepdim self_sym_numel=#0 sizes
Median1 dim=.axis indices=r1 keepdim sizes
Min0 dim=.axis indices=r1 keepdim sizes
Mm0 self mat2=i1 mat2_sym_sizes=@1 mat2_sym_strides=/1 sizes self_sym_strides=/0
MseLoss0 self target=i1
Mul0 self other
Nansum0 dim=.axis:None keepdim self
NativeBatchNorm0 eps=.eps:1e-05 input=i0 result1=r1 result2=r2 weight=i1
NativeLayerNorm0 input=i0 result1=r1 result2=r2 weight=i1
NllLoss0 ignore_index=.ignore:-100 target=i1 weight=i2
Permute0 dims=.axes
Pow0 exponent=.scalar:2 self
Pow1 exponent=i1 result self
Pow2 result self=.scalar
Prod0 result self
Prod1 dim=,axis keepdim result self
Repeat0 repeats=.reps sizes
ScaledDotProductFlashAttentionForCpu0 query=i0 key=i1 value=i2
Scatter0 dim=.axis:-1 index=i1
Select0 dim=.axis:0 index=.index:0 sizes
Slice0 dim=-axis end=-end sizes start=-begin step=-step:1
Softmax0 dim=.axis:-1 result
Sort0 dim=.axis:-1 indices=r1 sizes
Split0 dim=.axis:1 sizes
Squeeze0 sizes
Squeeze1 sizes
Stack0 dim=.axis:0
Std0 correction=.correction:1 dim=.axis:None keepdim result self
Sub0 alpha=.value:1
Sum0 sizes
Sum1 dim=.axis keepdim sizes
Topk0 dim=.axis:-1 indices=r1 sizes
Transpose0 dim0=.dim1:0 dim1=.dim2:0
Tril0 diagonal=.k:0
Unbind0 dim=.axis:1
Unfold0 sizes
Unsqueeze0 dim=.axis
Var0 correction=.correction:1 dim=.axis:None keepdim self
View0 sizes
Where0 condition=i0
"""
#: Words of the table that stand for entries.
_SHORT = {"self": "i0", "other": "i1", "result": "r0", "sizes": "@0", "keepdim": ".keepdims:False"}


def _entries(words: list[str]) -> dict[str, str]:
    pairs = (word.split("=") if "=" in word else (word, _SHORT[word]) for word in words)
    return {"self_sym_sizes" if name == "sizes" else name: source for name, source in pairs}


_rows = map(str.split, _TABLE.strip().split("\n"))
#: Of nodes that the table does not have: "".
FRONT_END.saved_names = {f"{row[0][:-1]}Backward{row[0][-1]}": _entries(row[1:]) for row in _rows}
FRONT_END.saved_names[""] = _entries(["self", "other", "result"])
