"""`mx.rnn`: recurrent networks as symbols, for `mx.mod.Module` and `BucketingModule`; Gluon's are in `mx.gluon.rnn`.

cell = mx.rnn.LSTMCell(100, prefix="lstm_")
outputs, states = cell.unroll(20, mx.sym.var("data"), layout="NTC", merge_outputs=True)
"""

from mxlite._public import own as _own
from mxlite._public import show as _show
from mxlite.rnn import io, rnn, rnn_cell
from mxlite.rnn.io import *  # noqa: F403
from mxlite.rnn.rnn import *  # noqa: F403
from mxlite.rnn.rnn_cell import *  # noqa: F403

__all__ = [*_own(io), *_own(rnn), *_own(rnn_cell), "io", "rnn", "rnn_cell"]

_show(globals())
