"""Programs about threads, checkpoints, anomalies and derivatives of functions, run on PyTorch and on mxlite.torch by
test_torch_style_graph.py."""

from __future__ import annotations

import importlib
import re
import threading

from programs import error, leaf, pair, programs_of

PROGRAMS, program = programs_of()


def module(torch, name):
    """A module of PyTorch's, or ours of that name."""
    return importlib.import_module(f"{torch.__name__}.{name}")


def together(count, work):
    """Runs work(number) in threads that begin at once; the errors."""
    gate, errors = threading.Barrier(count), []

    def run(number):
        gate.wait()
        try:
            work(number)
        except Exception as problem:  # noqa: BLE001 - they are the result
            errors.append(type(problem).__name__)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return errors


# ---- threads ----


@program
def threads_share_a_leaf(torch, log):
    x, w = leaf(torch, 1, 2), leaf(torch, 3, 4)

    def work(number):
        for _ in range(40):
            (x * w * (number + 1)).sum().backward()

    log.append(together(4, work))
    return x.grad, w.grad


@program
def threads_share_a_graph(torch, log):
    x = leaf(torch, 1, 2)
    y = (x * x).exp()
    log.append(together(4, lambda number: [y.sum().backward(retain_graph=True) for _ in range(20)]))
    return x.grad


@program
def threads_share_a_graph_and_ask(torch, log):
    x = leaf(torch, 1, 2)
    y = (x * x).exp()
    found = [None] * 4

    def work(number):
        for _ in range(20):
            (found[number],) = torch.autograd.grad((y * (number + 1)).sum(), x, retain_graph=True)

    log.append(together(4, work))
    log.append(found)
    return x.grad


@program
def hooks_in_threads(torch, log):
    x = leaf(torch, 1, 2)
    counts = [0] * 4
    mine = threading.local()

    def hook(grad):
        counts[mine.number] += 1
        return grad * 2

    handle = x.register_hook(hook)

    def work(number):
        mine.number = number
        for _ in range(10):
            (x * 1).sum().backward()

    log.append(together(4, work))
    handle.remove()
    return counts, x.grad


@program
def functions_in_threads(torch, log):
    double = pair(torch, lambda g: (g * 2, g * 3), several=False)
    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    log.append(together(4, lambda number: [double.apply(a, b).sum().backward() for _ in range(10)]))
    return a.grad, b.grad


@program
def modes_are_the_threads_own(torch, log):
    seen = []
    with torch.no_grad():
        together(1, lambda number: seen.append((torch.is_grad_enabled(), (leaf(torch, 1) * 2).requires_grad)))
    return seen, torch.is_grad_enabled()


# ---- checkpoints ----


def block(torch, a, b):
    """Something to compute again."""
    return (a * b).sin() + a.exp(), a


@program
def checkpoints_give_the_same(torch, log):
    checkpoint = module(torch, "utils.checkpoint").checkpoint
    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    runs = []

    def run(a, b):
        runs.append(torch.is_grad_enabled())
        return block(torch, a, b)

    y, same = checkpoint(run, a, b, use_reentrant=False)
    log.append((y, y.grad_fn, same is a, runs))
    y.sum().backward()
    log.append((a.grad, b.grad, runs))
    y, _ = checkpoint(run, a, b=b, use_reentrant=False)
    log.append(torch.autograd.grad(y.sum(), [a, b]))
    log.append(runs)


@program
def checkpoints_to_second_order(torch, log):
    checkpoint = module(torch, "utils.checkpoint").checkpoint
    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    y, _ = checkpoint(lambda a, b: block(torch, a, b), a * 1, b, use_reentrant=False)
    first = torch.autograd.grad(y.sum(), [a, b], create_graph=True)
    log.append(first)
    return torch.autograd.grad(sum(each.sum() for each in first), [a, b])


@program
def checkpoints_in_sequence(torch, log):
    sequential = module(torch, "utils.checkpoint").checkpoint_sequential
    x = leaf(torch, 1, 2)
    steps = [torch.sin, torch.exp, torch.cos, lambda y: y * x, torch.tanh]
    for segments in (1, 2, 3, 5):
        y = sequential(steps, segments, x, use_reentrant=False)
        log.append((y, y.grad_fn))
        log.append(torch.autograd.grad(y.sum(), x))


