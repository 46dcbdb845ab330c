"""Expressions over layers, functions and training tools, and what one gives on a library: values, gradients, texts.

tests/torch/modules/check_values.py evaluates them on PyTorch and here, and records PyTorch's answers in values.json,
with which test_torch_values.py compares ours. Inputs are made by formulas, so that no file of numbers goes with them.
"""

from __future__ import annotations

import copy
import importlib
import math
import warnings
from collections import OrderedDict
from typing import Any

import _name_rows
import numpy as np

#: Layers and functions; families are commits. `t(2, 3)`: floats of a shape, `i(4, 2, 3)`: integers below 4,
#: `fill(layer)`: its parameters by a formula.
ROWS: list[str] = [*_name_rows.ROWS]

#: Schedules of 25 steps, the last 10 after loading the state of step 12, with "o", an optimizer with momentum, or "a",
#: one with betas.
ROWS += [
    f"plan({text!r})"
    for text in (
        "PolynomialLR(o, 7, 2.5)", "MultiplicativeLR(o, lambda epoch: 0.9)",
        "CosineAnnealingWarmRestarts(o, 2, 2, 0.01)",
        "CyclicLR(o, 0.1, 0.5, 3)", "CyclicLR(a, [0.1, 0.2], [0.5, 1], 3, 5, mode='triangular2', base_momentum=0.7)",
        "CyclicLR(o, 0.1, 0.5, 2, 1, 'exp_range', 0.9, cycle_momentum=False)",
        "CyclicLR(o, 0.1, 0.5, 4, scale_fn=lambda x: 1 / x, scale_mode='cycle')", "OneCycleLR(o, 0.5, 31)",
        "OneCycleLR(a, [0.5, 1.0], epochs=8, steps_per_epoch=4, anneal_strategy='linear', pct_start=0.4)",
        "OneCycleLR(o, 0.5, 31, three_phase=True, div_factor=10.0, final_div_factor=100.0)",
        "SequentialLR(o, [LinearLR(o, 0.1, 1.0, 5), CosineAnnealingLR(o, 10), StepLR(o, 3)], [5, 15])",
        "SequentialLR(o, [LinearLR(o, 0.1), CosineAnnealingWarmRestarts(o, 4, 2)], [6])",
        "ChainedScheduler([StepLR(o, 4), LinearLR(o), PolynomialLR(o, 20)])", "ReduceLROnPlateau(o, patience=2)",
        "ReduceLROnPlateau(o, 'max', 0.5, 1, 0.1, 'abs', 2, 0.01)",
        "ReduceLROnPlateau(o, 'min', 0.3, 0, 0.05, 'rel', 1, [0.01, 0.2])", "SWALR(o, [0.05, 0.5], 5, 'linear')",
        "SWALR(o, 0.05)",
    )
]  # fmt: skip

#: Optimizers, 10 steps each, 5 of them after loading the state of another.
ROWS += [
    f"steps({text!r})"
    for text in (
        "Adagrad(groups, lr=0.1, lr_decay=0.1, weight_decay=0.1)", "Adagrad(groups, initial_accumulator_value=0.5)",
        "Adadelta(groups, lr=0.5, rho=0.8, eps=1e-3)", "Adadelta(groups, weight_decay=0.1, maximize=True)",
        "Adamax(groups, 0.01, (0.5, 0.9))", "NAdam(groups, 0.01, momentum_decay=0.1)",
        "NAdam(groups, weight_decay=0.1, decoupled_weight_decay=True)", "RAdam(groups, 0.05, (0.5, 0.9))",
        "RAdam(groups, 0.05, weight_decay=0.1, maximize=True)", "Rprop(groups, 0.01, (0.4, 1.3), (1e-3, 0.5))",
        "ASGD(groups, 0.02, lambd=0.1, alpha=0.5, t0=5)", "ASGD(groups, weight_decay=0.1)",
        "LBFGS(groups, lr=0.1, max_iter=3, history_size=2)", "LBFGS(groups, line_search_fn='strong_wolfe')",
        "LBFGS(groups, 0.5, 7, 9, 1e-3, 1e-4, 3, 'strong_wolfe')",
    )
]  # fmt: skip

#: Averages of weights.
ROWS += [f"average({options!r})" for options in ("", "use_buffers=True", "avg_fn=s.get_ema_avg_fn(0.9)",
                                                 "multi_avg_fn=s.get_ema_multi_avg_fn(0.9)")]  # fmt: skip


