"""Every function that writes a file keeps the old one where writing fails, as on a full disk, and says which and why.

One table has them all, and nothing in the package or the library opens a file for writing by itself.
"""

from __future__ import annotations

import ast
import bz2
import contextlib
import errno
import gc
import importlib.util
import io
import os
import re
import resource
import stat
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from _disk import full_disk

import mxlite as mx
import mxlite.torch as torch
from mxlite import _replace
from mxlite._cli import _profile, _work, predict, show
from mxlite._notebook.picture import Picture
from mxlite.gluon.data import _files
from mxlite.gluon.model_zoo import model_store
from mxlite.visualization._digraph import Digraph

ROOT = Path(__file__).resolve().parents[3]
OLD = b"the old file, which was whole"


#: Room for less than any file of the table.
LITTLE = 16


# ---- the table ----


def _net() -> mx.gluon.nn.HybridSequential:
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(2, in_units=2))
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((1, 2)))
    return net


def _trainer() -> mx.gluon.Trainer:
    net = _net()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam")
    with mx.autograd.record():
        loss = net(mx.nd.ones((1, 2))).sum()
    loss.backward()
    trainer.step(1)
    return trainer


def _store() -> mx.kv.KVStore:
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.Adam())
    store.init(0, mx.nd.ones(2))
    store.push(0, mx.nd.ones(2))
    return store


def _graph() -> mx.sym.Symbol:
    return mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="out")


def _module() -> mx.mod.Module:
    module = mx.mod.Module(_graph(), label_names=None)
    module.bind(data_shapes=[("data", (1, 2))])
    module.init_params()
    module.init_optimizer()
    return module


def _buckets() -> mx.mod.BucketingModule:
    module = mx.mod.BucketingModule(lambda key: (_graph(), ("data",), ()), 1)
    module.bind(data_shapes=[("data", (1, 2))])
    module.init_params()
    return module


def _write_records(writer: Any) -> None:
    try:
        for number in range(9):
            writer.write(b"record") if type(writer) is mx.recordio.MXRecordIO else writer.write_idx(number, b"record")
    finally:
        with contextlib.suppress(mx.MXNetError):
            writer.close()


def _profiled(dump: Callable[[], None]) -> Callable[[Path], None]:
    def call(folder: Path) -> None:
        mx.profiler.set_config(filename=str(folder / "a"), profile_all=True)
        mx.profiler.set_state("run")
        mx.nd.ones(2).wait_to_read()
        mx.profiler.set_state("stop")
        try:
            dump()
        finally:
            with _unlimited():
                mx.profiler.set_config(filename=os.devnull)
                mx.profiler.dump()

    return call


@contextlib.contextmanager
def _unlimited() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits[1], limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def _command(main: Any, *arguments: Any) -> None:
    """A command line; what it says of a failure becomes an error."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main([str(each) for each in arguments])
    if code:
        raise RuntimeError(said.getvalue())


def _distutils(name: str) -> Any:
    """A module of what `mxlite run` gives programs for distutils, under a name of its own."""
    folder = Path(mx.__file__).parent / "_cli/_old/modules/distutils"
    own = "distutils_of_mxlite"
    if own not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            own, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None and spec.loader is not None
        sys.modules[own] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[own])
    return importlib.import_module(f"{own}.{name}")


def _copy_of_a_file(folder: Path) -> None:
    with _unlimited():
        (folder / "long").write_bytes(bytes(200))
    _distutils("file_util").copy_file(str(folder / "long"), str(folder / "a"))


def _model(folder: Path) -> tuple[Path, Path]:
    """A saved model's files."""
    with _unlimited():
        _net().export(str(folder / "m"))
    return folder / "m-symbol.json", folder / "m-0000.params"


def _handler(folder: Path, **options: Any) -> None:
    class Estimator:
        net, trainer = _net(), _trainer()

    kind = mx.gluon.contrib.estimator.CheckpointHandler
    handler = kind(str(folder), model_prefix="a", verbose=0, **options)
    handler.current_epoch = handler.current_batch = 0
    handler.saved_checkpoints = []
    handler._save(Estimator)