@program
def arguments_of_checkpoints(torch, log):
    checkpoint = module(torch, "utils.checkpoint").checkpoint
    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    error(log, lambda: checkpoint(lambda a, b: a * b, a, b=b, use_reentrant=True))
    error(log, lambda: checkpoint(lambda a: a, a, b, use_reentrant=False))
    with torch.no_grad():
        error(log, lambda: checkpoint(lambda a, b: a * b, a, b, use_reentrant=False))
    error(log, lambda: checkpoint(lambda a, n: (a * n, "text"), a, 3, use_reentrant=False))
    error(log, lambda: checkpoint(lambda a: a * 2, a.detach(), use_reentrant=False))


@program
def blocks_of_checkpoints(torch, log):
    checkpoint = module(torch, "utils.checkpoint").checkpoint

    class Block:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            log.append("into " + self.name)

        def __exit__(self, *_):
            log.append("out of " + self.name)

    a = leaf(torch, 1, 2)
    y = checkpoint(torch.sin, a, use_reentrant=False, context_fn=lambda: (Block("first"), Block("second")))
    y.sum().backward()
    return a.grad


# ---- anomalies ----


@program
def anomalies_in_backward(torch, log):
    for check in (True, False):
        x = leaf(torch, -1, 1)
        with torch.autograd.detect_anomaly(check_nan=check):
            y = x.sqrt()
            log.append((y, torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()))
            error(log, y.sum().backward)
        log.append((x.grad, torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()))


@program
def infinities_are_none(torch, log):
    x = leaf(torch, 0, 1)
    with torch.autograd.set_detect_anomaly(True):
        error(log, (1 / x).sum().backward)
    return x.grad


@program
def an_anomaly_names_its_node(torch, log):
    x = leaf(torch, -1, 1)
    with torch.autograd.set_detect_anomaly(True):
        try:
            x.sqrt().sum().backward()
        except RuntimeError as problem:
            return re.findall(r"\w+Backward\d|\d+", str(problem))  # and the output; the words are each library's


@program
def switching_anomalies(torch, log):
    torch.autograd.set_detect_anomaly(True)
    log.append(torch.is_anomaly_enabled())
    with torch.autograd.set_detect_anomaly(False):
        log.append(torch.is_anomaly_enabled())
    log.append(torch.is_anomaly_enabled())
    with torch.autograd.detect_anomaly(check_nan=False):
        log.append(torch.is_anomaly_check_nan_enabled())
    log.append(torch.is_anomaly_check_nan_enabled())
    torch.autograd.set_detect_anomaly(False)
    log.append(torch.is_anomaly_enabled())


@program
def what_a_function_raises_comes_out(torch, log):
    def fail(g):
        raise KeyError("mine")

    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    with torch.autograd.set_detect_anomaly(True):
        error(log, lambda: pair(torch, fail, several=False).apply(a, b).sum().backward())


# ---- derivatives of functions ----


@program
def derivatives_of_functions(torch, log):
    functional = torch.autograd.functional
    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    v = torch.tensor([1.0, -1.0], dtype=torch.float64)
    log.append(functional.jacobian(lambda a, b: a * b.exp(), (a, b)))
    log.append(functional.jacobian(lambda a: (a * 2, a.sum()), a))
    log.append(functional.hessian(lambda a: (a**3).sum(), a))
    log.append(functional.hessian(lambda a, b: (a * a * b).sum(), (a, b)))
    log.append(functional.vjp(lambda a: a**2, a, v))
    log.append(functional.jvp(lambda a: a**2, a, v))
    log.append(functional.vhp(lambda a: (a**3).sum(), a, v))
    log.append(functional.hvp(lambda a: (a**3).sum(), a, v))
    log.append(functional.jacobian(lambda a: a * b, a, create_graph=True))
    log.append(functional.jacobian(lambda a: b * 2, a))
    error(log, lambda: functional.jacobian(lambda a: b * 2, a, strict=True))
    error(log, lambda: functional.jacobian(lambda a: 3, a))
    error(log, lambda: functional.jacobian(lambda a: a, 3))
    error(log, lambda: functional.hessian(lambda a: a * 2, a))
    error(log, lambda: functional.vjp(lambda a: a * 2, a))
    error(log, lambda: functional.vjp(lambda a: a * 2, a, torch.ones(3, dtype=torch.float64)))