#: Images in other sizes and places.
ROWS += [
    f"F.interpolate(t(2, 2, {', '.join(map(str, shape))}), {options})"
    for shape, options in (
        *(
            (shape, f"{size}, mode={mode!r}")
            for shape, mode in (
                ((5,), "nearest"), ((4, 3), "nearest"), ((2, 3, 2), "nearest"), ((4, 5), "nearest-exact"),
                ((5,), "linear"), ((4, 3), "bilinear"), ((4, 3), "bicubic"), ((2, 3, 2), "trilinear"), ((4, 5), "area"),
            )
            for size in ("size=3", "scale_factor=1.7")
        ),
        ((4, 3), "(7, 2), mode='bilinear', align_corners=True"), ((4, 3), "(1, 5), mode='bicubic', align_corners=True"),
        ((5, 6), "(3, 4), mode='bilinear', antialias=True"), ((5, 6), "(7, 2), mode='bicubic', antialias=True"),
        ((4, 3), "scale_factor=(1.7, 0.6), recompute_scale_factor=True, mode='bilinear'"),
        ((4, 3), "scale_factor=2, mode='bilinear', align_corners=True"), ((4, 3), "mode='x', size=3"), ((4, 3), "3, 2"),
        ((4, 3), "(1, 2, 3)"), ((4, 3), "3, align_corners=True"), ((4, 3), "3, mode='linear'"),
    )
]  # fmt: skip
ROWS += [
    f"F.grid_sample(t(2, 2, 4, 3), t(2, 3, 2, 2, by=1.4), {mode!r}, {rim!r}, {aligned})"
    for mode in ("bilinear", "nearest", "bicubic")
    for rim in ("zeros", "border", "reflection")
    for aligned in (True, False)
]  # fmt: skip
ROWS += [
    "F.grid_sample(t(1, 2, 2, 3, 2), t(1, 2, 2, 2, 3, by=1.2))", "F.grid_sample(t(1, 2, 4, 3), t(2, 3, 3, 2))",
    "F.affine_grid(t(2, 2, 3), (2, 1, 3, 4), False)", "F.affine_grid(t(1, 3, 4), (1, 1, 2, 3, 1), True)",
    "F.affine_grid(t(2, 2), (2, 1, 3, 4))", "F.unfold(t(2, 2, 5, 4), (2, 3), stride=(2, 1), padding=1)",
    "F.unfold(t(2, 5, 5), 2, dilation=2)", "F.unfold(t(5, 5), 2)", "F.fold(t(2, 12, 6), (4, 3), 2)",
    "F.fold(t(8, 9), 5, 2, padding=1, stride=2)", "F.pixel_shuffle(t(2, 8, 2, 3), 2)", "F.pixel_shuffle(t(9, 1, 2), 3)",
    "F.pixel_unshuffle(t(1, 2, 4, 6), 2)", "F.pixel_shuffle(t(1, 3, 2, 2), 2)", "F.channel_shuffle(t(2, 6, 2), 3)",
    "F.max_pool1d(t(2, 3, 7), 3, 2, 1, return_indices=True)", "F.max_pool2d(t(2, 2, 5, 6), 2, dilation=2)",
    "F.max_pool2d(t(2, 5, 6), 3, 2, 1, 2, True, True)", "F.max_pool3d(t(1, 2, 4, 3, 4), 2, return_indices=True)",
    "F.max_pool2d(t(2, 2, 5, 6), 3, dilation=3)",
    "F.adaptive_max_pool2d(t(2, 2, 5, 7), (2, 3), return_indices=True)", "F.adaptive_max_pool1d(t(2, 5), 3)",
    "F.adaptive_max_pool3d(t(1, 2, 3, 4, 5), (2, None, 3))",
    "F.max_unpool2d(*F.max_pool2d(t(1, 2, 4, 6), 2, return_indices=True), 2)",
    "F.max_unpool1d(*F.max_pool1d(t(1, 2, 5), 2, return_indices=True), 2, output_size=(1, 2, 5))",
    "F.max_unpool3d(*F.max_pool3d(t(2, 2, 4, 2), 2, return_indices=True), 2)",
    "F.max_unpool2d(t(1, 1, 2, 2), i(9, 1, 1, 2, 2), 2, output_size=(9, 9))", "F.lp_pool1d(t(2, 3, 6), 2, 3)",
    "F.lp_pool2d(t(1, 2, 5, 5), 3.0, 2, stride=1, ceil_mode=True)", "F.lp_pool3d(t(2, 2, 2, 2), 2, 2)",
]  # fmt: skip