def _file_url(folder: Path) -> str:
    with _unlimited():
        (folder / "there").write_bytes(bytes(100))
    return f"file://{folder}/there"


def _fetch_model(folder: Path) -> None:
    stem = f"alexnet-{model_store.short_hash('alexnet')}"
    with _unlimited():
        (folder / "repo/gluon/models").mkdir(parents=True)
        with zipfile.ZipFile(folder / f"repo/gluon/models/{stem}.zip", "w") as packed:
            packed.writestr(f"{stem}.params", bytes(100))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MXNET_GLUON_REPO", f"file://{folder}/repo/")
        patch.setattr(mx.gluon.model_zoo.model_store, "download", _download_first)
        mx.gluon.model_zoo.model_store.get_model_file("alexnet", root=str(folder))


def _download_first(url: str, path: str, overwrite: bool) -> str:
    """As on a disk that is full after the download."""
    with _unlimited():
        return mx.gluon.utils.download(url, path=path, overwrite=overwrite, retries=0)


def _unpack(folder: Path) -> None:
    with _unlimited():
        with tarfile.open(folder / "a.tar", "w") as packed:
            member = tarfile.TarInfo("in/a")
            member.size = 100
            packed.addfile(member, io.BytesIO(bytes(100)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_files, "fetched", lambda *_: str(folder / "a.tar"))
        _files.unpacked("x", ("a.tar", ""), [("a", "0" * 40)], str(folder))


def _bz2(folder: Path) -> None:
    with _unlimited():
        (folder / "a.bz2").write_bytes(bz2.compress(bytes(100)))
    mx.test_utils.get_bz2_data(str(folder), "a", "file:///nowhere", "a.bz2")


def _zip(folder: Path) -> None:
    with _unlimited(), zipfile.ZipFile(folder / "a.zip", "w") as packed:
        packed.writestr("in/a", bytes(10))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mx.gluon.utils, "download", lambda url, **_: str(folder / "a.zip"))
        patch.setattr(_replace, "copy", _copy_on_a_full_disk(_replace.copy))
        mx.test_utils._files._unpacked("file:///nowhere", str(folder), [str(folder / "in/a")])


