"""mx.profiler: what a trace and the sums hold, by names and keys; times are not compared."""

from __future__ import annotations

import json
import os

from _case import case


class _Run:
    """The profiler over a with-block, with its results afterwards."""

    def __init__(self, mx, folder, **settings):
        self.profiler = mx.profiler
        self.mx = mx
        self.file = os.path.join(folder, "trace.json")
        self.profiler.set_config(filename=self.file, **{"profile_all": True, "aggregate_stats": True, **settings})

    def __enter__(self):
        self.profiler.set_state("run")
        return self

    def __exit__(self, *_):
        self.mx.nd.waitall()
        self.profiler.set_state("stop")
        self.table = self.profiler.dumps()
        self.sums = json.loads(self.profiler.dumps(format="json") or "null")
        self.profiler.dumps(reset=True)
        self.profiler.dump()
        with open(self.file) as file:
            self.trace = json.load(file)

    def events(self, *categories):
        return [each for each in self.trace["traceEvents"] if each.get("cat") in categories]


def _sorted_keys(event):
    return sorted(event)


@case(times=[1, 3])
def operators_by_name(mx, folder, times):
    x = mx.nd.ones((3, 3))
    with _Run(mx, folder) as run:
        for _ in range(times):
            mx.nd.dot(mx.nd.tanh(x), x)
            mx.nd.waitall()
    return [[name, run.sums["Time"]["operator"][name]["Count"]] for name in ("dot", "tanh")]


@case(name=["tanh", "sigmoid", "softmax", "log_softmax"])
def backward_by_name(mx, folder, name):
    x = mx.nd.ones((3, 3))
    x.attach_grad()
    with _Run(mx, folder) as run:
        with mx.autograd.record():
            y = getattr(mx.nd, name)(x)
        y.backward()
    return [name in run.sums["Time"]["operator"], f"_backward_{name}" in run.sums["Time"]["operator"]]


@case
def keys_of_sums(mx, folder):
    with _Run(mx, folder) as run:
        mx.nd.tanh(mx.nd.ones((4,)))
    times, memory = run.sums["Time"]["operator"]["tanh"], run.sums["Memory"]["Device Storage"]["Memory: cpu/0"]
    return [list(run.sums), list(times), list(memory), run.sums["Unit"]]


@case
def event_of_an_operator(mx, folder):
    with _Run(mx, folder) as run:
        mx.nd.tanh(mx.nd.ones((4,)))
    found = [each for each in run.events("operator") if each["name"] == "tanh" and each["ph"] in "BE"]
    return [[each["ph"], each["cat"], each["pid"], _sorted_keys(each)] for each in found]


@case
def a_trace_at_large(mx, folder):
    with _Run(mx, folder) as run:
        mx.nd.ones((4,))
    devices = [each for each in run.trace["traceEvents"] if each["ph"] == "M" and each["pid"] < 4]
    return [sorted(run.trace), run.trace["displayTimeUnit"], devices]


@case(kind=["task", "frame", "event"], times=[0, 1, 2])
def durations(mx, folder, kind, times):
    domain = mx.profiler.Domain("durations")
    made = mx.profiler.Event("one") if kind == "event" else getattr(domain, f"new_{kind}")("one")
    with _Run(mx, folder) as run:
        for _ in range(times):
            made.start()
            made.stop()
    found = run.events("durations", "durations,frame", "event")
    return [str(made), [[each["name"], each["cat"], each["ph"], _sorted_keys(each)] for each in found]]


@case(value=[None, 5, 7, 6.7], change=[0, 1, 5, -2])
def counters(mx, folder, value, change):
    domain = mx.profiler.Domain("counters")
    with _Run(mx, folder) as run:
        counter = domain.new_counter("c", value) if value is not None else domain.new_counter("c", 10)
        counter += 3
        counter -= change
        counter.increment()
        counter.decrement(2)
        counter.set_value(4)
    found = run.events("counters")
    sums = run.sums["Time"]["counters"]["c"]
    return [
        [[each["ph"], each["args"], _sorted_keys(each)] for each in found],
        [sums[key] for key in ("Count", "Total", "Min", "Max")],
    ]