#: Losses over margins, distributions and sequences; norms, random functions whose draws do not show.
ROWS += [
    *(
        f"F.{loss}, reduction={how!r})"
        for loss in (
            "margin_ranking_loss(t(5), t(5), i(2, 5) * 2 - 1, 0.3",
            "hinge_embedding_loss(t(3, 4), i(2, 3, 4) * 2 - 1, 0.5",
            "cosine_embedding_loss(t(4, 3), t(4, 3), i(2, 4) * 2 - 1, 0.1",
            "triplet_margin_loss(t(4, 3), t(4, 3), t(4, 3)",
            "triplet_margin_loss(t(4, 3), t(4, 3), t(4, 3), 0.5, 1, swap=True", "multi_margin_loss(t(4, 3), i(3, 4)",
            "multi_margin_loss(t(4, 3), i(3, 4), 2, 0.5, torch.tensor([1., 2, 3]).double()",
            "multilabel_margin_loss(t(2, 4), torch.tensor([[3, 0, -1, 1], [-1, 0, 1, 2]])",
            "soft_margin_loss(t(3, 4), i(2, 3, 4) * 2 - 1.0",
            "multilabel_soft_margin_loss(t(3, 4), i(2, 3, 4).double()",
            "multilabel_soft_margin_loss(t(3, 4), i(2, 3, 4).double(), t(4)", "poisson_nll_loss(t(3, 4), i(5, 3, 4)",
            "poisson_nll_loss(t(3, 4).exp(), i(5, 3, 4).double(), False, True",
            "gaussian_nll_loss(t(3, 4), t(3, 4), t(3, 1).exp()",
            "gaussian_nll_loss(t(3, 4), t(3, 4), t(3, 4) ** 2, True, 0.3", "gaussian_nll_loss(t(3, 4), t(3, 4), 0.5",
            "ctc_loss(t(6, 2, 4).log_softmax(2), i(3, 2, 3) + 1, (6, 5), (3, 2)",
            "ctc_loss(t(6, 2, 4).log_softmax(2), torch.tensor([0, 1, 1, 3, 0]), (6, 5), (3, 2), 2",
            "ctc_loss(t(5, 4).log_softmax(1), torch.tensor([1, 1]), torch.tensor(5), torch.tensor(2)",
        )
        for how in ("mean", "sum", "none")
    ),
    "F.ctc_loss(t(2, 1, 4).log_softmax(2), torch.tensor([[1, 1]]), (2,), (2,))",
    "F.triplet_margin_loss(t(3), t(3), t(2, 3))",
    "F.ctc_loss(t(2, 1, 4).log_softmax(2), torch.tensor([[1, 1]]), (2,), (2,), zero_infinity=True)",
    "F.gaussian_nll_loss(t(3), t(3), t(3))", "F.multi_margin_loss(t(3), i(3, 1))",
    "F.multi_margin_loss(t(4, 3), i(3, 4), 3)",
    "F.cosine_embedding_loss(t(3), t(3), torch.tensor(1))", "F.cosine_embedding_loss(t(3), t(3), torch.tensor([1]))",
    "F.multilabel_margin_loss(t(4), torch.tensor([3, 0, -1, 1]))",
    "F.gaussian_nll_loss(t(3, 4), t(3, 4), t(2, 4) ** 2)",
    "F.triplet_margin_with_distance_loss(t(4, 3), t(4, 3), t(4, 3), distance_function=lambda a, b: (a - b).sum(1))",
    "F.rms_norm(t(2, 3, 4), (4,))", "F.rms_norm(t(2, 3, 4).float(), (3, 4), t(3, 4).float(), 1e-3)",
    "F.rms_norm(t(2, 3), (2,))",
    "F.local_response_norm(t(2, 5, 3), 2, 0.5, 0.6, 2.0)", "F.local_response_norm(t(2, 5, 3, 2), 3)",
    "F.rrelu(t(3, 4))", "F.rrelu(t(3, 4), 0.25, 0.25, True)", "F.elu_(t(3) * 1, 0.5)", "F.leaky_relu_(t(3) * 1)",
    "F.hardtanh_(t(5) * 2, -0.5, 0.5)", "F.threshold_(t(5) * 2, 0.1, 3)", "F.alpha_dropout(t(3, 4), 0.5)",
    "F.alpha_dropout(t(3, 4), 1.0, True)", "F.gumbel_softmax(t(3, 4)).sum(-1)",
    "F.gumbel_softmax(t(3, 4), hard=True).sum(-1)",
    "F.pdist(t(4, 3))", "F.pdist(t(4, 3), 1)", "F.pdist(t(3))", "F.embedding(i(4, 2, 3), t(4, 3) * 1, max_norm=0.7)",
    "F.embedding_bag(i(4, 2, 3), t(4, 3))", "F.embedding_bag(i(4, 2, 3), t(4, 3), mode='max', padding_idx=2)",
    "F.embedding_bag(i(4, 7), t(4, 3), torch.tensor([0, 2, 2, 5]), mode='sum', per_sample_weights=t(7))",
    "F.embedding_bag(i(4, 7), t(4, 3), torch.tensor([0, 2, 2, 7]), include_last_offset=True)",
    "F.embedding_bag(i(4, 7), t(4, 3), torch.tensor([0, 2, 2]), mode='max')", "F.embedding_bag(i(4, 7), t(4, 3))",
    "F.embedding_bag(i(4, 2, 3), t(4, 3), mode='x')",
    "F.embedding_bag(i(4, 2, 3), t(4, 3), per_sample_weights=t(2, 3))",
]  # fmt: skip


