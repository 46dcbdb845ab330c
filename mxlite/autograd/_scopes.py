"""The thread's flags, and with-blocks that set them: record, pause, train_mode, predict_mode."""

from __future__ import annotations

import ctypes
import threading

from mxlite._lib import LIB, ask, hot
from mxlite.error import MXNetError


def is_recording() -> bool:
    """Whether this thread records operators."""
    return ask(ctypes.c_bool, LIB.MXAutogradIsRecording)


def is_training() -> bool:
    """Whether this thread runs operators as in training (Dropout drops)."""
    return ask(ctypes.c_bool, LIB.MXAutogradIsTraining)


def set_recording(is_recording: bool) -> bool:
    """Switches recording for this thread; what it was before."""
    return bool(hot.set_recording(bool(is_recording)))


def set_training(train_mode: bool) -> bool:
    """Switches training for this thread; what it was before."""
    return bool(hot.set_training(bool(train_mode)))


class _Open(threading.local):
    """The scopes that a thread has entered and not left, each with the flags before it (None: left alone)."""

    def __init__(self) -> None:
        self.scopes: list[tuple[_Scope, int | None, int | None]] = []


_open = _Open()


class _Scope:
    """A with-block that sets the thread's flags (None leaves one alone) and puts them back, however it ends.

    Raises: MXNetError: at the end, where it is not the innermost one of its thread.
    """

    __slots__ = ("_recording", "_training")

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._recording = recording
        self._training = training

    def __enter__(self) -> None:
        recording = None if self._recording is None else hot.set_recording(self._recording)
        training = None if self._training is None else hot.set_training(self._training)
        _open.scopes.append((self, recording, training))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        scopes = _open.scopes
        if not scopes or scopes[-1][0] is not self:
            self._end_out_of_order(scopes, kind)
            return
        _, recording, training = scopes.pop()
        if recording is not None:
            hot.set_recording(recording)
        if training is not None:
            hot.set_training(training)

    def _end_out_of_order(self, scopes: list, kind: type[BaseException] | None) -> None:
        """Ends this scope and all that were entered after it; an error, unless one is on its way.

        A scope that was ended in this way already, or was entered on another thread, changes no flags.
        """
        place = next((i for i in reversed(range(len(scopes))) if scopes[i][0] is self), len(scopes))
        for _, recording, training in reversed(scopes[place:]):
            if recording is not None:
                hot.set_recording(recording)
            if training is not None:
                hot.set_training(training)
        del scopes[place:]
        if kind is None:
            raise MXNetError(
                "autograd: a block of record(), pause(), train_mode() or predict_mode() is not the innermost of its "
                "thread when it ends; the flags are now as before it. Generators and async tasks that take turns must "
                "not yield or await within such a block: its flags hold for the whole thread"
            )


def record(train_mode: bool = True) -> _Scope:
    """A with-block whose operators are recorded, in training mode unless `train_mode` is False.

    It holds for the thread: where an async task awaits, or a generator yields, within the block, what others do
    meanwhile is recorded too.
    Raises: MXNetError: at its end, where a block that was entered after it (by another task, say) has not ended yet.
    """
    return _Scope(True, bool(train_mode))


def pause(train_mode: bool = False) -> _Scope:
    """A with-block, within record(), whose operators are not recorded."""
    return _Scope(False, bool(train_mode))


def train_mode() -> _Scope:
    """A with-block in training mode; recording stays as it is."""
    return _Scope(None, True)


def predict_mode() -> _Scope:
    """A with-block out of training mode; recording stays as it is."""
    return _Scope(None, False)