@case(differs="A counter below zero is a negative number; 1.9.1 shows 2**64 less.", value=[0, -5])
def negative_counters(mx, folder, value):
    with _Run(mx, folder) as run:
        counter = mx.profiler.Domain("negative").new_counter("c", value)
        counter.decrement()
    return [each["args"]["c"] for each in run.events("negative")]


@case(differs="The average is that of the values; 1.9.1 shows half the range.", values=[[5, 8, 10]])
def average_of_a_counter(mx, folder, values):
    with _Run(mx, folder) as run:
        counter = mx.profiler.Domain("averages").new_counter("c")
        for value in values:
            counter.set_value(value)
    return run.sums["Time"]["averages"]["c"]["Avg"]


@case(scope=["global", "process", "thread", "task", "marker", "elsewhere"])
def markers(mx, folder, scope):
    marker = mx.profiler.Domain("markers").new_marker("here")
    with _Run(mx, folder) as run:
        marker.mark(scope)
    found = run.events("markers,instant_marker")
    return [[each["ph"], each["name"], each["s"], _sorted_keys(each)] for each in found]


@case
def default_scope(mx, folder):
    marker = mx.profiler.Marker(mx.profiler.Domain("defaults"), "m")
    with _Run(mx, folder) as run:
        marker.mark()
    return [marker.name, run.events("defaults,instant_marker")[0]["s"]]


@case
def pauses(mx, folder):
    x = mx.nd.ones((2, 2))
    task = mx.profiler.Domain("pauses").new_task("t")
    with _Run(mx, folder) as run:
        mx.nd.tanh(x).wait_to_read()
        mx.profiler.pause()
        mx.nd.exp(x).wait_to_read()
        task.start()
        task.stop()
        mx.profiler.resume()
        mx.nd.sin(x).wait_to_read()
    names = run.sums["Time"]["operator"]
    return [[name, name in names] for name in ("tanh", "exp", "sin")], len(run.events("pauses"))


@case(differs="A second trace is a file of its own; 1.9.1 writes text that is not JSON.")
def after_the_stop(mx, folder):
    x = mx.nd.ones((2, 2))
    with _Run(mx, folder) as run:
        mx.nd.tanh(x)
    mx.nd.exp(x).wait_to_read()
    with run:
        mx.nd.sin(x)
    return [[name, name in run.sums["Time"]["operator"]] for name in ("tanh", "exp", "sin")]


@case(sort_by=["total", "avg", "min", "max", "count"], ascending=[False, True])
def orders(mx, folder, sort_by, ascending):
    domain = mx.profiler.Domain("orders")
    mx.profiler.set_config(filename=os.path.join(folder, "t.json"), aggregate_stats=True)
    mx.profiler.set_state("run")
    for name, values in (("a", [9]), ("b", [1, 8, 2]), ("c", [3, 4])):
        counter = domain.new_counter(name)
        for value in values:
            counter.set_value(value)
    mx.profiler.set_state("stop")
    text = mx.profiler.dumps(reset=True, format="json", sort_by=sort_by, ascending=ascending)
    mx.profiler.dump()
    return sorted(json.loads(text)["Time"]["orders"]) if sort_by == "avg" else list(json.loads(text)["Time"]["orders"])


@case(format=["table", "json"])
def layout(mx, folder, format):
    domain = mx.profiler.Domain("layout")
    mx.profiler.set_config(filename=os.path.join(folder, "t.json"), aggregate_stats=True)
    mx.profiler.set_state("run")
    domain.new_counter("a", 3)
    domain.new_counter("a counter with a name that is long", 2)
    domain.new_marker("m").mark()
    mx.profiler.set_state("stop")
    text = mx.profiler.dumps(reset=True, format=format)
    mx.profiler.dump()
    begin = text.index("layout")
    lines = text[begin:].split("\n")
    return [text[: text.index("\n", 1)], [line for line in lines if "Avg" not in line and "  0.00" not in line]]


@case(differs="A table of a counter has the average of the values.")
def whole_table(mx, folder):
    mx.profiler.set_config(filename=os.path.join(folder, "t.json"), aggregate_stats=True)
    mx.profiler.set_state("run")
    mx.profiler.Domain("table").new_counter("a", 3)
    mx.profiler.set_state("stop")
    text = mx.profiler.dumps(reset=True)
    mx.profiler.dump()
    return text[text.index("table\n==") :].split("\n\n")[0]


