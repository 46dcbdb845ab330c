"""mx.callback, mx.monitor, mx.log, mx.libinfo."""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import os
import re
import types
import warnings

from _case import case


def _param(metric=None, epoch=2, nbatch=0):
    return types.SimpleNamespace(epoch=epoch, nbatch=nbatch, eval_metric=metric, locals=None)


def _metric(mx, name="acc"):
    metric = mx.metric.create(name)
    _feed(mx, metric)
    return metric


def _feed(mx, metric):
    metric.update([mx.nd.array([0, 1])], [mx.nd.array([[0.9, 0.1], [0.8, 0.2]])])


@contextlib.contextmanager
def _lines():
    """What is logged meanwhile, without the speed."""
    lines = []

    class Collect(logging.Handler):
        def emit(self, record):
            lines.append([record.levelname, record.name, re.sub(r"Speed: \S+", "Speed: x", record.getMessage())])

    root, handler = logging.getLogger(), Collect()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


@case(
    name=["callback.Speedometer", "callback.ProgressBar", "callback.do_checkpoint", "callback.module_checkpoint"]
    + ["callback.log_train_metric", "callback.LogValidationMetricsCallback", "monitor.Monitor", "log.get_logger"]
    + ["log.getLogger", "libinfo.find_lib_path", "libinfo.find_include_path", "libinfo.find_conf_path"]
    + ["util.set_np", "util.np_array", "util.np_shape", "util.getenv", "util.setenv", "util.get_gpu_memory"]
    + ["util.set_module", "util.np_ufunc_legal_option", "util.is_np_array", "util.reset_np", "util.get_gpu_count"]
)
def signature(mx, name):
    module, name = name.split(".")
    parameters = inspect.signature(getattr(getattr(mx, module), name)).parameters.values()
    return [[each.name, str(each.default) if each.default is not each.empty else "-"] for each in parameters]


@case(frequent=[1, 2, 3, 50], auto_reset=[True, False], metric=["none", "acc", "two"], steps=[1, 2])
def speedometer(mx, frequent, auto_reset, metric, steps):
    metric = {"none": lambda: None, "acc": lambda: _metric(mx), "two": lambda: _metric(mx, ["acc", "ce"])}[metric]()
    meter = mx.callback.Speedometer(32, frequent, auto_reset)
    values = []
    with _lines() as lines:
        for epoch in range(2):
            for batch in range(0, 7, steps):
                meter(_param(metric, epoch, batch))
                if metric is not None:
                    values.append([metric.get(), metric.get_global()])
                    _feed(mx, metric)
    return lines, values, meter.last_count, meter.init, meter.batch_size, meter.frequent, meter.auto_reset


@case(period=[1, 2, 5], auto_reset=[True, False], metric=["none", "acc", "two"])
def log_train_metric(mx, period, auto_reset, metric):
    metric = {"none": lambda: None, "acc": lambda: _metric(mx), "two": lambda: _metric(mx, ["acc", "ce"])}[metric]()
    callback = mx.callback.log_train_metric(period, auto_reset)
    values = []
    with _lines() as lines:
        for batch in range(6):
            callback(_param(metric, 1, batch))
            if metric is not None:
                values.append([metric.get(), metric.get_global()])
                _feed(mx, metric)
    return lines, values


@case(metric=["none", "acc", "two"])
def log_validation(mx, metric):
    metric = {"none": lambda: None, "acc": lambda: _metric(mx), "two": lambda: _metric(mx, ["acc", "ce"])}[metric]()
    with _lines() as lines:
        mx.callback.LogValidationMetricsCallback()(_param(metric, 4, 1))
    return lines


@case(total=[10, 7, 1], length=[20, 80, 5, 0])
def progress_bar(mx, total, length):
    bar = mx.callback.ProgressBar(total, length)
    with _lines() as lines:
        for batch in (0, 1, 3, total, total + 2):
            bar(_param(None, 0, batch))
    return lines, bar.total, bar.bar_len


@case
def progress_of_nothing(mx):
    mx.callback.ProgressBar(0)(_param())