#: Layers of these functions.
ROWS += [
    f"fill({layer})({inputs})"
    for layer, inputs in (
        ("nn.RReLU(0.25, 0.25, True)", "t(3, 4) * 1"), ("nn.RReLU().eval()",
        "t(3)"), ("nn.AlphaDropout(0.3).eval()", "t(3)"),
        ("nn.FeatureAlphaDropout(0.0)", "t(3, 2)"), ("nn.Softmax2d()", "t(2, 3, 2, 2)"), ("nn.PixelShuffle(2)",
        "t(4, 2, 3)"),
        ("nn.PixelUnshuffle(2)", "t(4, 2, 2)"), ("nn.ChannelShuffle(2)", "t(1, 4, 2)"), ("nn.LocalResponseNorm(3)",
        "t(2, 4, 3)"),
        ("nn.Unfold(2, padding=1)", "t(2, 3, 3)"), ("nn.Fold((3, 3), 2)",
        "t(4, 4)"), ("nn.Upsample(scale_factor=2)", "t(1, 2, 3)"),
        ("nn.Upsample((3, 4), mode='bilinear')", "t(1, 1, 2, 3)"), ("nn.UpsamplingNearest2d(3)", "t(1, 1, 2, 3)"),
        ("nn.UpsamplingBilinear2d(scale_factor=(2, 3))", "t(1, 1, 2, 3)"), ("nn.ReflectionPad1d(2)", "t(1, 2, 4)"),
        ("nn.ReflectionPad2d((1, 0, 1, 1))", "t(2, 3, 3)"), ("nn.ReplicationPad3d(1)", "t(1, 2, 2, 2)"),
        ("nn.CircularPad2d(1)", "t(1, 2, 3)"), ("nn.ConstantPad1d((1, 2), 3.5)", "t(2, 3)"), ("nn.ZeroPad2d(-1)",
        "t(1, 4, 4)"),
        ("nn.LPPool2d(2, 2)", "t(1, 4, 4)"), ("nn.MaxUnpool2d(2)",
        "*nn.MaxPool2d(2, return_indices=True)(t(1, 1, 4, 4))"),
        ("nn.MaxPool2d(2, dilation=2, return_indices=True)", "t(1, 5, 5)"), ("nn.AdaptiveMaxPool2d(3, True)",
        "t(1, 1, 5, 7)"),
        ("nn.MarginRankingLoss(0.2)", "t(3), t(3), i(2, 3) * 2 - 1"), ("nn.HingeEmbeddingLoss()",
        "t(3), i(2, 3) * 2 - 1"),
        ("nn.CosineEmbeddingLoss(0.1)", "t(2, 3), t(2, 3), i(2, 2) * 2 - 1"), ("nn.TripletMarginLoss(0.5)",
        "t(2, 3), t(2, 3), t(2, 3)"),
        ("nn.TripletMarginWithDistanceLoss(margin=0.5, swap=True)", "t(2, 3), t(2, 3), t(2, 3)"),
        ("nn.MultiMarginLoss(weight=torch.tensor([1., 2, 3]))", "t(2, 3), i(3, 2)"), ("nn.MultiLabelMarginLoss()",
        "t(3), i(3, 3)"),
        ("nn.MultiLabelSoftMarginLoss()", "t(2, 3), i(2, 2, 3).double()"),
        ("nn.SoftMarginLoss(reduction='sum')", "t(3), i(2, 3) * 2.0 - 1"), ("nn.PoissonNLLLoss(full=True)",
        "t(3), i(4, 3)"),
        ("nn.GaussianNLLLoss(full=True)", "t(3), t(3), t(3) ** 2"), ("nn.CTCLoss()",
        "t(4, 1, 3).log_softmax(2), i(2, 1, 2) + 1, (4,), (2,)"),
        ("nn.RMSNorm(4)", "t(2, 4)"), ("nn.RMSNorm((2, 4), 1e-3, False)",
        "t(2, 4)"), ("nn.Embedding(4, 3, None, 0.5)", "i(4, 2)"),
        ("nn.EmbeddingBag(4, 3)", "i(4, 2, 3)"), ("nn.EmbeddingBag(4, 3, mode='max', padding_idx=1)",
        "i(4, 6), torch.tensor([0, 4])"),
        ("nn.EmbeddingBag(4, 3, 0.5, 1.0, mode='sum')", "i(4, 2, 3), None, t(2, 3)"),
    )
]  # fmt: skip


#: Attention, transformers, cells.
M, P = "torch.ones(3, 3).triu(1).bool()", "torch.tensor([[False, False, True], [False] * 3])"
Q = "t(3, 2, 4), t(3, 2, 4), t(3, 2, 4)"
ROWS += [
    f"fill({layer})({inputs})"
    for layer, inputs in (
        ("nn.MultiheadAttention(4, 2)", "t(3, 2, 4), t(5, 2, 4), t(5, 2, 4)"),
        ("nn.MultiheadAttention(4, 2, bias=False, batch_first=True)",
        "t(2, 3, 4), t(2, 5, 4), t(2, 5, 4), average_attn_weights=False"),
        ("nn.MultiheadAttention(4, 2, kdim=3, vdim=5)", "t(3, 2, 4), t(5, 2, 3), t(5, 2, 5), need_weights=False"),
        ("nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True)", f"{Q}, attn_mask={M}"),
        ("nn.MultiheadAttention(4, 2)", "t(3, 4), t(5, 4), t(5, 4)"),
        ("nn.MultiheadAttention(4, 2)", f"t(3, 2, 4), t(3, 2, 4), t(3, 2, 4), {P}, True, {M}"),
        ("nn.MultiheadAttention(4, 2)", "t(3, 2, 4), t(3, 2, 4), t(3, 2, 4), attn_mask=t(4, 3, 3)"),
        ("nn.MultiheadAttention(4, 2)", "t(3, 2, 4), t(3, 2, 4), t(3, 2, 4), is_causal=True"),
        ("nn.MultiheadAttention(4, 2)", "t(3, 2, 5), t(3, 2, 5), t(3, 2, 5)"), ("nn.MultiheadAttention(4, 3)", ""),
        ("nn.TransformerEncoderLayer(4, 2, 5, 0.0)", "t(3, 2, 4)"),
        ("nn.TransformerEncoderLayer(4, 2, 5, 0.0, 'gelu', 1e-3, True, True, False)", f"t(2, 3, 4), {M}"),
        ("nn.TransformerEncoderLayer(4, 2, 5, 0.0, nn.ELU())",
        "t(3, 2, 4), None, torch.tensor([[False, False, True], [False] * 3])"),
        ("nn.TransformerDecoderLayer(4, 2, 5, 0.0)", "t(3, 2, 4), t(4, 2, 4)"),
        ("nn.TransformerDecoderLayer(4, 2, 5, 0.0, batch_first=True, norm_first=True)", f"t(2, 3, 4), t(2, 4, 4), {M}"),
        ("nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 5, 0.0), 2, nn.LayerNorm(4))", "t(3, 2, 4)"),
        ("nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 5, 0.0), 2)", "t(3, 2, 4), t(4, 2, 4)"),
        ("nn.Transformer(4, 2, 1, 2, 6, 0.0)",
        "t(4, 2, 4), t(3, 2, 4), tgt_mask=nn.Transformer.generate_square_subsequent_mask(3).double()"),
        ("nn.Transformer(4, 2, 1, 1, 6, 0.0, batch_first=True)", "t(2, 4, 4), t(1, 3, 4)"),
        ("nn.RNNCell(3, 2)", "t(4, 3), t(4, 2)"), ("nn.RNNCell(3, 2, False, 'relu')", "t(3)"), ("nn.LSTMCell(3, 2)",
        "t(4, 3)"),
        ("nn.LSTMCell(3, 2, bias=False)", "t(3), (t(2), t(2))"), ("nn.GRUCell(3, 2)",
        "t(4, 3), t(4, 2)"), ("nn.GRUCell(3, 2)", "t(3)"),
        ("nn.GRUCell(3, 2)", "t(4, 4)"), ("nn.GRUCell(3, 2)", "t(4, 3), t(3, 2)"), ("nn.LSTMCell(3, 2)", "t(1, 4, 3)"),
    )
]  # fmt: skip
ROWS += [
    "F.scaled_dot_product_attention(t(2, 4, 3, 2), t(2, 2, 5, 2), t(2, 2, 5, 3), enable_gqa=True)",
    "F.scaled_dot_product_attention(t(2, 3, 2), t(2, 5, 2), t(2, 5, 3), is_causal=True, scale=0.3)",
    "F.scaled_dot_product_attention(t(2, 3, 2), t(2, 5, 2), t(2, 5, 3), t(3, 5))",
]