@case(differs="The sums can be turned off again; 1.9.1 then loses its file.")
def sums_need_a_setting(mx, folder):
    with _Run(mx, folder, aggregate_stats=False) as run:
        mx.nd.ones((2,))
    return [run.table, run.sums]


@case(
    setting=[
        "filename",
        "profile_all",
        "profile_symbolic",
        "profile_imperative",
        "profile_memory",
        "profile_api",
        "aggregate_stats",
        "continuous_dump",
        "dump_period",
        "profile_process",
        "colour",
    ],
    value=[True, False, "1", 7, "worker", "often"],
)
def settings(mx, folder, setting, value):
    if setting == "filename":
        value = os.path.join(folder, str(value))
    mx.profiler.set_config(**{setting: value})
    mx.profiler.set_config()
    return "set"


@case(period=[-1, 0, 0.5, 2])
def periods(mx, folder, period):
    name = os.path.join(folder, "t.json")
    mx.profiler.set_config(filename=name, continuous_dump=True, dump_period=period)
    mx.profiler.set_config()
    return "set"


@case(state=["run", "stop", "go", None, 1])
def states(mx, folder, state):
    mx.profiler.set_config(filename=os.path.join(folder, "t.json"))
    mx.profiler.set_state(state)
    mx.profiler.set_state("stop")
    if state == "run":
        mx.profiler.dump()
    return "set"


@case(call=["set_state", "pause", "resume", "dump"], process=["server", "elsewhere"])
def other_processes(mx, folder, call, process):
    mx.profiler.set_config(filename=os.path.join(folder, "t.json"))
    arguments = ("stop",) if call == "set_state" else (True,) if call == "dump" else ()
    return getattr(mx.profiler, call)(*arguments, profile_process=process)


@case(arguments=[{"format": "xml"}, {"sort_by": "name"}, {"sort_by": None}])
def bad_dumps(mx, arguments):
    return mx.profiler.dumps(**arguments)


@case
def dump_without_a_run(mx, folder):
    with _Run(mx, folder):
        pass
    mx.profiler.dump()


@case
def no_file_before_dump(mx, folder):
    mx.profiler.set_config(filename=os.path.join(folder, "t.json"))
    mx.profiler.set_state("run")
    mx.profiler.set_state("stop")
    before = os.listdir(folder)
    mx.profiler.dump()
    return [before, os.listdir(folder)]


@case(mode=["symbolic", "imperative", "api", "memory", "all", "none"])
def old_names(mx, folder, mode):
    name = os.path.join(folder, "t.json")
    mx.profiler.profiler_set_config(mode, name)
    mx.profiler.profiler_set_state("run")
    mx.nd.ones((2,)).wait_to_read()
    mx.profiler.profiler_set_state("stop")
    mx.profiler.dump_profile()
    with open(name) as file:
        return sorted(json.load(file))


@case(kind=["Domain", "Task", "Frame", "Counter", "Marker", "Event"], domain=[None, "text", 3])
def bad_domains(mx, kind, domain):
    made = (
        getattr(mx.profiler, kind)(domain)
        if kind in ("Domain", "Event")
        else getattr(mx.profiler, kind)(domain, "name")
    )
    if kind == "Marker":
        made.mark()
    return str(made)


@case(kind=["Task", "Frame", "Counter", "Event", "Domain"])
def names(mx, kind):
    domain = mx.profiler.Domain("names")
    made = {
        "Domain": lambda: domain,
        "Event": lambda: mx.profiler.Event("näme"),
        "Task": lambda: mx.profiler.Task(domain, "näme"),
        "Frame": lambda: mx.profiler.Frame(domain, "näme"),
        "Counter": lambda: mx.profiler.Counter(domain, "näme"),
    }[kind]()
    return [str(made), made.name, hasattr(made, "handle"), hasattr(made, "start"), hasattr(made, "increment")]


@case
def store_handle(mx):
    return str(mx.profiler.set_kvstore_handle(None))