@case(period=[1, 2, 3, 0, -1, 2.5], states=[False, True])
def module_checkpoint(mx, period, states):
    saved = []
    module = types.SimpleNamespace(save_checkpoint=lambda *given: saved.append(list(given)))
    callback = mx.callback.module_checkpoint(module, "some/prefix", period, states)
    for epoch in range(6):
        callback(epoch, None, None, None)
    callback(5)
    return saved


@case
def do_checkpoint(mx, folder):
    callback = mx.callback.do_checkpoint(os.path.join(folder, "net"), 2)
    return callable(callback)


# mx.monitor


@case(interval=[1, 2], sort=[False, True])
def monitor_without_executors(mx, interval, sort):
    monitor = mx.mon.Monitor(interval, sort=sort)
    found = []
    with _lines() as lines:
        for _ in range(4):
            monitor.tic()
            found.append([monitor.step, monitor.activated, monitor.queue])
            found.append([monitor.toc(), monitor.activated])
            monitor.toc_print()
    return found, lines, monitor.interval, monitor.sort, monitor.monitor_all, monitor.re_prog.pattern, monitor.exes


@case
def monitor_statistics(mx):
    return mx.mon.Monitor(1).stat_func(mx.nd.array([3, 4, 0, 0])), mx.mon.Monitor(1, len).stat_func([1, 2])


@case
def monitor_of_what_is_no_executor(mx):
    mx.monitor.Monitor(1).install(3)


# mx.log


@case(level=["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "NOTSET"])
def log_levels(mx, level):
    return getattr(mx.log, level)


@case(level=[5, 10, 15, 20, 25, 30, 40, 50, 60])
def log_lines(mx, level):
    with contextlib.redirect_stderr(io.StringIO()) as held:
        logger = mx.log.get_logger(f"cases.lines{level}", level=1)
        logger.propagate = False
        logger.log(level, "some %s", "text")
        logger.log(level, "two\nlines")
    text = re.sub(r"\d{4} \d\d:\d\d:\d\d \d+ \S*callbacks.py:log_lines:\d+", "WHERE", held.getvalue())
    return text, [type(each).__name__ for each in logger.handlers]


@case(filemode=[None, "a", "w"])
def log_to_a_file(mx, filemode, folder):
    path = os.path.join(folder, "some.log")
    with open(path, "w") as file:
        file.write("before\n")
    logger = mx.log.get_logger(f"cases.file{filemode}", path, filemode, mx.log.INFO)
    logger.debug("not")
    logger.info("number %d", 3)
    logger.error("wrong")
    logger.handlers[0].close()
    with open(path) as file:
        return file.read(), type(logger.handlers[0]).__name__, logger.level, logger.propagate


@case
def log_again(mx):
    first = mx.log.get_logger("cases.again", level=mx.log.DEBUG)
    again = mx.log.get_logger("cases.again", level=mx.log.ERROR)
    return first is again, again.level, len(again.handlers)


@case
def log_of_the_root(mx):
    before = len(logging.getLogger().handlers), logging.getLogger().level
    logger = mx.log.get_logger(level=mx.log.DEBUG)
    return logger is logging.getLogger(), (len(logger.handlers), logger.level) == before


@case
def log_beside_a_handler(mx):
    logging.getLogger("cases.beside").addHandler(logging.NullHandler())
    return [type(each).__name__ for each in mx.log.get_logger("cases.beside").handlers]


@case
def log_by_the_old_name(mx):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        logger = mx.log.getLogger("cases.old")
    return [each.category.__name__ for each in found], logger.level


# mx.libinfo


@case
def library(mx):
    (path,) = mx.libinfo.find_lib_path()
    return os.path.isfile(path), os.path.isdir(mx.libinfo.find_include_path()), isinstance(mx.libinfo.__version__, str)


@case(name=["libother", "nothing"])
def library_that_is_not_there(mx, name):
    mx.libinfo.find_lib_path(name)


@case
def configuration_that_is_not_there(mx):
    mx.libinfo.find_conf_path()
