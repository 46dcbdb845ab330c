"""gluon.Trainer with a store that holds the parameters, when parameters get other values meanwhile."""

from __future__ import annotations

from _case import case


@case(update=[True, False, None], instance=[False, True], momentum=[0, 0.9], contexts=[1, 2])
def set_data_after_steps(mx, update, instance, momentum, contexts):
    where = [mx.cpu(i) for i in range(contexts)]
    parameter = mx.gluon.Parameter("w", shape=(2,))
    parameter.initialize(mx.init.One(), ctx=where)
    store = mx.kv.create("local") if instance else "local"
    options = {"learning_rate": 0.5, "momentum": momentum}
    trainer = mx.gluon.Trainer([parameter], "sgd", options, kvstore=store, update_on_kvstore=update)
    found = []
    for step in range(4):
        if step == 2:
            parameter.set_data(mx.nd.zeros((2,)))
        with mx.autograd.record():
            losses = [parameter.data(each).sum() for each in where]
        mx.autograd.backward(losses)
        trainer.step(1)
        found.append([each.asnumpy().tolist() for each in parameter.list_data()])
    return found