#: Sequences of several lengths, weights that are computed.
W = "parametrize.register_parametrization"
ROWS += [
    "rnn.pack_padded_sequence(t(4, 3, 2), [4, 2, 1])",
    "rnn.pack_padded_sequence(t(3, 4, 2), torch.tensor([1, 4, 2]), True, False)",
    "rnn.pack_padded_sequence(t(4, 3, 2), [1, 4, 2])", "rnn.pack_padded_sequence(t(4, 3, 2), [4, 0, 0])",
    "rnn.pad_packed_sequence(rnn.pack_padded_sequence(t(4, 3, 2), [2, 3, 1], enforce_sorted=False), True, 9.0, 5)",
    "rnn.pad_sequence([t(2, 3), t(4, 3), t(1, 3)], padding_value=5.0)",
    "rnn.pad_sequence([t(2), t(4)], True, padding_side='left')",
    "rnn.unpad_sequence(t(4, 2, 1).detach(), torch.tensor([3, 2]))", "rnn.pack_sequence([t(3), t(2), t(1)])",
    "rnn.unpack_sequence(rnn.pack_sequence([t(3), t(2), t(4)], enforce_sorted=False))",
    "utils.parameters_to_vector([t(2, 3), t(4)])",
    *(
        f"fill(nn.{layer})(rnn.pack_padded_sequence({given}, {lengths}, enforce_sorted={by})){more}"
        for layer, given, lengths, by, more in (
            ("GRU(2, 3)", "t(4, 3, 2)", [4, 2, 2], True, ""), ("LSTM(2, 3, 2, bidirectional=True)",
            "t(4, 3, 2)", [1, 4, 2], False, ""),
            ("RNN(2, 3, batch_first=True)", "t(4, 3, 2)", [4, 3, 1], True, "[0]"),
        )
    ),
    "fill(nn.LSTM(2, 3))(rnn.pack_sequence([t(2, 2), t(4, 2)], enforce_sorted=False), (t(1, 2, 3), t(1, 2, 3)))",
    *(
        f"fill({how}(nn.{layer}))({given})"
        for how in ("utils.weight_norm", "parametrizations.weight_norm")
        for layer, given in (("Linear(3, 2)", "t(4, 3)"), ("Conv2d(2, 3, 2)",
        "t(2, 3, 3)"), ("ConvTranspose1d(2, 3, 2)", "t(2, 3)"))
    ),
    "fill(utils.weight_norm(nn.Linear(3, 2), dim=None))(t(4, 3))", "utils.remove_weight_norm(nn.Linear(2, 3))",
    "repr(utils.remove_weight_norm(utils.weight_norm(nn.Linear(2, 3))))",
    "utils.weight_norm(utils.weight_norm(nn.Linear(2, 3)))",
    "[*utils.spectral_norm(nn.Linear(2, 3)).state_dict()]",
    "[*parametrizations.spectral_norm(nn.Conv1d(2, 3, 2)).state_dict()]",
    *(
        f"torch.linalg.vector_norm({how}(nn.Linear(1, 4, False), n_power_iterations=5)(torch.ones(1, 1)).detach())"
        for how in ("utils.spectral_norm", "parametrizations.spectral_norm")
    ),
    "repr(parametrizations.weight_norm(nn.Linear(2, 3)))", "parametrize.is_parametrized(nn.Linear(2, 3))",
    "repr(parametrize.remove_parametrizations(parametrizations.weight_norm(nn.Linear(2, 3)), 'weight'))",
    "parametrize.remove_parametrizations(parametrizations.weight_norm(nn.Linear(2, 3)), 'weight', False)",
    "parametrize.remove_parametrizations(nn.Linear(2, 3), 'weight')",
    "parametrize.register_parametrization(nn.Linear(2, 3), 'x', nn.ReLU())",
    "fill(parametrize.register_parametrization(nn.Linear(2, 3), 'weight', nn.Softplus()))(t(4, 2))",
    f"fill({W}({W}(nn.Linear(2, 2), 'weight', nn.Tanh()), 'weight', nn.ReLU()))(t(2))",
    "parametrize.register_parametrization(nn.Linear(2, 3), 'weight', nn.Flatten(0))",
    "utils.fuse_conv_bn_eval(fill(nn.Conv1d(2, 3, 2)).eval(), fill(nn.BatchNorm1d(3)).eval())(t(2, 2, 4))",
]  # fmt: skip


