"""A name that is not there, used in a method that the last line calls."""

import mxnet as mx


class Task:
    def __init__(self):
        self.kernel = None

    def run(self):
        self.kernel = mx.rtc.CudaModule("")  # stops


task = Task()
task.run()
