#!/usr/bin/env python3
"""Mutation check: breaks one rule, kernel or infer function at a time and asks whether a test notices.

    .venv/bin/python tools/mutate.py --sample 200 --seed 1 --jobs 2
    .venv/bin/python tools/mutate.py --match '^capi/ops/(unary|norm)' --sample 25
    .venv/bin/python tools/mutate.py --match 'tanh|softmax' --list

A mutant changes one sign, factor, constant, comparison, order of arguments, saved input or statement in a function of
capi/ops or capi/kernel, of memory and threads in capi/base, or of the graph and its functions in capi/engine and
capi/api. The tree is copied to a temporary folder for each job and built there; each mutant is one edit of a copy,
`make lib`, and then, until something fails: the tests of the case table (without pytest: mutation/runner.py; those of
the changed file's operators and those that noticed something before come first), the C tests (before the table where
the file is of the engine or the API), the other Python tests of --pytest. A mutant that is noticed takes about a
second, a survivor as long as all these tests. The working tree and its build/ are only read.

Prints every survivor; exits with 1 if there is one. Survivors that change no result go into mutation/equivalent.txt.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

from mutate_edits import HOLDING, ROOT, Mutant, every_mutant, judged, sampled

NOT_COPIED = (".*", "build", "dist", "*.egg-info", "__pycache__", "*.so")
#: As for sanitizers: loops are built once, and tests do fewer rounds. Building takes a quarter of the time.
BUILD = ["OPTIMIZE=-O1 -DMXL_SANITIZER", "CFLAGS_EXTRA=-w"]
#: Address space of a C test.
MEMORY = 4 << 30
#: What an operator's name may have around the word that its family's file uses.
AROUND = r"^_?(?:broadcast|elemwise|contrib|np|linalg|random|sample|backward)?_?|(?:_scalar|_like|_update)$"
#: C tests, of which those of the changed file's folder are run first.
C_TESTS = "^(test_(base|kernel|ops|op|walk|engine|autograd|api)|thread_(base|graph|engine))"
#: Python tests of mechanisms: of the library, not of its documents, its installation or its binding.
OTHERS = (
    "^test_(autograd|backends|custom|ndarray|random|linalg|loss|files|exchange|compatibility|test_utils|graph"
    "|torch_(?!style))"
)
#: Of a file of the engine or the API: C tests that come first.
NEAR = ("test_autograd", "test_engine", "test_api", "test_walk")


class Copy:
    """A copy of the tree with a build of its own, in which one file at a time is changed."""

    def __init__(self, folder: Path, options: argparse.Namespace, model: "Copy | None" = None) -> None:
        self.folder, self.options = folder, options
        self.noticed: dict = defaultdict(list)
        self.without: list[str] = list(model.without) if model else []
        if model is None:
            self.build()
        else:
            shutil.copytree(model.folder, folder, symlinks=True)
        self.library = folder / "build/libmxlite.so"
        sources = sorted((folder / "tests/c").rglob("t*_*.c"))
        self.programs = [path.stem for path in sources if re.search(options.c_tests, path.stem)]
        others = sorted((folder / "tests/python").rglob("test_*.py"))
        self.others = [str(path) for path in others if options.pytest and re.search(options.pytest, path.stem)]
        self.env = dict(os.environ, MXLITE_LIBRARY=str(self.library), MXLITE_BINDING="ctypes")
        self.env.update(PYTHONPATH=str(folder), PYTHONDONTWRITEBYTECODE="1", OPENBLAS_NUM_THREADS="1")
        self.env.update({"MXLITE_TEST_BRIEF": "1"} if options.brief else {})
        self.runner = subprocess.Popen(
            [sys.executable, str(folder / "tools/mutation/runner.py")],
            cwd=folder,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def build(self) -> None:
        shutil.copytree(ROOT, self.folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
        print(f"mutate: building a copy in {self.folder}", flush=True)
        if not self.make("lib", jobs=self.options.jobs, quiet=False):
            raise SystemExit("mutate: the tree does not build")
        shutil.copytree(self.folder / "build/obj/capi", self.folder / "objects")

    def make(self, *targets: str, jobs: int = 1, quiet: bool = True) -> bool:
        command = ["make", f"-j{jobs}", *BUILD, *targets]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0 and not quiet:
            print(done.stderr, flush=True)
        return done.returncode == 0

    def close(self) -> None:
        self.runner.stdin.close()
        self.runner.wait()

    def fails(self, command: "list[str]") -> bool:
        """Whether a test program fails, crashes, or is not done in time."""

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (self.options.seconds, self.options.seconds + 5))

        try:
            done = subprocess.run(
                command, cwd=self.folder, env=self.env, capture_output=True, timeout=600, preexec_fn=limit
            )
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0

    def ask(self, path: str, everything: bool = False) -> dict:
        """What the runner answers: which tests of the case table fail, the first or all."""
        wanted = {"library": str(self.library), "seconds": self.options.seconds, "ops": [], "all": everything}
        wanted.update(first=self.noticed[path], without=self.without, brief=self.options.brief)
        if path:
            words = set(re.findall(r"\w+", (self.folder / path).read_text(encoding="utf-8")))
            wanted["ops"] = [op for op in self.options.operators if op in words or re.sub(AROUND, "", op) in words]
        self.runner.stdin.write(json.dumps(wanted) + "\n")
        self.runner.stdin.flush()
        answer = self.runner.stdout.readline()
        if not answer:
            raise SystemExit("mutate: the runner of the case table ended")
        return json.loads(answer)

    def before(self) -> None:
        """All tests without any change. Rows of the case table that fail already are named and left out."""
        answer = self.ask("", everything=True)
        if answer["failed"] and not answer["failing"]:
            raise SystemExit(f"mutate: the case table cannot be run: {answer['failed']} {answer['reason']}")
        self.without = answer["failing"]
        for name in self.without:
            print(f"mutate: fails without any change, left out: {name}", flush=True)
        failing = self.verdict("")
        if failing:
            raise SystemExit(f"mutate: without any change tests fail already ({failing})")

    def verdict(self, path: str) -> str:
        """Which test sees the change, "" for none."""
        holding = HOLDING.match(path)
        if holding and (failed := self.c_verdict(path)):
            return failed
        answer = self.ask(path)
        if answer["failed"]:
            name, noticed = answer["failed"], self.noticed[path]
            if answer["failing"]:
                self.noticed[path] = [name, *(one for one in noticed if one != name)][:40]
            return f"{name} {answer['reason']}" if self.options.verbose else "python"
        if not holding and (failed := self.c_verdict(path)):
            return failed
        chosen = ["-m", "not whole"] if self.options.brief else []
        pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *chosen, *self.others]
        return "pytest" if self.others and self.fails(pytest) else ""

    def c_verdict(self, path: str) -> str:
        """Which C test sees the change, "" for none; those near the file first."""
        near = re.sub(r"^capi/(\w+)/(?:\w+/)*([a-z]+).*", r"test_\1_\2", path)

        def order(name: str) -> tuple:
            place = next((at for at, start in enumerate(NEAR) if name.startswith(start)), len(NEAR))
            return (place,) if HOLDING.match(path) else (not name.startswith(near), name[:9] != near[:9])

        for program in sorted(self.programs, key=order):
            if not self.make(f"build/tests/{program}") or self.fails([str(self.folder / "build/tests" / program)]):
                return f"C {program}"
        return ""

    def changed_objects(self) -> "tuple[list[Path], bool]":
        """The objects built since the copy was, and whether any differs from what it was."""
        kept = self.folder / "objects"
        newer, differs = [], False
        for old in kept.rglob("*.o"):
            new = self.folder / "build/obj/capi" / old.relative_to(kept)
            if new.stat().st_mtime_ns != old.stat().st_mtime_ns:
                newer.append(old)
                differs |= new.read_bytes() != old.read_bytes()
        return newer, differs

    def judge(self, mutant: Mutant) -> str:
        """ "not C", "same" (the compiler makes the same code), "SURVIVED", or who noticed."""
        path = self.folder / mutant.path
        before, stat = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(mutant.apply(before), encoding="utf-8")
        try:
            if not self.make("lib"):
                return "not C"
            if not self.changed_objects()[1]:
                return "same"
            return self.verdict(mutant.path) or "SURVIVED"
        finally:
            path.write_text(before, encoding="utf-8")
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            # As they were, times too: the next mutant builds its own file only.
            for old in self.changed_objects()[0]:
                shutil.copy2(old, self.folder / "build/obj/capi" / old.relative_to(self.folder / "objects"))
            for made in [*(self.folder / "build").glob("lib*"), *(self.folder / "build/tests").glob("t*_*")]:
                made.unlink()


class Run:
    """Mutants shared among the jobs, and what came of them."""

    def __init__(self, mutants: "list[Mutant]") -> None:
        self.waiting, self.total, self.lock = list(reversed(mutants)), len(mutants), threading.Lock()
        self.counts: dict = defaultdict(int)
        self.survivors: list[Mutant] = []

    def work(self, copy: Copy) -> None:
        """Until none is left."""
        while True:
            with self.lock:
                if not self.waiting:
                    return
                mutant = self.waiting.pop()
            began = time.monotonic()
            verdict = copy.judge(mutant)
            with self.lock:
                kind = verdict if verdict in ("not C", "same", "SURVIVED") else "noticed"
                self.counts[kind] += 1
                self.survivors += [mutant] if kind == "SURVIVED" else []
                count = sum(self.counts.values())
                print(f"[{count}/{self.total}] {time.monotonic() - began:4.1f} s {verdict:8} {mutant}", flush=True)

    def all(self, copies: "list[Copy]") -> None:
        threads = [threading.Thread(target=self.work, args=(copy,), daemon=True) for copy in copies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.waiting:
            raise SystemExit("mutate: a job ended before its time")


def parse(arguments: "list[str] | None") -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=40, help="how many mutants, 0 for all (default 40)")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--match", default="", help="only where `path:line function: before -> after` has this regex")
    parser.add_argument("--jobs", type=int, default=1, help="how many copies work at the same time (default 1)")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    parser.add_argument("--judged", action="store_true", help="run those of equivalent.txt: none may be noticed")
    parser.add_argument("--c-tests", default=C_TESTS, help="C tests, a regular expression")
    parser.add_argument("--pytest", default=OTHERS, help="more Python tests, a regular expression; '' for none")
    parser.add_argument("--brief", action="store_true", help="ask those of the tests that `make test` runs")
    parser.add_argument("--seconds", type=int, default=120, help="processor time after which a test counts as failed")
    parser.add_argument("-v", "--verbose", action="store_true", help="say which test noticed, and what it said")
    return parser.parse_args(arguments)


def main(arguments: "list[str] | None" = None) -> int:
    options = parse(arguments)
    every = every_mutant()
    known = judged(every)
    mutants = [one for one in every if (one.key() in known) == options.judged and re.search(options.match, str(one))]
    if not mutants and not options.judged:
        raise SystemExit("mutate: there is nothing to change; see --match")
    if options.sample and not options.judged:
        mutants = sampled(mutants, options.sample, options.seed)
    if options.list:
        print("\n".join(map(str, mutants)))
        return 0
    sys.path.insert(0, str(ROOT / "tests/python"))
    from cases import operators

    options.operators = sorted(operators())
    run = Run(mutants)
    with tempfile.TemporaryDirectory(prefix="mxlite-mutate-") as folder:
        copies = [Copy(Path(folder) / "0", options)]
        copies[0].before()
        copies += [Copy(Path(folder) / str(job), options, copies[0]) for job in range(1, options.jobs)]
        run.all(copies)
        for copy in copies:
            copy.close()
    print("mutate: " + ", ".join(f"{number} {verdict}" for verdict, number in sorted(run.counts.items())))
    for mutant in sorted(run.survivors):
        print(f"survived: {mutant}")
    if options.judged:
        print(f"mutate: {len(mutants) - len(run.survivors)} judged equivalent, but not")
        return int(len(run.survivors) != len(mutants))
    return 1 if run.survivors else 0


if __name__ == "__main__":
    sys.exit(main())
