"""As training that goes on after an interruption: a Trainer with a schedule, saved and loaded with its network."""

import os
import tempfile

import mxnet as mx
from common import Seeded, blobs
from mxnet import autograd, gluon, lr_scheduler
from mxnet.gluon import nn

x, y = blobs(64, 6, 3, seed=14)
batches = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), batch_size=16, shuffle=False)
criterion = gluon.loss.SoftmaxCrossEntropyLoss()


def made(schedule):
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(8, in_units=6), nn.BatchNorm(in_channels=8), nn.Activation("relu"), nn.Dense(3, in_units=8))
    net.initialize(Seeded(0.3))
    optimizer = mx.optimizer.create("adam", learning_rate=0.05, wd=0.001, lr_scheduler=schedule)
    trainer = gluon.Trainer(net.collect_params(), optimizer)
    net.collect_params(".*bias").setattr("wd_mult", 0.0)
    net.collect_params(".*dense0.*").setattr("lr_mult", 0.5)
    return net, trainer


def epoch(net, trainer):
    losses, rates = [], []
    for features, labels in batches:
        with autograd.record():
            loss = criterion(net(features), labels)
        loss.backward()
        gluon.utils.clip_global_norm([p.grad() for p in net.collect_params().values() if p.grad_req != "null"], 1.0)
        trainer.step(len(labels))
        losses.append(loss.mean().asscalar())
        rates.append(trainer.learning_rate)
    return losses, rates


found = {}
for name, schedule in {
    "factor": lr_scheduler.FactorScheduler(3, 0.7, base_lr=0.05, warmup_steps=2, warmup_begin_lr=0.01),
    "several": lr_scheduler.MultiFactorScheduler([3, 6], 0.1, base_lr=0.05),
    "poly": lr_scheduler.PolyScheduler(10, base_lr=0.05, pwr=2, final_lr=0.001),
    "cosine": lr_scheduler.CosineScheduler(10, base_lr=0.05, final_lr=0.001, warmup_steps=3, warmup_mode="constant"),
}.items():
    net, trainer = made(schedule)
    found[name] = epoch(net, trainer)
    with tempfile.TemporaryDirectory() as folder:
        network, states = os.path.join(folder, "net.params"), os.path.join(folder, "trainer.states")
        net.save_parameters(network)
        trainer.save_states(states)
        going_on = epoch(net, trainer)
        other, second = made(schedule)
        other.load_parameters(network)
        second.load_states(states)
        after = epoch(other, second)
    found[f"{name}, going on"] = going_on[0]
    found[f"{name}, loaded"] = after
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
trainer.set_learning_rate(0.02)
found["set"] = [trainer.learning_rate, list(net.collect_params())]
