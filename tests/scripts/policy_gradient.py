"""REINFORCE on a walk along a line: episodes of one step after the other, rewards to go, a baseline."""

import numpy as np
from common import Log, Seeded
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

random = np.random.RandomState(11)


class Policy(gluon.Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.dense = nn.Dense(32, in_units=4, activation="relu")
            self.action = nn.Dense(2, in_units=32)
            self.value = nn.Dense(1, in_units=32)

    def forward(self, x):
        hidden = self.dense(x)
        return nd.softmax(self.action(hidden)), self.value(hidden)


policy = Policy()
policy.initialize(Seeded(0.2))
trainer = gluon.Trainer(policy.collect_params(), "rmsprop", {"learning_rate": 0.003})
log = Log()
going = True
while going:
    place, speed, rewards, logs, values = 0.0, 0.0, [], [], []
    with autograd.record():
        for t in range(20):
            state = nd.array([[place, speed, abs(place), t / 20.0]])
            chance, value = policy(state)
            action = int(random.uniform() < chance[0, 1].asscalar())
            speed += 0.1 if action else -0.1
            place += speed
            rewards.append(-abs(place - 1))
            logs.append(nd.log(chance[0, action]))
            values.append(value[0])
        to_go = np.cumsum(rewards[::-1])[::-1] / 20
        loss = nd.zeros((1,))
        for log_chance, value, reward in zip(logs, values, to_go):
            advantage = float(reward) - value.asscalar()
            loss = loss - log_chance * advantage + nd.square(value - float(reward))
    loss.backward()
    trainer.step(20)
    going = log.step(loss)
log.done()