#: Lazy layers, containers, first values, data, comparisons.
ROWS += [
    *(
        f"late(nn.{layer}, {inputs})"
        for layer, inputs in (
            ("LazyLinear(4)", "t(2, 3)"), ("LazyLinear(4, False)", "t(3)"), ("LazyConv1d(4, 2, 2)", "t(2, 3, 5)"),
            ("LazyConv2d(4, (2, 1), padding=1)", "t(3, 4, 4)"), ("LazyConv3d(2, 2)", "t(1, 2, 3, 3, 3)"),
            ("LazyConvTranspose1d(4, 2)", "t(2, 3, 4)"), ("LazyConvTranspose2d(4, 2, bias=False)", "t(2, 3, 4, 2)"),
            ("LazyBatchNorm1d()", "t(4, 3)"), ("LazyBatchNorm2d(1e-3, affine=False)", "t(2, 3, 2, 2)"),
            ("LazyInstanceNorm1d(affine=True)", "t(2, 3, 4)"), ("LazyBatchNorm1d()", "t(2, 3, 4, 5)"),
            ("LazyConv2d(4, 2)", "t(2, 3)"),
        )
    ),
    "fill(nn.ParameterDict({'a': torch.ones(2, 3), 'b': nn.Parameter(torch.ones(1))})).keys() | {'c'} == {*'abc'}",
    "repr(nn.ParameterDict({'a': torch.ones(2, 3)}) | nn.ParameterDict({'c': torch.ones(1)}))",
    "nn.ParameterDict({'a': torch.ones(1)})['b']", "[*nn.ParameterDict({'a': torch.ones(1)}).state_dict()]",
    "nn.ParameterDict({'a': torch.ones(1)}).setdefault('a', 3)", "nn.ModuleDict(3)",
    "nn.init.dirac_(torch.empty(4, 2, 3), 2)", "nn.init.dirac_(torch.empty(4, 2))",
    "nn.init.orthogonal_(torch.empty(2)).T", "torch.mm(nn.init.orthogonal_(torch.empty(3, 5), 2), torch.eye(5)).norm()",
    "(nn.init.sparse_(torch.empty(10, 4), 0.25) == 0).sum(0)", "nn.init.sparse_(torch.empty(3), 0.1)",
    "nn.init.trunc_normal_(torch.empty(500), 1.0, 2.0, 0.5, 1.5).clamp(0.5, 1.5).mean().round()",
    "data.StackDataset([1, 2], [3, 4])[1]", "data.StackDataset(a=[1, 2], b=[3, 4])[0]",
    "data.StackDataset([1], [1, 2])",
    "[*data.ChainDataset([[1, 2]])]", "[*data.ChainDataset([Stream(), Stream()])]",
    "sorted(data.DataLoader(Stream(), None, num_workers=2))", "[*data.DataLoader(Stream(), 2, num_workers=1)]",
    "sorted(data.SubsetRandomSampler([3, 5, 7]))", "data.get_worker_info()",
    "[*data.DataLoader([*range(7)], 2, num_workers=2)]", "[*data.DataLoader([*range(5)], None, num_workers=1)]",
    *(
        f"testing.assert_close({text})"
        for text in (
            "torch.ones(2), torch.ones(3)", "torch.ones(2), torch.ones(2).double()", "1, 1.0", "1.0, 1.00000001",
            "[1, 2], [1, 2]",
            "{'a': 1}, {'a': 2}", "{'a': 1}, {'b': 1}", "'a', 'b'", "torch.ones(2), 'a'",
            "torch.ones(2), torch.ones(2), rtol=1",
            "torch.tensor(math.nan), torch.tensor(math.nan)",
            "torch.tensor(math.nan), torch.tensor(math.nan), equal_nan=True",
            "[1], (1,)", "[1], [1, 2]", "None, None", "None, 1", "torch.ones(2), [1.0, 1.0]",
            "torch.ones(2), torch.ones(2) + 1",
            "torch.ones(2), torch.ones(2) + 1e-6", "torch.ones(2), torch.ones(2).double(), check_dtype=False",
            "i(4, 3), i(4, 3) + 1",
            "torch.ones(2, 3), torch.ones(3, 2).t()", "torch.ones(2, 3), torch.ones(3, 2).t(), check_stride=True",
            "torch.ones(2), torch.ones(2) + 1, rtol=1, atol=0.1", "math.inf, math.inf",
        )
    ),
    "testing.make_tensor(2, 3, dtype=torch.float32, device='cpu').shape",
    "testing.make_tensor((4,), dtype=torch.int64, device='cpu') < 10",
    "testing.make_tensor((3, 4), dtype=torch.float64, device='cpu', noncontiguous=True).is_contiguous()",
]  # fmt: skip


