"""The rows from which forms.py makes the argument forms of public functions: what to edit for a new function.

A row says names, how the first argument is drawn, and the other arguments, one form each. `{kind}` is an argument that
calls.py draws: `{a}` a tensor, `{o}` a tensor that broadcasts with it or a number, `{dim}` a dimension of the last
tensor.
"""

from __future__ import annotations

#: names | first argument | the other arguments ; of another form ; ...
ROWS = """
abs absolute acos arccos acosh arccosh asin arcsin asinh arcsinh atan arctan atanh arctanh ceil cos cosh | {a} |
deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac lgamma log log10 log1p log2 logit neg negative | {a} |
positive rad2deg reciprocal relu rsqrt sgn sigmoid sign sin sinh sqrt square tan tanh trunc clone ravel | {a} |
is_inference isfinite isinf isnan isneginf isposinf signbit bitwise_not logical_not nonzero numel is_nonzero | {a} |
is_floating_point is_complex is_tensor atleast_1d atleast_2d t argwhere | {a} |
round | {a} | ; decimals={small}
nan_to_num | {a} | ; nan={number} ; nan={number}, posinf={number}, neginf={number}
add sub subtract rsub | {a} | {o} ; {b}, alpha={number}
mul multiply div divide true_divide floor_divide remainder fmod | {a} | {o}
div divide | {a} | {o}, rounding_mode="floor" ; {o}, rounding_mode="trunc" ; {o}, rounding_mode=None
pow | {a} | {b} ; {exponent}
atan2 arctan2 hypot logaddexp maximum minimum xlogy | {a} | {b}
xlogy | {a} | {number}
eq ne not_equal lt less le less_equal gt greater ge greater_equal | {a} | {o}
bitwise_and bitwise_or bitwise_xor | {a} | {b} ; {integer}
bitwise_left_shift bitwise_right_shift | {a} | {few} ; {small}
logical_and logical_or logical_xor | {a} | {b}
equal | {a} | {b}
isclose allclose | {a} | {b} ; {same}, rtol=0.1, atol=0.5 ; {same}, equal_nan=True
clamp clip | {a} | {number}, {number} ; min={number} ; max={number} ; {b}, {b} ; max={b} ; min={b} ; {number}, {b}
clamp_min clamp_max | {a} | {number} ; {b}
lerp | {f} | {same}, {float} ; {b}, {b}
addcmul addcdiv | {a} | {b}, {b} ; {b}, {b}, value={number}
sum | {a} | ; {dims} ; {dims}, {flag} ; {dims}, dtype={dtype} ; axis={dim}
nansum mean | {a} | ; {dims} ; {dims}, {flag} ; {dims}, dtype={dtype}
prod | {a} | ; {dim} ; {dim}, {flag} ; {dim}, dtype={dtype} ; dtype={dtype}
max min | {a} | ; {dim} ; {dim}, {flag} ; {b}
amax amin | {a} | ; {dims} ; {dims}, {flag}
argmax argmin | {a} | ; {dim} ; {dim}, {flag} ; None, {flag}
any all | {a} | ; {dims} ; {dims}, {flag}
count_nonzero | {a} | ; {dims}
std var | {a} | ; {dims} ; {dims}, {flag}, {flag} ; {flag} ; {dims}, correction={small} ; {dims}, keepdim={flag}
std_mean var_mean | {a} | ; {dims} ; {dims}, correction={small}, keepdim={flag}
logsumexp | {a} | {dims} ; {dims}, {flag}
norm | {f} | ; {power} ; {power}, {dims} ; {power}, {dims}, {flag}
median | {a} | ; {dim} ; {dim}, {flag}
cumsum cumprod | {a} | {dim} ; {dim}, dtype={dtype}
sort argsort | {a} | {dim} ; {dim}, {flag} ; dim={dim}, stable=True
topk | {a} | {small} ; {small}, {dim} ; {small}, {dim}, {flag}
softmax log_softmax softmin | {f} | {dim} ; {dim}, dtype={float_dtype}
split chunk | {a} | {few_parts} ; {few_parts}, {dim}
split split_with_sizes | {a:5} | [2, 3] ; [0, 5] ; [2, 2] ; [1, 4], {dim}
unbind | {a} | ; {dim}
narrow | {a} | {dim}, {small}, {small}
select | {a} | {dim}, {small}
flip | {a} | {dims_list} ; {dim}
fliplr flipud | {a} |
roll | {a} | {small} ; {small}, {dim} ; ({small}, {small}), (0, 1)
reshape | {a} | {shape} ; -1 ; *{shape}
view | {a} | {shape} ; -1 ; {dtype}
view_as reshape_as | {a} | {same} ; {a}
flatten | {a} | ; {dim} ; {dim}, {dim}
unflatten | {a:6} | 0, (2, 3) ; -1, (3, -1) ; 0, (2, 2) ; 1, (6,)
unsqueeze | {a} | {dim}
squeeze | {a} | ; {dim} ; {dims_tuple}
transpose swapaxes swapdims movedim moveaxis | {a} | {dim}, {dim}
movedim moveaxis | {a:2,1,3} | (0, 1), (1, 2) ; (0, 2), (-1, 0) ; (0, 0), (1, 2)
permute | {a} | {order} ; *{order}
adjoint | {a} |
expand | {a} | {wider} ; *{wider}
broadcast_to | {a} | {wider}
expand_as | {a} | {b}
repeat tile | {a} | {times} ; *{times}
repeat_interleave | {a} | {count} ; {count}, {dim} ; {repeats}, {dim}
as_strided | {a:3,4} | (2, 3), (4, 1) ; (2, 2), (1, 2), 1 ; (3, 2), (1, 1) ; (), () ; (2, 0), (1, 1)
gather | {a} | {dim}, {along}
take_along_dim | {a} | {along}, {dim} ; {index}
scatter | {a} | {dim}, {along_once}, {src} ; {dim}, {along}, {number}
scatter_add | {a} | {dim}, {along}, {src}
index_select | {a} | {dim}, {index}
index_add | {a} | {dim}, {index}, {parts} ; {dim}, {index}, {parts}, alpha={number}
index_fill | {a} | {dim}, {index}, {number} ; {dim}, {index}, {zero_d}
index_put | {a:4} | ({index},), {zero_d} ; ({index},), {zero_d}, True ; ({mask},), {zero_d}
take | {a} | {flat_index}
masked_select | {a} | {mask}
masked_fill | {a} | {mask}, {number} ; {mask}, {zero_d}
where | {mask} | {o}, {o} ;
fill | {a} | {number} ; {zero_d}
zero | {a} |
copy | {a} | {b}
tril triu | {a} | ; {small}
tril triu | {a:3,4} | {small}
tril triu | {a:2,3,3} | {small}
diag | {a} | ; {small}
diagonal | {a} | ; {small} ; {small}, {dim}, {dim}
trace | {a:3,3} |
trace | {a} |
mm | {a:2,3} | {like:3,4} ; {like:2,2}
mm | {a:0,3} | {like:3,2}
mm | {a:2,0} | {like:0,3}
bmm | {a:2,2,3} | {like:2,3,2} ; {like:3,3,2}
bmm | {a:0,2,3} | {like:0,3,2}
mv | {a:2,3} | {like:3} ; {like:2}
mv | {a:3,0} | {like:0}
dot vdot | {a:3} | {like:3} ; {like:2} ; {a:3}
dot vdot | {a:0} | {like:0}
outer ger | {a:3} | {like:2} ; {a:2} ; {like:0}
matmul | {a} | {like:3} ; {like:3,2} ; {like:2,3,2} ; {like:1}
matmul | {a:2,3} | {like:3} ; {like:3,2} ; {like:2,3,2} ; {like:5,1,3,2} ; {like:}
matmul | {a:2,2,3} | {like:3} ; {like:3,2} ; {like:2,3,2} ; {like:3,1,3,2} ; {like:0,1,3,2}
addmm | {a:2,2} | {like:2,3}, {like:3,2} ; {like:2,3}, {like:3,2}, beta={number}, alpha={number}
addmm | {a:2} | {like:2,3}, {like:3,2} ; {like:2,3}, {like:2,2}
addmv | {a:2} | {like:2,3}, {like:3} ; {like:2,3}, {like:3}, beta={number}, alpha={number}
baddbmm | {a:2,2,2} | {like:2,2,3}, {like:2,3,2} ; {like:2,2,3}, {like:2,3,2}, beta={number}, alpha={number}
inner | {a:2,3} | {like:3} ; {like:4,3} ; {like:} ; {like:2}
tensordot | {a:2,3} | {like:3,2}, 1 ; {like:2,3} ; {like:3,2}, ([1], [0]) ; {like:3,2}, 0 ; {like:3,2}, ([0, 1], [1, 0])
inverse det slogdet logdet | {matrix} |
inverse det slogdet logdet | {f:2,3} |
matrix_power | {matrix} | {small}
linear | {f:2,3} | {like:4,3} ; {like:4,3}, {like:4}
linear | {f:3} | {like:4,3}, {like:4}
embedding | {index_of:2,3} | {f:4,3} ; {f:4,2}, 1
one_hot | {index_of:2,3} | ; 5 ; 2
scatter | {a} | {dim}, {along}, {src}, reduce="add" ; {dim}, {along}, {src}, reduce="multiply"
scatter_reduce | {a} | {dim}, {along}, {src}, {reduce} ; {dim}, {along}, {src}, {reduce}, include_self=False
index_copy | {a} | {dim}, {index_once}, {parts} ; {dim}, {index}, {parts}
index_reduce | {a} | {dim}, {index}, {parts}, {reduce} ; {dim}, {index}, {parts}, {reduce}, include_self=False
masked_scatter | {a} | {mask}, {same} ; {mask}, {like:4}
put | {a} | {flat_index}, {like:2} ; {flat_index}, {like:2}, True
slice_scatter | {a:3,2} | {like:2,2}, 0, 1 ; {like:3,1}, 1, 0, 1 ; {like:2,2}, 0, 0, 3, 2 ; {like:3,3}
select_scatter | {a:3,2} | {like:2}, 0, {small} ; {like:3}, 1, -1 ; {like:3}, 0, 0
diagonal_scatter | {a:3,3} | {like:3} ; {like:2}, 1 ; {like:3}, 1
fill_diagonal | {a} | {number} ; {number}, True
fill_diagonal | {a:5,2} | {number} ; {number}, True
tensor_split | {a} | {few_parts}, {dim} ; ({small}, {small}), {dim} ; {few_parts}
hsplit vsplit dsplit | {a} | {few_parts} ; ({small}, {small})
unfold unfold_copy | {a} | {dim}, {few_parts}, {small}
rot90 | {a} | ; {small} ; {small}, ({dim}, {dim})
kron | {a} | {b} ; {like:2}
diag_embed | {a} | ; {small} ; {small}, {dim}, {dim}
diagflat | {a} | ; {small}
sum_to_size | {a} | {shape} ; 1 ; {wider}
kthvalue | {a} | {few_parts} ; {few_parts}, {dim} ; {few_parts}, {dim}, {flag}
mode nanmedian | {a} | ; {dim} ; {dim}, {flag}
nanmean | {a} | ; {dims} ; {dims}, {flag} ; {dims}, dtype={dtype}
aminmax | {a} | ; dim={dim} ; dim={dim}, keepdim={flag}
msort | {a} |
quantile nanquantile | {f} | 0.3 ; {unit_vector} ; {unit_vector}, {dim} ; 0.5, {dim}, {flag}
quantile nanquantile | {f} | {unit_vector}, {dim}, {flag}, interpolation={between} ; 0.7, interpolation={between}
cummax cummin | {a} | {dim}
logcumsumexp | {f} | {dim}
unique | {a} | ; return_inverse=True ; True, True, True ; dim={dim}, return_counts=True, return_inverse=True
unique_consecutive | {a} | ; True, True ; dim={dim}, return_counts=True, return_inverse=True
isin | {a} | {b} ; {number} ; {b}, invert=True
bucketize | {a} | {ordered} ; {ordered}, right=True ; {ordered}, out_int32=True
bincount | {index_of:4} | ; minlength=5 ; {like:4} ; {like:4}, 6
bincount | {a} | ; {b}
histc | {f} | ; 3 ; 4, -1, 2
histogram | {f} | 3 ; 4, range=(-1.0, 2.0) ; 3, density=True ; 2, weight={same} ; {ordered}
narrow_copy | {a} | {dim}, {small}, {small}
expand_copy | {a} | {wider}
permute_copy | {a} | {order}
split_with_sizes_copy | {a:5} | [2, 3] ; [0, 5] ; [2, 2]
unsafe_split unsafe_chunk | {a} | {few_parts} ; {few_parts}, {dim}
unsafe_split_with_sizes | {a:5} | [2, 3]
unbind_copy unsqueeze_copy squeeze_copy | {a} | {dim}
select_copy | {a} | {dim}, {small}
detach t_copy | {a} |
diagonal_copy | {a} | ; {small}
transpose_copy | {a} | {dim}, {dim}
elu celu leaky_relu | {f} | ; {float}
gelu | {f} | ; approximate="tanh"
hardshrink softshrink | {f} | ; {positive}
hardsigmoid hardswish logsigmoid mish relu6 selu silu softsign tanhshrink | {f} |
hardtanh | {f} | ; -{positive}, {positive}
softplus | {f} | ; {positive} ; {positive}, {positive}
threshold | {f} | {float}, {float}
glu | {f:4} | ; 0
glu | {f:2,4} | ; {dim}
prelu | {f:2,3} | {like:3} ; {like:1}
mse_loss l1_loss | {f} | {same} ; {same}, reduction={reduction}
smooth_l1_loss | {f} | {same} ; {same}, reduction={reduction} ; {same}, beta={positive}
huber_loss | {f} | {same} ; {same}, reduction={reduction} ; {same}, delta={positive}
kl_div | {f} | {same} ; {same}, reduction={reduction} ; {same}, log_target=True, reduction="sum"
binary_cross_entropy | {unit} | {unit_same} ; {unit_same}, reduction={reduction} ; {unit_same}, {same}
binary_cross_entropy_with_logits | {f} | {unit_same} ; {unit_same}, reduction={reduction} ; {unit_same}, {same}
nll_loss cross_entropy | {f:2,3} | {index_of:2} ; {index_of:2}, reduction={reduction} ; {index_of:2}, {like:3}
nll_loss cross_entropy | {f:3} | {index_of:} ; {index_of:}, reduction={reduction}
cross_entropy | {f:2,3} | {unit_same} ; {index_of:2}, label_smoothing=0.1
cosine_similarity pairwise_distance | {f:2,3} | {same} ; {same}, {positive}
normalize | {f:2,3} | ; {power} ; {power}, {dim}
layer_norm | {f:2,3} | (3,) ; (2, 3) ; (3,), {like:3}, {like:3}
group_norm | {f:2,4,2} | 2 ; 4, {like:4}, {like:4}
batch_norm | {f:2,3} | {zeros:3}, {ones:3} ; {zeros:3}, {ones:3}, {like:3}, {like:3}
batch_norm | {f:2,3} | None, None, training=True ; {zeros:3}, {ones:3}, training=True
bilinear | {f:5,2} | {like:5,3}, {like:4,2,3} ; {like:5,3}, {like:4,2,3}, {like:4}
pad | {a:2,3} | (1, 1) ; (1, 0, 0, 2) ; (-1, 1) ; (1, 1), "constant", {float} ; (1, 1), "reflect" ; (1, 1), "replicate"
scaled_dot_product_attention | {f:2,3,4} | {like:2,3,4}, {like:2,3,4} ; {like:2,3,4}, {like:2,3,4}, is_causal=True
backward | {f} |
contiguous detach cpu cuda dim ndimension nelement element_size is_contiguous is_signed item tolist stride size | {a} |
stride size | {a} | {dim}
storage_offset numpy get_device type requires_grad_ detach_ retain_grad | {a} |
bool byte char double float half int long short type | {a} |
to type | {a} | {dtype}
to | {a} | {dtype}, copy=True ; "cpu" ; {b} ; dtype={dtype}
type_as is_set_to | {a} | {b}
new_full | {a} | {shape}, {number} ; {shape}, {number}, dtype={dtype}
new_ones new_zeros | {a} | {shape} ; {shape}, dtype={dtype} ; *{shape}
new_tensor | {a} | {list} ; {list}, dtype={dtype}
zeros_like ones_like | {a} | ; dtype={dtype}
full_like | {a} | {number} ; {number}, dtype={dtype}
sinc i0 | {a} |
mvlgamma | {a} | 1 ; 2
fmax fmin copysign logaddexp2 gcd lcm heaviside nextafter | {a} | {b}
igamma igammac | {unit} | {unit_same}
ldexp float_power | {a} | {o}
frexp | {a} |
addr | {a:2,3} | {like:2}, {like:3} ; {like:2}, {like:3}, beta={number}, alpha={number}
addbmm | {a:2,2} | {like:3,2,3}, {like:3,3,2} ; {like:3,2,3}, {like:3,3,2}, beta={number}, alpha={number}
dist | {f} | {b} ; {b}, {power}
cdist | {f:2,3} | {like:4,3} ; {like:4,3}, {power} ; {like:2,4,3} ; {like:0,3}
pdist | {f:3,2} | ; {power}
renorm | {f:3,2} | {positive}, {dim}, {positive} ; {power}, {dim}, {positive}
cross | {a:2,3} | {like:2,3} ; {like:2,3}, {dim} ; {like:1,3}
diff | {a} | ; {few_parts} ; {few_parts}, {dim} ; 1, {dim}, {same}
trapezoid trapz cumulative_trapezoid | {a} | ; dx={float} ; dim={dim} ; {same}, dim={dim} ; {like:3}
cov | {a} | ; correction={count}
cov | {f:2,3} | fweights={index_of:3} ; aweights={unit_vector3} ; fweights={index_of:3}, aweights={unit_vector3}
corrcoef | {f} |
vander | {a:3} | ; {few_parts} ; 4, True
i0e i1 i1e erfcx log_ndtr ndtr ndtri entr bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 | {a} |
modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 | {a} |
airy_ai spherical_bessel_j0 expit gammaln psi | {a} |
multigammaln | {a} | 1 ; 2
gammainc gammaincc | {unit} | {unit_same}
xlog1py zeta | {a} | {b} ; {number}
chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w | {a} | {few} ; {small}
hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p | {a} | {few} ; {small}
shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u | {a} | {few} ; {small}
shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w | {a} | {few} ; {small}
matrix_exp | {matrix} |
orgqr | {f:3,2} | {like:2}
pinverse | {f:3,2} |
cholesky | {positive_matrix} | ; {flag}
cholesky_inverse | {matrix} | ; {flag}
cholesky_solve | {f:3,2} | {matrix:3,3} ; {matrix:3,3}, {flag}
qr | {f:3,2} | ; {flag}
angle conj resolve_neg resolve_conj is_neg is_conj isreal is_signed typename is_pinned is_shared | {a} |
is_same_size | {a} | {b} ; {same}
nuclear_norm frobenius_norm | {f:2,3} | (0, 1) ; (0, 1), True
norm_except_dim | {f:2,3} | ; 2, 1
gradient | {f} | ; dim={dim} ; spacing=0.5 ; spacing=2.0, dim={dim}, edge_order=2
celu hardshrink selu | {f} |
threshold | {f} | 0.5, 1.0
resize_as | {a} | {b}
"""