def _copy_on_a_full_disk(copy: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Full for the files that are replaced only: those of the temporary folder are 10 bytes long too."""

    def limited(source: Any, path: Any) -> None:
        soft = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        with contextlib.ExitStack() as stack:
            if soft != resource.RLIM_INFINITY:
                stack.enter_context(full_disk(5))
            copy(source, path)

    return limited


def _mean_image(folder: Path) -> None:
    with _unlimited():
        writer = mx.recordio.MXRecordIO(str(folder / "r.rec"), "w")
        picture = np.zeros((2, 2, 3), np.uint8)
        writer.write(mx.recordio.pack_img(mx.recordio.IRHeader(0, 1.0, 0, 0), picture, 3, ".png"))
        writer.close()
    mx.io.ImageRecordIter(
        path_imgrec=str(folder / "r.rec"), batch_size=1, data_shape=(3, 2, 2), mean_img=str(folder / "a")
    )


def _drawn(folder: Path) -> None:
    x = mx.nd.ones(2)
    x.attach_grad()
    with mx.autograd.record():
        y = x * 2
    mx.autograd.graph.draw(y, folder / "a.svg", engine="own")


def _network() -> Digraph:
    picture = Digraph("net", "svg")
    picture.node("x")
    return picture


#: name -> a call that writes to files of a folder, and their names. The first file is the one that fails.
def _exported(folder: Path, **more: Any) -> None:
    parameters = {"w": mx.nd.ones((3, 2))}
    graph = mx.sym.FullyConnected(mx.sym.var("x"), mx.sym.var("w"), no_bias=True, num_hidden=3)
    mx.onnx.export_model(graph, parameters, [(1, 2)], "float32", folder / "a.onnx", **more)


WRITERS: dict[str, tuple[Callable[[Path], Any], list[str]]] = {
    "nd.save": (lambda f: mx.nd.save(f / "a", {"x": mx.nd.ones(9)}), ["a"]),
    "Symbol.save": (lambda f: _graph().save(str(f / "a")), ["a"]),
    "Block.save_parameters": (lambda f: _net().save_parameters(str(f / "a")), ["a"]),
    "ParameterDict.save": (lambda f: _net().collect_params().save(str(f / "a")), ["a"]),
    "Block.save": (lambda f: _net().save(str(f / "a")), ["a-model.json", "a-model.params"]),
    "HybridBlock.export": (lambda f: _net().export(str(f / "a")), ["a-symbol.json", "a-0000.params"]),
    "model.save_checkpoint": (
        lambda f: mx.model.save_checkpoint(str(f / "a"), 1, _graph(), {"w": mx.nd.ones(9)}, {}),
        ["a-symbol.json", "a-0001.params"],
    ),
    "callback.do_checkpoint": (
        lambda f: mx.callback.do_checkpoint(str(f / "a"))(0, _graph(), {"w": mx.nd.ones(9)}, {}),
        ["a-symbol.json", "a-0001.params"],
    ),
    "callback.module_checkpoint": (
        lambda f: mx.callback.module_checkpoint(_module(), str(f / "a"), save_optimizer_states=True)(0),
        ["a-symbol.json", "a-0001.params", "a-0001.states"],
    ),
    "Module.save_checkpoint": (
        lambda f: _module().save_checkpoint(str(f / "a"), 1, save_optimizer_states=True),
        ["a-symbol.json", "a-0001.params", "a-0001.states"],
    ),
    "Module.save_params": (lambda f: _module().save_params(str(f / "a")), ["a"]),
    "Module.save_optimizer_states": (lambda f: _module().save_optimizer_states(str(f / "a")), ["a"]),
    "BucketingModule.save_checkpoint": (
        lambda f: _buckets().save_checkpoint(str(f / "a"), 1),
        ["a-1-symbol.json", "a-0001.params"],
    ),
    "Trainer.save_states": (lambda f: _trainer().save_states(str(f / "a")), ["a"]),
    "KVStore.save_optimizer_states": (lambda f: _store().save_optimizer_states(str(f / "a")), ["a"]),
    "Updater.save": (lambda f: mx.optimizer.get_updater(mx.optimizer.SGD()).save(f / "a", True), ["a"]),
    "CheckpointHandler": (_handler, ["a-epoch0batch0.states", "a-epoch0batch0.params"]),
    "torch.save": (lambda f: torch.save({"x": torch.ones(9)}, f / "a"), ["a"]),
    "torch.save of a text": (lambda f: torch.save("a", str(f / "a")), ["a"]),
    "MXRecordIO": (lambda f: _write_records(mx.recordio.MXRecordIO(f / "a", "w")), ["a"]),
    "MXIndexedRecordIO": (
        lambda f: _write_records(mx.recordio.MXIndexedRecordIO(f / "a.idx", f / "a.rec", "w")),
        ["a.rec", "a.idx"],
    ),
    "profiler.dump": (_profiled(lambda: mx.profiler.dump()), ["a"]),
    "profiler at the end": (_profiled(lambda: mx.profiler._write_rest(os.getpid())), ["a"]),
    "profiler.timeline": (_profiled(lambda: mx.profiler.timeline()), ["a"]),
    "graph.draw": (_drawn, ["a.svg"]),
    "Picture.save": (lambda f: Picture("<svg>" + 99 * " " + "</svg>", "x").save(f / "a.svg"), ["a.svg"]),
    "plot_network, save": (lambda f: Digraph("net", "svg").save(str(f / "a")), ["a"]),
    "plot_network, render": (lambda f: _network().render(str(f / "a")), ["a", "a.svg"]),
    "mxlite show": (lambda f: _command(show.main, _model(f)[0], "--out", f / "a.svg"), ["a.svg"]),
    "mxlite show of .dot": (lambda f: _command(show.main, _model(f)[0], "--out", f / "a.dot"), ["a.dot"]),
    "mxlite predict": (
        lambda f: _command(predict.main, *_model(f), "--shape", "data=1,2", "--repeat", 0, "--out", f / "a.npz"),
        ["a.npz"],
    ),
    "mxlite predict --profile": (
        lambda f: _profile.draw([_profile.Timed(_work.Work("n", "o", {}, [], [], 0), 1.0)], "t", str(f / "a.svg")),
        ["a.svg"],
    ),
    "download": (
        lambda f: mx.gluon.utils.download(_file_url(f), path=str(f / "a"), overwrite=True, retries=0),
        ["a"],
    ),
    "model_store.get_model_file": (_fetch_model, [f"alexnet-{model_store.short_hash('alexnet')}.params"]),
    "files of a data set": (_unpack, ["a"]),
    "distutils' write_file": (lambda f: _distutils("file_util").write_file(str(f / "a"), ["word"] * 40), ["a"]),
    "distutils' copy_file": (_copy_of_a_file, ["a"]),
}
if importlib.util.find_spec("onnx"):
    WRITERS["onnx.export_model"] = (_exported, ["a.onnx"])
    WRITERS["onnx.export_model, large"] = (lambda f: _exported(f, large_model=True), ["a.onnx", "a.onnx.data"])
#: Those that write only where there is no file.
NEW_FILES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "test_utils.get_bz2_data": (_bz2, "a"),
    "test_utils.get_cifar10": (_zip, "in/a"),
    "mean_img of ImageRecordIter": (_mean_image, "a"),
}


def _fails(call: Callable[[Path], Any], folder: Path) -> str:
    with contextlib.redirect_stdout(io.StringIO()), full_disk(LITTLE), pytest.raises(Exception) as raised:
        call(folder)
    said = str(raised.value)
    del raised
    gc.collect()
    assert not [each for each in folder.iterdir() if each.name.endswith(".tmp")]
    assert os.strerror(errno.EFBIG) in said, said
    return said


@pytest.mark.parametrize("name", WRITERS)
def test_a_failed_write_keeps_the_old_file(name: str, tmp_path: Path) -> None:
    call, files = WRITERS[name]
    for each in files:
        (tmp_path / each).write_bytes(OLD)
    said = _fails(call, tmp_path)
    assert str(tmp_path / files[0]) in said
    for each in files:
        assert (tmp_path / each).read_bytes() == OLD, each


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_call_replaces_the_file_where_there_is_room(name: str, tmp_path: Path) -> None:
    """So that the table says what is written: every file of a row is another one then."""
    call, files = WRITERS[name]
    for each in files:
        (tmp_path / each).write_bytes(OLD)
    with contextlib.suppress(ValueError, mx.MXNetError):  # the model and the data set are not those of the SHA-1
        call(tmp_path)
    for each in files:
        assert (tmp_path / each).exists() and (tmp_path / each).read_bytes() != OLD, each


@pytest.mark.parametrize("name", NEW_FILES)
def test_a_failed_write_leaves_no_new_file(name: str, tmp_path: Path) -> None:
    call, file = NEW_FILES[name]
    assert str(tmp_path / file) in _fails(call, tmp_path)
    assert not (tmp_path / file).exists()


#: What replaces files, as the package calls it.
_REPLACES = {
    "_replace.write", "_replace.copy", "_replace.replacing", "Replacement", "LIB.MXNDArraySave",
    "LIB.MXSymbolSaveToFile", "LIB.MXDumpProfile", "LIB.MXDumpProcessProfile",
}  # fmt: skip


def _replacing_functions() -> set[tuple[str, str]]:
    """The functions of the package that replace files: (file, name)."""
    package = ROOT / "mxlite"
    found = set()
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name == "_replace.py" or not any(f"{name}(" in text for name in _REPLACES):
            continue
        for function, call in _calls(ast.parse(text)):
            if ast.unparse(call.func) in _REPLACES:
                found.add((str(path.relative_to(package)), function))
    return found


def test_the_table_has_every_function_that_replaces_a_file(tmp_path: Path) -> None:
    package = f"{Path(mx.__file__).parent}/"
    called = set()

    def note(frame: Any, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(package):
            called.add((file[len(package) :], frame.f_code.co_name))

    wanted = _replacing_functions()
    assert len(wanted) > 10
    for number, call in enumerate([*(row[0] for row in WRITERS.values()), *(row[0] for row in NEW_FILES.values())]):
        (tmp_path / str(number)).mkdir()
        with contextlib.suppress(ValueError, mx.MXNetError):
            sys.setprofile(note)
            try:
                call(tmp_path / str(number))
            finally:
                sys.setprofile(None)
    if not importlib.util.find_spec("onnx"):
        wanted = {each for each in wanted if not each[0].startswith("onnx/")}
    assert wanted <= called, "these functions are in no row"


# ---- what replaces them ----


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(OLD)
    (tmp_path / "a").chmod(0o640)
    (tmp_path / "link").symlink_to("a")
    _replace.write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "a").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    torch.save([1, 2], tmp_path / "pipe")
    reader.join()
    assert torch.load(io.BytesIO(got[0])) == [1, 2]
    code = "import mxlite as mx; from mxlite import _replace; _replace.write('/dev/stdout', 'text')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"text"


def test_what_the_block_raises_keeps_the_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(OLD)
    with pytest.raises(KeyError), _replace.replacing(tmp_path / "a", "utf-8") as file:
        file.write("half")
        raise KeyError
    assert (tmp_path / "a").read_bytes() == OLD and len(list(tmp_path.iterdir())) == 1


def test_a_file_that_cannot_be_begun(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "no/a"))):
        _replace.write(tmp_path / "no/a", "text")
    with pytest.raises(IsADirectoryError):
        torch.save(1, tmp_path)
    with pytest.raises(ValueError, match="null byte"):
        _replace.write(f"{tmp_path}/a\0b", "text")


def test_closing_that_fails_is_an_error(tmp_path: Path) -> None:
    """What is in a buffer until the end."""
    (tmp_path / "a").write_bytes(OLD)
    with full_disk(LITTLE), pytest.raises(OSError, match="writing failed: File too large") as raised:
        _replace.write(tmp_path / "a", bytes(17))
    assert raised.value.filename == str(tmp_path / "a") and raised.value.errno == errno.EFBIG
    index = mx.recordio.MXIndexedRecordIO(tmp_path / "new.idx", tmp_path / "new.rec", "w", key_type=str)
    index.write_idx("a key that is longer than what there is room for", b"")
    with full_disk(LITTLE), pytest.raises(OSError, match=r"new\.idx"):
        index.close()


# ---- nothing else writes ----

_OPENS = {"open", "fdopen", "ZipFile", "GzipFile", "BZ2File", "LZMAFile", "FileHandler", "memmap"}
_WRITES = {
    "write_text", "write_bytes", "touch", "tofile", "savetxt", "savez", "savez_compressed", "extract", "extractall",
    "rename", "renames", "copyfile", "copy2", "copytree", "mkstemp", "NamedTemporaryFile", "imwrite", "imsave",
    "render",
}  # fmt: skip
#: Functions of modules whose names say nothing alone: os.replace, but not str.replace.
_QUALIFIED = {"os.replace", "os.link", "shutil.copy", "shutil.move", "np.save", "numpy.save"}
#: (file, function) -> why it may.
MAY_WRITE = {
    ("gluon/utils.py", "replace_file"): "MXNet's function: it renames what the caller has written",
    ("log/__init__.py", "get_logger"): "a log grows line by line, in the mode that the caller chose",
    ("test_utils/_around.py", "discard_stderr"): "the null device",
    ("test_utils/_files.py", "_unpack"): "into a temporary folder, from which files are replaced",
    ("torch/_make/exchange.py", "from_file"): "the file that is the memory of a tensor",
    ("torch/_files.py", "_archive"): "to a file that is open: the caller's, or one that is replaced; and to memory",
    ("_cli/__init__.py", "run_command"): "the null device",
    ("_cli/_old/modules/distutils/file_util.py", "move_file"): "as the function of that name did",
    ("_cli/_old/modules/imp.py", "find_module"): "as the function of that name did: in the mode of the suffix",
    ("_cli/_old/numpy_compat.py", "open_latin1"): "as the function of that name did",
    ("_cli/predict.py", "_predict"): "to a file that is replaced",
}


def _writes(call: ast.Call) -> bool:
    """Whether a call writes a file, or may."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in _WRITES or ast.unparse(function) in _QUALIFIED:
        return True
    if name not in _OPENS:
        return False
    mode = next((each.value for each in call.keywords if each.arg in ("mode", "filemode")), None)
    if mode is None and len(call.args) > 1:
        mode = call.args[1]
    elif mode is None and len(call.args) == 1 and isinstance(function, ast.Attribute):  # of a path
        mode = call.args[0] if set(getattr(call.args[0], "value", None) or "?") <= set("rwaxbt+") else None
    if isinstance(mode, ast.Constant) and isinstance(mode.value, str):
        return not set(mode.value).isdisjoint("wax+")
    return mode is not None or name == "FileHandler"


_NAMES = re.compile("|".join(re.escape(each) + r"\(" for each in sorted(_OPENS | _WRITES | _QUALIFIED)))


def _bare_writes(source: str) -> Iterator[tuple[str, int]]:
    """The functions that call what writes, with the lines."""
    if _NAMES.search(source):
        yield from ((function, call.lineno) for function, call in _calls(ast.parse(source)) if _writes(call))


def _calls(node: ast.AST, function: str = "") -> Iterator[tuple[str, ast.Call]]:
    """The calls within a node, with the functions that they are in."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        function = node.name
    if isinstance(node, ast.Call):
        yield function, node
    for each in ast.iter_child_nodes(node):
        yield from _calls(each, function)


@pytest.mark.one_binding
def test_nothing_of_the_package_opens_a_file_for_writing() -> None:
    package = ROOT / "mxlite"
    found = {
        (str(path.relative_to(package)), function): line
        for path in sorted(package.rglob("*.py"))
        for function, line in _bare_writes(path.read_text(encoding="utf-8"))
    }
    bare = {
        f"{file}:{line}: {function}" for (file, function), line in found.items() if (file, function) not in MAY_WRITE
    }
    assert not bare, "write through mxlite/_replace.py, so that a failure keeps the old file"
    assert set(MAY_WRITE) <= set(found), "these write no longer"


@pytest.mark.parametrize(
    "source",
    [
        'open(path, "w")', 'open(path, mode="ab")', "open(path, mode)", "io.open(p, 'x')",
        "path.open('r+')", "p.write_text(text)", "np.save(p, x)", "np.savez(p, x=x)", "zipfile.ZipFile(p, 'w')",
        "os.replace(a, b)", "gzip.open(path, 'wt')", "os.open(path, os.O_WRONLY)", "archive.extractall(folder)",
    ],
)  # fmt: skip
def test_the_walk_sees(source: str) -> None:
    assert list(_bare_writes(f"def f():\n    {source}")) == [("f", 2)]


@pytest.mark.one_binding
def test_nothing_of_the_library_opens_a_file_for_writing() -> None:
    opening = re.compile(r"(?<![\w>.])(fopen|fdopen|freopen|open|openat|creat|mkstemp|tmpfile|rename)\s*\(([^;{]*)[;{]")
    bare = []
    for path in sorted((ROOT / "capi").rglob("*.[ch]")):
        if path.name in ("posix_replace.c", "windows_replace.c", "none_files.c"):
            continue
        text = path.read_text(encoding="utf-8")
        for match in opening.finditer(text) if "open" in text or "rename" in text else ():
            reads = re.search(r'"r[be]*"\)|O_RDONLY', match[2])
            if not reads:
                bare.append(f"{path.relative_to(ROOT)}: {match[0]}")
    assert not bare, "write through capi/base/system/replace.h"