#: Nothing, one of everything, and more than a vector's width.
ROWS += [
    "F.interpolate(t(0, 2, 3, 3), scale_factor=2)", "F.interpolate(t(1, 1, 1, 1), (2, 3), mode='bilinear')",
    "F.grid_sample(t(0, 2, 3, 3), t(0, 2, 2, 2))", "F.grid_sample(t(1, 1, 3, 3), t(1, 0, 2, 2))",
    "F.max_pool2d(t(0, 2, 4, 4), 2, return_indices=True)", "F.unfold(t(0, 2, 3, 3), 2)",
    "F.pixel_shuffle(t(0, 4, 2, 2), 2)",
    "F.embedding_bag(i(3, 0), t(3, 2), i(1, 2))", "F.embedding_bag(i(3, 0, 2), t(3, 2))",
    "F.embedding_bag(i(3, 2, 0), t(3, 2))",
    "F.soft_margin_loss(t(0), t(0).detach())", "F.margin_ranking_loss(t(0), t(0), t(0).detach())",
    "F.triplet_margin_loss(t(0, 2), t(0, 2), t(0, 2))", "F.gaussian_nll_loss(t(0), t(0), t(0) ** 2)",
    "F.poisson_nll_loss(t(0), t(0))", "F.rms_norm(t(0, 3), (3,))", "F.local_response_norm(t(0, 3, 2), 2)",
    "F.interpolate(t(1, 40, 30, 33), (15, 70), mode='bicubic').sum((2, 3))", "F.rms_norm(t(3, 1100), (1100,)).sum(1)",
    "F.max_pool1d(t(1, 1, 1030), 33, 7, 16, return_indices=True)[1].sum()", "F.lp_pool1d(t(1, 1, 70), 2, 35)",
    "F.affine_grid(t(0, 2, 3), (0, 1, 2, 2))", "F.pdist(t(1, 3))", "F.pdist(t(40, 3)).sum()", "F.rrelu(t(0))",
    "F.multi_margin_loss(t(40, 33), i(33, 40))",
    "F.ctc_loss(t(40, 3, 35).log_softmax(2), i(34, 3, 9) + 1, (40, 39, 33), (9, 8, 1))",
    "fill(nn.MultiheadAttention(4, 2))(t(3, 0, 4), t(3, 0, 4), t(3, 0, 4))[0]", "fill(nn.GRUCell(3, 2))(t(0, 3))",
    "fill(nn.MultiheadAttention(34, 2))(t(35, 2, 34), t(35, 2, 34), t(35, 2, 34))[0].sum((0, 1))",
    "fill(nn.LSTMCell(3, 2))(t(0, 3))",
    "fill(nn.TransformerEncoderLayer(4, 2, 5, 0.0))(t(1, 1, 4))", "F.soft_margin_loss(t(3) * math.nan, t(3).detach())",
    "F.interpolate(t(1, 1, 2, 2) * math.nan, (3, 3), mode='bilinear')",
    "F.hinge_embedding_loss(t(3) * math.nan, t(3).detach())",
    "F.max_pool2d(torch.tensor([[[1.0, math.nan], [2.0, 0.0]]]), 2, return_indices=True)[0]",
    "F.interpolate(t(2, 2, 4, 6).transpose(2, 3), size=5, mode='bicubic')",
    "F.unfold(t(2, 2, 4, 6).transpose(2, 3), 2)",
    "F.pixel_unshuffle(t(2, 4, 6).transpose(1, 2), 2)",
    "F.grid_sample(t(1, 2, 3, 4).transpose(2, 3), t(1, 2, 2, 2).transpose(1, 2))",
]  # fmt: skip