#: Forms that are calls without further keywords.
TEXTS = {
    "torch.cat torch.concat torch.concatenate torch.stack torch.hstack torch.vstack torch.row_stack": (
        "F([{a}, {same}])",
        "F([{a}, {same}, {same}])",
        "F(({a},))",
        "F([{a}, {a}])",
        "F([])",
    ),
    "torch.cat torch.concat torch.concatenate torch.stack": ("F([{a}, {same}], {dim})", "F([{a}, {same}], dim={dim})"),
    "torch.einsum": (
        "F('ij,jk->ik', {a:2,3}, {like:3,2})",
        "F('ij->ji', {a:2,3})",
        "F('i,j->ij', {a:2}, {like:3})",
        "F('ij->', {a:2,3})",
        "F('ii', {a:3,3})",
        "F('ii->i', {a:3,3})",
        "F('bij,bjk->bik', {a:2,1,3}, {like:2,3,2})",
        "F('...i,i', {a:2,3}, {like:3})",
        "F('i,i', {a:3}, {like:3})",
        "F('ij,j', {a:0,3}, {like:3})",
    ),
    "Tensor.polygamma Tensor.polygamma_": ("{f}.N(0)", "({f} * 1).N({few_parts})"),
    "torch.hann_window torch.bartlett_window torch.blackman_window torch.kaiser_window torch.hamming_window": (
        "F({count})",
        "F({count}, False)",
        "F(5, dtype=torch.float64)",
    ),
    "fft.fftfreq fft.rfftfreq": ("F({count})", "F({count}, 0.3, dtype=torch.float64)", "F(5, out=torch.empty(0))"),
    "fft.fftshift fft.ifftshift": ("F({a})", "F({a:2,3}, 1)", "F({a:2,3}, (0, -1))"),
    "torch.stft": (
        "F({f:20}, 8, return_complex=False)",
        "F({f:2,20}, 7, 2, 5, {like:5}, normalized=True, return_complex=False)",
        "F({f:20}, 6, center=False, onesided=False, return_complex=False)",
        "F({f:20}, 8, win_length=5, center=False, align_to_window=True, return_complex=False)",
        "F({f:20}, 8, pad_mode='constant', return_complex=False)",
    ),
    "Tensor.stft": ("{f:20}.N(8, return_complex=False)",),
    "windows.bartlett windows.blackman windows.cosine windows.hamming windows.hann windows.nuttall windows.kaiser": (
        "F({count})",
        "F({count}, sym=False, dtype=torch.float64)",
    ),
    "windows.exponential": ("F({count}, tau=2.5)", "F(6, center=1.5, sym=False)"),
    "windows.gaussian": ("F({count}, std=2.5)",),
    "windows.general_cosine": ("F({count}, a=[0.5, 0.3, 0.2])",),
    "windows.general_hamming": ("F({count}, alpha=0.7)",),
    "torch.real": ("F({a})",),
    "torch.set_default_device": ("F('cpu')",),
    "torch.get_default_device": ("F()",),
    "torch.set_flush_denormal": ("F(False)",),
    "torch.frombuffer": ("F(bytearray(8), dtype=torch.float32)",),
    "torch.empty_strided": ("F((2, 3), (3, 1)).stride()",),
    "torch.poisson": ("F({unit}).shape",),
    "torch.binomial": ("F({ones:2,3}, {ones:2,3})",),
    "Tensor.exponential_ Tensor.cauchy_ Tensor.log_normal_": ("({f} * 1).N().shape",),
    "Tensor.geometric_": ("({f} * 1).N(0.5).shape",),
    "Tensor.resize_": ("({a} * 1).N(2).shape", "{a}.clone().N({shape}).shape"),
    "Tensor.apply_": ("{a}.clone().N(lambda x: x + 1)",),
    "Tensor.map_": ("{f:2,3}.clone().N({like:2,3}, lambda x, y: x + y)",),
    "Tensor.map2_": ("{f:2,3}.clone().N({like:2,3}, {like:2,3}, lambda x, y, z: x + y * z)",),
    "torch.polygamma special.polygamma": ("F(1, {a})", "F({few_parts}, {f})"),
    "torch.chain_matmul": ("F({a:2,3}, {like:3,4}, {like:4,2})", "F({a:2,3})", "F({a:2,3}, {like:2,2})"),
    "torch.dstack torch.column_stack": ("F([{a}, {same}])", "F([{a}])"),
    "torch.block_diag": ("F({a}, {same})", "F({a:2,3}, {like:2}, {like:})", "F()"),
    "torch.cartesian_prod": ("F({a:3}, {like:2})", "F({a:3})", "F({a:2}, {like:2}, {like:0})", "F({a}, {b})"),
    "torch.combinations": ("F({a:4}, {few_parts})", "F({a:3})", "F({a:3}, {few_parts}, True)", "F({a})"),
    "torch.searchsorted": (
        "F({ordered}, {a})",
        "F({ordered}, {a}, right=True)",
        "F({ordered}, {a}, side='right', out_int32=True)",
        "F({a:2,3}.detach().sort()[0], {like:2,2})",
        "F({ordered}, {number})",
    ),
    "torch.unravel_index": ("F({flat_index}, {shape})", "F({index_of:2,2}, (2, 3))", "F({a}, (2, 3))"),
    "torch.atleast_3d": ("F([{a}, {a}])", "F({a})"),
    "torch.broadcast_tensors": ("F({a}, {b})", "F({a})"),
    "torch.broadcast_shapes": ("F({shape}, {shape})", "F({shape}, (1, 3))"),
    "torch.meshgrid": (
        "F({a:3}, {like:2}, indexing='ij')",
        "F({a:3}, {like:0}, indexing='xy')",
        "F({a:}, {like:2}, indexing='xy')",
    ),
    "torch.atleast_1d torch.atleast_2d": ("F([{a}, {a}])",),
    "torch.result_type": ("F({a}, {b})", "F({a}, {number})", "F({number}, {a})"),
    "torch.can_cast torch.promote_types": ("F({dtype}, {dtype})",),
    "torch.arange": ("F({small})", "F({small}, {few_parts})", "F({float}, {few_parts}, {step})", "F(0, 5, {step})"),
    "torch.linspace torch.logspace": ("F({float}, {float}, {count})", "F({small}, {float}, {count}, dtype={dtype})"),
    "torch.eye": ("F({count})", "F({count}, {count})", "F({count}, dtype={dtype})"),
    "torch.tril_indices torch.triu_indices": ("F({count}, {count})", "F({count}, {count}, {small})"),
    "torch.full": ("F({shape}, {number})", "F({shape}, {number}, dtype={dtype})"),
    "torch.zeros torch.ones": ("F({shape})", "F({shape}, dtype={dtype})", "F(*{shape})"),
    "torch.empty": ("F({shape}).shape", "F({shape}, dtype={dtype}).dtype", "F(*{shape}).shape"),
    "torch.empty_permuted": (
        "F((2, 3), (1, 0)).stride()",
        "F((2, 3, 4), (2, 0, 1), dtype={dtype}).stride()",
        "F((2,), (1,))",
        "F((2, 3), (0, 0))",
    ),
    "torch.empty_like torch.rand_like torch.randn_like": ("F({f}).shape", "F({a}, dtype={float_dtype}).dtype"),
    "torch.tensor torch.as_tensor torch.asarray": (
        "F({list})",
        "F({list}, dtype={dtype})",
        "F({number})",
        "F({number}, dtype={dtype})",
        "F({a})",
    ),
    "torch.scalar_tensor": ("F({number})", "F({number}, dtype={dtype})"),
    "torch.from_numpy": ("F({a}.detach().numpy())", "F({a}.detach().numpy()[..., :1])"),
    "torch.BoolTensor torch.ByteTensor torch.CharTensor torch.IntTensor torch.LongTensor torch.ShortTensor": (
        "F([1, 0, 2])",
        "F(2, 3).shape",
    ),
    "torch.BFloat16Tensor": ("F([1.5, 2]).float()", "F(2, 3).shape"),
    "torch.is_storage": ("F({a})", "F({a}.storage())", "F({a}.untyped_storage())"),
    "Tensor.bfloat16": ("{a}.F().float()",),
    "Tensor.set_": ("{a}.detach().clone().F().shape", "{a}.detach().clone().F({a}.detach())"),
    "Tensor.storage Tensor.untyped_storage": ("{a}.contiguous().F().nbytes()", "len({a}.clone().F())"),
    "torch.DoubleTensor torch.FloatTensor torch.HalfTensor torch.Tensor": (
        "F([1.5, 2])",
        "F([])",
        "F([[1], [True]])",
        "F([1, [2]])",
        "F(2, 3).shape",
    ),
    "torch.rand torch.randn": ("F({shape}).shape", "F({shape}, dtype={dtype}).dtype"),
    "torch.randint": ("F(5, {shape}).shape", "F(2, 3, {shape})", "F(3, 3, {shape}).shape"),
    "torch.randint_like": ("F({a}, 5).shape", "F({a}, 2, 3)"),
    "torch.randperm": ("F({count}).sort().values", "F({count}, dtype={dtype}).dtype"),
    "torch.normal": ("F({f}, 1.0).shape", "F(0.0, 1.0, {shape}).shape"),
    "torch.bernoulli": ("F({unit}).shape", "F({zeros:2,3})", "F({ones:2,3})"),
    "torch.multinomial": ("F({ones:3}, 2).shape", "F({ones:2,3}, 4, True).shape", "F({ones:3}, 4)"),
    "torch.dropout torch.alpha_dropout": ("F({f}, 0.0, True)", "F({f}, 0.5, False)"),
    "torch.rrelu": ("F({f}, 0.5, 0.5)",),
    "F.dropout": ("F({f}, 0.0)", "F({f}, 1.0)", "F({f}, 0.5, False)", "F({f}, 0.5).shape", "F({f}, 1.5)"),
    "Tensor.bernoulli_ Tensor.normal_ Tensor.uniform_ Tensor.random_": ("({f} * 1).N().shape",),
    "Tensor.new_empty": ("{a}.N({shape}).shape", "{a}.N({shape}, dtype={dtype}).dtype"),
    "Tensor.multinomial": ("{ones:3}.N(2).shape",),
    "Tensor.bernoulli": ("{zeros:2,3}.N()",),
    "torch.index_put_ torch.index_put": ("F({w:4}, ({index},), {zero_d})", "F({w:4}, ({index},), {zero_d}, True)"),
    "torch.detach_": ("F({f} * 1)",),
    "Tensor.index_put_": (
        "{w:4}.N(({index},), {zero_d})",
        "{w:4}.N(({index},), {zero_d}, True)",
        "{w:4}.N(({mask},), {zero_d})",
    ),
    "Tensor.copy_ Tensor.type_as": ("{w}.N({b})",),
    "Tensor.fill_": ("{w}.N({number})", "{w}.N({zero_d})"),
    "Tensor.zero_": ("{w}.N()",),
    "Tensor.masked_fill_": ("{w}.N({mask}, {number})", "{w}.N({mask}, {zero_d})"),
    "Tensor.where": ("{a}.N({mask}, {o})",),
    "Tensor.register_hook Tensor.register_post_accumulate_grad_hook": ("{f}.N(lambda *given: None) is None",),
    "Tensor.T Tensor.H Tensor.mH Tensor.mT Tensor.is_cpu Tensor.real": ("{a}.N",),
    "Tensor.data Tensor.grad Tensor.ndim Tensor.shape Tensor.itemsize Tensor.nbytes": ("{a}.N",),
    "Tensor.device Tensor.dtype Tensor.layout Tensor.is_cuda Tensor.is_leaf Tensor.is_meta Tensor.is_mps": ("{a}.N",),
    "Tensor.is_nested Tensor.is_quantized Tensor.is_sparse Tensor.is_xpu Tensor.output_nr Tensor.requires_grad": (
        "{a}.N",
    ),
    "Tensor.retains_grad": ("{a}.N",),
    "Tensor.grad_fn": ("({f} * 1).N is None",),
    "Tensor.__add__ Tensor.__sub__ Tensor.__mul__ Tensor.__truediv__ Tensor.__floordiv__ Tensor.__mod__": (
        "{a} OP {o}",
    ),
    "Tensor.__radd__ Tensor.__rsub__ Tensor.__rmul__ Tensor.__rtruediv__ Tensor.__rfloordiv__ Tensor.__rmod__": (
        "{number} OP {a}",
    ),
    "Tensor.__eq__ Tensor.__ne__ Tensor.__lt__ Tensor.__le__ Tensor.__gt__ Tensor.__ge__": (
        "{a} OP {o}",
        "{number} OP {a}",
    ),
    "Tensor.__pow__": ("{a} ** {b}", "{a} ** {exponent}"),
    "Tensor.__rpow__": ("{number} ** {a}", "2 ** {a}"),
    "Tensor.__iadd__ Tensor.__isub__ Tensor.__imul__ Tensor.__itruediv__ Tensor.__ifloordiv__ Tensor.__imod__": (
        "into('OP', {w}, {o})",
    ),
    "Tensor.__ipow__": ("into('**', {w}, {exponent})", "into('**', {w}, {b})"),
    "Tensor.__and__ Tensor.__or__ Tensor.__xor__": ("{a} OP {b}", "{a} OP {integer}"),
    "Tensor.__rand__ Tensor.__ror__ Tensor.__rxor__": ("{integer} OP {a}", "True OP {a}"),
    "Tensor.__lshift__ Tensor.__rshift__": ("{a} OP {few}", "{a} OP {count}"),
    "Tensor.__rlshift__ Tensor.__rrshift__": ("{count} OP {few}",),
    "Tensor.__iand__ Tensor.__ior__ Tensor.__ixor__": ("into('OP', {w}, {b})", "into('OP', {w}, {integer})"),
    "Tensor.__ilshift__ Tensor.__irshift__": ("into('OP', {w}, {few})",),
    "Tensor.__matmul__": ("{a:2,3} @ {like:3,2}", "{a} @ {like:3}"),
    "Tensor.__rmatmul__": ("{number} @ {a}",),
    "Tensor.__invert__": ("~{a}",),
    "Tensor.__neg__": ("-{a}",),
    "Tensor.__pos__": ("+{a}",),
    "Tensor.__abs__": ("abs({a})",),
    "Tensor.__bool__ Tensor.__float__ Tensor.__int__ Tensor.__complex__ Tensor.__len__": ("CAST({a})", "CAST({a:})"),
    "Tensor.__index__": ("[10, 11, 12][{zero_d}]", "range({a})"),
    "Tensor.__iter__": ("list({a})",),
    "Tensor.__contains__": ("{number} in {a}", "{a} in {a}"),
    "Tensor.__array_wrap__": ("np.exp({f})", "np.isnan({f})"),
    "Tensor.__array__": ("np.asarray({a})", "np.asarray({a}, np.float64)"),
    "Tensor.__getitem__": (
        "{a}[{key}]",
        "{a}[{key}, {key}]",
        "{a}[{key}]",
        "{a}[{key}, {key}]",
        "{a}[{index}]",
        "{a}[..., {index}]",
        "{a}[{mask}]",
        "{a}[:, {index}]",
    ),
    "Tensor.__setitem__": (
        "put({w}, ({key},), {number})",
        "put({w}, ({key}, {key}), {zero_d})",
        "put({w}, ({index},), {number})",
        "put({w}, (..., {index_once}), {b})",
        "put({w}, ({mask},), {number})",
        "put({w}, (slice(1, None),), {b})",
        "put({w}, ({key}, {key}), {number})",
    ),
    "linalg.inv linalg.det linalg.slogdet": ("F({matrix})", "F({f:2,3})", "F({f:0,0})"),
    "linalg.cholesky": ("F({positive_matrix})", "F({positive_matrix}, upper=True)"),
    "linalg.solve": ("F({matrix:3,3}, {like:3})", "F({matrix:3,3}, {like:3,2})", "F({matrix:2,3,3}, {like:2,3,2})"),
    "linalg.eigh": ("F({matrix})[0]", "F({matrix}, 'U')[0]", "F({matrix}).eigenvectors.square()"),
    "linalg.eigvalsh linalg.svdvals linalg.matrix_exp": ("F({matrix})", "F({f:2,3})"),
    "linalg.svd": ("F({matrix})[1]", "F({f:2,3}, full_matrices=False)[0].square()", "F({f:3,2}, {flag})[2].square()"),
    "linalg.qr": ("F({matrix})", "F({f:3,2})", "F({f:2,3})", "F({f:3,2}, 'complete')", "F({f:2,3}, 'r')"),
    "linalg.lu": ("F({matrix})", "F({f:3,2})", "F({f:2,3})", "F({matrix}, pivot=False)"),
    "linalg.ldl_factor linalg.ldl_factor_ex": ("F({positive_matrix})", "F({f:2,3})"),
    "linalg.ldl_solve": ("F(*torch.linalg.ldl_factor({matrix:3,3}), {like:3,2})",),
    "torch.histogramdd": ("F({f:3,2}, 2)", "F({f:3,2}, [2, 3], range=[0.0, 1.0, -1.0, 2.0])", "F({f:3}, 2)"),
    "linalg.lu_factor": ("F({matrix})", "F({f:3,2})", "F({f:2,3})"),
    "linalg.lu_solve": ("F(*torch.linalg.lu_factor({matrix:3,3}), {like:3,2})",),
    "torch.lu_solve": ("F({f:3,2}, *torch.linalg.lu_factor({matrix:3,3}))",),
    "Tensor.lu_solve": ("{f:3,2}.N(*torch.linalg.lu_factor({matrix:3,3}))",),
    "torch.lu_unpack": ("F(*torch.linalg.lu_factor({matrix}))", "F(*torch.linalg.lu_factor({f:3,2}))"),
    "torch.svd": ("F({matrix})[1]", "F({f:3,2})[2].square()", "F({f:2,3}, False)[0].square()"),
    "Tensor.svd": ("{matrix}.N()[1]", "{f:3,2}.N()[0].square()"),
    "linalg.inv_ex linalg.cholesky_ex linalg.lu_factor_ex": ("F({positive_matrix})", "F({zeros:2,2})[-1].shape"),
    "linalg.solve_ex": ("F({matrix:3,3}, {like:3})", "F({matrix:3,3}, {like:3,2})"),
    "linalg.pinv linalg.matrix_rank": ("F({matrix})", "F({f:2,3})", "F({zeros:2,3})", "F({f:3,2}, rtol=0.5)"),
    "linalg.cond": ("F({matrix})", "F({matrix}, {norm_order})", "F({f:2,3})"),
    "linalg.matrix_norm": (
        "F({f:2,3})",
        "F({f:2,3}, {norm_order})",
        "F({f:2,3,2}, {norm_order}, (0, 2), {flag})",
        "F({f})",
    ),
    "linalg.lstsq": ("F({matrix:3,3}, {like:3,2})[0]", "F({f:3,2}, {like:3,2})[:2]", "F({f:2,3}, {like:2,2})[2]"),
    "linalg.solve_triangular": (
        "F({matrix:3,3}, {like:3,2}, upper={flag})",
        "F({matrix:3,3}, {like:2,3}, upper={flag}, left=False, unitriangular={flag})",
        "F({matrix:2,3,3}, {like:3,2}, upper=False)",
    ),
    "torch.triangular_solve": ("F({f:3,2}, {matrix:3,3}, {flag}, {flag})",),
    "Tensor.triangular_solve": ("{f:3,2}.N({matrix:3,3}, {flag}, {flag}, {flag})",),
    "linalg.cross": ("F({a:2,3}, {like:2,3})", "F({a:3,2}, {like:3,1}, dim={dim})", "F({a}, {b})"),
    "linalg.vecdot": ("F({f}, {b})", "F({a:2,3}, {like:2,3}, dim={dim})"),
    "linalg.vander": ("F({a:3})", "F({f:2,3}, N=4)", "F({f})"),
    "linalg.multi_dot": ("F([{a:2,3}, {like:3,4}, {like:4}])", "F([{a:3}, {like:3,2}])", "F([{a:2,3}])"),
    "linalg.tensorinv": ("F({matrix:4,4}.reshape(2, 2, 4))", "F({matrix:3,3}, 1)", "F({f:2,3})"),
    "linalg.tensorsolve": ("F({matrix:4,4}.reshape(2, 2, 4), {like:2,2})", "F({matrix:3,3}, {like:3})"),
    "linalg.householder_product": ("F({f:3,2}, {like:2})", "F({f:2,3,3}, {like:2,2})"),
    "linalg.matmul": ("F({a:2,3}, {like:3,2})",),
    "linalg.matrix_power": ("F({matrix}, {small})",),
    "linalg.diagonal": ("F({a:2,3})", "F({a:2,3}, offset={small})"),
    "linalg.norm": (
        "F({f})",
        "F({f:3}, {power})",
        "F({f:2,3}, 'fro')",
        "F({f:2,3}, {power}, {dim})",
        "F({f:2,3}, {norm_order})",
        "F({f:2,3,2}, {norm_order}, (0, 1))",
    ),
    "linalg.vector_norm": ("F({f})", "F({f}, {power})", "F({f}, {power}, {dims}, {flag})"),
    "F.relu_": ("F({w})",),
}
