"""`torch.nn`: Module, Parameter, containers and layers, `functional`, `init` and `utils`."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from mxlite._public import show as _show
from mxlite.torch.nn import functional, parameter
from mxlite.torch.nn.parameter import Buffer, Parameter, UninitializedParameter

#: Where the classes are; these modules are imported when one is asked for.
_CLASSES = {
    "_module": "Module",
    "_containers": "Sequential ModuleList ModuleDict ParameterList ParameterDict",
    "_linear": """
        Identity Linear Bilinear Embedding EmbeddingBag Conv1d Conv2d Conv3d
        ConvTranspose1d ConvTranspose2d ConvTranspose3d
    """,
    "_norms": """
        BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm GroupNorm RMSNorm
    """,
    "_adaptive": "AdaptiveLogSoftmaxWithLoss",
    "_recurrent": "RNNBase RNN LSTM GRU RNNCellBase RNNCell LSTMCell GRUCell",
    "_transformer": """
        MultiheadAttention TransformerEncoderLayer TransformerDecoderLayer TransformerEncoder TransformerDecoder
        Transformer
    """,
    "_lazy": """
        LazyLinear LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d
        LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d
    """,
    "_plain": """
        ReLU ReLU6 LeakyReLU PReLU ELU SELU CELU GELU SiLU Mish Hardswish Hardsigmoid Hardtanh Hardshrink Softshrink
        Tanhshrink Threshold Softplus Softsign Sigmoid LogSigmoid Tanh GLU Softmax LogSoftmax Softmin
        Dropout Dropout1d Dropout2d Dropout3d Flatten Unflatten CosineSimilarity PairwiseDistance
        MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d
        AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d
        MaxUnpool1d MaxUnpool2d MaxUnpool3d LPPool1d LPPool2d LPPool3d
        MSELoss L1Loss SmoothL1Loss HuberLoss NLLLoss CrossEntropyLoss BCELoss BCEWithLogitsLoss KLDivLoss
        MarginRankingLoss HingeEmbeddingLoss CosineEmbeddingLoss TripletMarginLoss TripletMarginWithDistanceLoss
        MultiMarginLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss SoftMarginLoss PoissonNLLLoss GaussianNLLLoss
        CTCLoss RReLU AlphaDropout FeatureAlphaDropout Softmax2d PixelShuffle PixelUnshuffle ChannelShuffle
        CrossMapLRN2d FractionalMaxPool2d FractionalMaxPool3d
        LocalResponseNorm Fold Unfold Upsample UpsamplingNearest2d UpsamplingBilinear2d
        ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d
        CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d
        ZeroPad1d ZeroPad2d ZeroPad3d
    """,
}
_WHERE = {name: module for module, names in _CLASSES.items() for name in names.split()}

__all__ = ["Buffer", "Parameter", "UninitializedParameter", "functional", "init", "parameter", "utils", *_WHERE]


def _later(name: str) -> _Any:
    if name in ("init", "utils"):
        return _import_module(f"{__name__}.{name}")
    module = _WHERE.get(name)
    return None if module is None else getattr(_import_module(f"{__name__}.{module}"), name)


_show(globals(), _later)

if _TYPE_CHECKING:  # what is imported later
    from mxlite.torch.nn import init, utils
    from mxlite.torch.nn._containers import ModuleDict as ModuleDict
    from mxlite.torch.nn._containers import ModuleList as ModuleList
    from mxlite.torch.nn._containers import Sequential as Sequential
    from mxlite.torch.nn._module import Module as Module

    def __getattr__(name: str) -> _Any: ...
