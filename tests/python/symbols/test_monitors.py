"""What a monitor of an executor is called with."""

from __future__ import annotations

import mxlite as mx


def test_monitors_see_the_forward() -> None:
    seen: list[str] = []
    net = mx.sym.tanh(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), name="t")
    one = net.simple_bind(mx.cpu(), data=(1, 3))

    def look(name: bytes, handle: int) -> None:
        seen.append(name.decode())
        mx.nd.NDArray(handle)  # frees the handle, which is the callback's

    one.set_monitor_callback(look, monitor_all=True)
    one.forward(is_train=True)
    expected = "data fc_data fc_weight fc_weight fc_bias fc_bias fc_output t_data t_output".split()
    assert seen == expected
    one.backward([mx.nd.ones((1, 2))])
    assert seen == expected  # 1.9.1 calls it with gradients too
