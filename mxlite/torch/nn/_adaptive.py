"""AdaptiveLogSoftmaxWithLoss: the softmax of many classes, of which rare ones are in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mxlite.torch._basic import zeros_of
from mxlite.torch._shape.parts import cat
from mxlite.torch._tensor import Tensor
from mxlite.torch.nn import functional as F  # noqa: N812 - as PyTorch's users call it
from mxlite.torch.nn._containers import ModuleList, Sequential
from mxlite.torch.nn._linear import Linear
from mxlite.torch.nn._module import Module


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log probabilities of classes: those of the head, and of clusters whose own are computed where they are needed.

    Args:
        cutoffs: Where clusters begin; the classes before the first are in the head.
        div_value: How many times fewer features a cluster has than the one before it.
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
        head_bias: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        cutoffs = list(cutoffs)
        whole = all(isinstance(each, int) for each in cutoffs)
        if not (cutoffs and whole and cutoffs == sorted({*cutoffs}) and 0 < cutoffs[0] and cutoffs[-1] < n_classes):
            raise ValueError(f"cutoffs rise from 1 to at most n_classes - 1 ({n_classes - 1}), got {cutoffs}")
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        options = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, head_bias, **options)
        self.tail = ModuleList()
        for place in range(self.n_clusters):
            width, count = int(in_features // div_value ** (place + 1)), self.cutoffs[place + 1] - self.cutoffs[place]
            first, second = (Linear(*sizes, False, **options) for sizes in ((in_features, width), (width, count)))
            self.tail.append(Sequential(first, second))

    def reset_parameters(self) -> None:
        """Draws the parameters anew."""
        for each in self.modules():
            if isinstance(each, Linear):
                each.reset_parameters()

    def forward(self, input: Any, target: Any) -> _ASMoutput:
        """The log probability of each target, and the negative of their mean.

        Args:
            input: (example, in_features) and target: (example,); or (in_features,) and ().
        """
        if target.ndim > 1 or input.ndim != target.ndim + 1 or input.shape[:-1] != target.shape:
            raise RuntimeError(f"a target for each row, got {list(input.shape)} and {list(target.shape)}")
        x, classes = input.reshape(-1, input.shape[-1]), target.reshape(-1)
        if classes.numel() and not 0 <= int(classes.min()) <= int(classes.max()) < self.n_classes:
            raise RuntimeError(f"targets are from 0 to {self.n_classes - 1}, got {classes.min()} to {classes.max()}")
        head, place = F.log_softmax(self.head(x), 1), classes.clone()
        more = zeros_of((x.shape[0],), head.dtype)
        for number, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            rows = ((classes >= low) & (classes < high)).nonzero().reshape(-1)
            if rows.numel():
                own = F.log_softmax(self.tail[number](x.index_select(0, rows)), 1)
                found = own.gather(1, (classes[rows] - low).unsqueeze(1)).squeeze(1)
                more = more.index_copy(0, rows, found)
                place[rows] = self.shortlist_size + number
        output = head.gather(1, place.unsqueeze(1)).squeeze(1) + more
        return _ASMoutput(output.reshape(target.shape), -output.mean())

    def log_prob(self, input: Any) -> Any:
        """(example, class): the log probabilities of all classes."""
        head = F.log_softmax(self.head(input), 1)
        parts = [
            F.log_softmax(tail(input), 1) + head.narrow(1, self.shortlist_size + number, 1)
            for number, tail in enumerate(self.tail)
        ]
        return cat([head.narrow(1, 0, self.shortlist_size), *parts], 1)

    def predict(self, input: Any) -> Any:
        """(example,): the most probable classes."""
        return self.log_prob(input).argmax(1)