class Case:
    """What an expression may name, on one library."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.leaves, self.made = torch, [], []
        optim = torch.optim
        swa = importlib.import_module(f"{torch.__name__}.optim.swa_utils")
        self.schedules = {**vars(optim.lr_scheduler), "SWALR": swa.SWALR}
        self.names = {
            **{name: getattr(self, name) for name in ("t", "i", "fill", "late", "plan", "steps", "average")},
            "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "optim": optim, "s": swa, "math": math,
            "OrderedDict": OrderedDict, "Stream": self.stream(),
            "utils": importlib.import_module(f"{torch.__name__}.nn.utils"),
        }  # fmt: skip
        for name in ("nn.utils.rnn", "nn.utils.parametrize", "nn.utils.parametrizations", "utils.data", "testing"):
            try:
                self.names[name.split(".")[-1]] = importlib.import_module(f"{torch.__name__}.{name}")
            except ModuleNotFoundError:
                pass

    def t(self, *shape: int, by: float = 1.0, at: float = 0.0) -> Any:
        values = np.sin(np.arange(math.prod(shape)) * 0.7 + len(self.leaves) + at) * by
        self.leaves.append(self.torch.tensor(values.reshape(shape).tolist(), dtype=self.torch.float64))
        return self.leaves[-1].reshape(shape).requires_grad_()

    def i(self, below: int, *shape: int) -> Any:
        return self.torch.tensor(((np.arange(math.prod(shape)) * 7 + 3) % below).reshape(shape).tolist())

    def fill(self, layer: Any) -> Any:
        self.made.append(layer.double())
        with self.torch.no_grad():
            for place, each in enumerate(layer.parameters()):
                values = np.sin(np.arange(each.numel()) * 0.3 + place) * 0.5
                each.copy_(self.torch.tensor(values.reshape(tuple(each.shape)).tolist(), dtype=self.torch.float64))
                self.leaves.append(each)
        return layer

    def late(self, layer: Any, *inputs: Any) -> list:
        before = [repr(layer), *layer.state_dict(), layer.has_uninitialized_params()]
        layer.double()(*inputs)
        return [*before, type(layer).__name__, self.fill(layer)(*inputs)]

    def stream(self) -> type:
        data = importlib.import_module(f"{self.torch.__name__}.utils.data")
        return type("Stream", (data.IterableDataset,), {"__iter__": lambda self: iter([1, 2, 3])})

    def groups(self) -> list:
        p, q = (self.torch.nn.Parameter(self.torch.ones(2) * scale) for scale in (1, -2))
        return [{"params": [p], "lr": 0.5}, {"params": [q]}]

    def plan(self, text: str) -> list:
        optim = self.torch.optim
        o = optim.Adam(self.groups(), 0.1) if "(a" in text else optim.SGD(self.groups(), 0.1, momentum=0.9)
        made, found = eval(text, {**self.schedules, "o": o, "a": o}), []
        state: Any = None
        for step in range(25):
            if step == 15:
                made.load_state_dict(state)
            o.step()
            made.step(*[math.cos(step) + 0.1 * step] * ("Plateau" in text))
            for group in o.param_groups:
                found += [group["lr"], group.get("momentum") or group["betas"][0]]
            if step == 12:
                state = copy.deepcopy(made.state_dict())
        return found + sorted(name for name in made.state_dict() if name[0] != "_")

    def steps(self, text: str) -> list:
        torch, found = self.torch, []
        p, q = (torch.nn.Parameter(torch.tensor(each, dtype=torch.float64)) for each in ([-1.2, 1.0], [[0.5], [2.0]]))
        made = eval(text, {**vars(torch.optim), "groups": [p, q]})

        def closure() -> Any:
            made.zero_grad()
            loss = (1 - p[0]) ** 2 + 5 * (p[1] - p[0] ** 2) ** 2 + ((q - p[1]) ** 4).sum() + (q**2).sum()
            loss.backward()
            return loss

        for step in range(10):
            if step == 5:
                state = made.state_dict()
                made = eval(text, {**vars(torch.optim), "groups": [p, q]})
                made.load_state_dict(state)
            found.append(float(made.step(closure).detach()))
        state = [{*each} - {"al"} for each in made.state_dict()["state"].values()]
        return [*found, p, q, repr(made), *map(sorted, state)]

    def average(self, options: str) -> list:
        torch, s = self.torch, self.names["s"]
        net = self.fill(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)))
        made = eval(f"s.AveragedModel(net, {options})", {"s": s, "net": net})
        for step in range(4):
            with torch.no_grad():
                for each in net.parameters():
                    each.mul_(1.5).add_(step)
            net(self.t(4, 2))
            made.update_parameters(net)
        s.update_bn([self.t(4, 2), (self.t(3, 2), 1)], made)
        return [repr(made), *(each.detach() for each in made.state_dict().values())]


def flat(value: Any) -> list:
    """The parts of a result that are no lists."""
    if isinstance(value, dict):
        value = [part for pair in value.items() for part in pair]
    return [each for part in value for each in flat(part)] if isinstance(value, (tuple, list)) else [value]


def described(value: Any, torch: Any) -> Any:
    """A part of a result as JSON has it: of a tensor its dtype, shape and numbers."""
    if not isinstance(value, torch.Tensor):
        return value if isinstance(value, (str, bool, type(None))) else float(value)
    numbers = value.detach().double().reshape(-1).tolist()
    return [str(value.dtype).split(".")[-1], list(value.shape), [float(f"{each:.9g}") for each in numbers]]


def evaluate(torch: Any, text: str) -> dict[str, Any]:
    """What an expression gives: results, gradients of a sum of them, and texts and states of layers."""
    case = Case(torch)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            parts = flat(eval(text, case.names))
        except Exception as problem:  # noqa: BLE001 - it is the result
            return {"error": type(problem).__name__}
        found: dict[str, Any] = {"values": [described(each, torch) for each in parts]}
        wanted = [each for each in parts if isinstance(each, torch.Tensor) and each.requires_grad and each.grad_fn]
        leaves = [each for each in case.leaves if each.requires_grad and each.is_leaf]
        if wanted and leaves:
            weights = [torch.arange(each.numel()).to(each.dtype).cos().reshape(each.shape) for each in wanted]
            total = sum((each * weight).sum() for each, weight in zip(wanted, weights))
            first = torch.autograd.grad(total, leaves, allow_unused=True)
            found["gradients"] = [each if each is None else described(each, torch) for each in first]
    for layer in case.made:
        state = [[name, list(each.shape)] for name, each in layer.state_dict().items() if hasattr(each, "shape")]
        found.setdefault("layers", []).append([repr(layer), state])
    return found


def differs(theirs: Any, mine: Any, path: str = "") -> str:
    """Where two answers differ; "": nowhere."""
    if isinstance(theirs, dict) and isinstance(mine, dict) and theirs.keys() == mine.keys():
        pairs: Any = [(theirs[name], mine[name], f"{path}.{name}") for name in theirs]
    elif isinstance(theirs, list) and isinstance(mine, list) and len(theirs) == len(mine):
        pairs = [(a, b, f"{path}[{place}]") for place, (a, b) in enumerate(zip(theirs, mine))]
    elif isinstance(theirs, float) and isinstance(mine, (int, float)):
        return "" if np.isclose(mine, theirs, 3e-6, 1e-7, equal_nan=True) else f"{path}: {theirs} {mine}"
    else:
        return "" if theirs == mine and type(theirs) is type(mine) else f"{path}: {theirs!r} {mine!r}"
    return next((text for text in (differs(*pair) for pair in pairs) if text), "")
