"""The thread's flags, and with-blocks that set them: record, pause, train_mode, predict_mode."""

from __future__ import annotations

import ctypes

from mxlite._lib import LIB, check_call, hot


def is_recording() -> bool:
    """Whether this thread records operators."""
    flag = ctypes.c_bool()
    check_call(LIB.MXAutogradIsRecording(ctypes.byref(flag)))
    return flag.value


def is_training() -> bool:
    """Whether this thread runs operators as in training (Dropout drops)."""
    flag = ctypes.c_bool()
    check_call(LIB.MXAutogradIsTraining(ctypes.byref(flag)))
    return flag.value


def set_recording(is_recording: bool) -> bool:
    """Switches recording for this thread; what it was before."""
    return bool(hot.set_recording(bool(is_recording)))


def set_training(train_mode: bool) -> bool:
    """Switches training for this thread; what it was before."""
    return bool(hot.set_training(bool(train_mode)))


class _Scope:
    """A with-block that sets the thread's flags (None leaves one alone) and puts them back, however it ends."""

    __slots__ = ("_recording", "_training", "_before")

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._recording = recording
        self._training = training
        self._before: list[tuple[int | None, int | None]] = []

    def __enter__(self) -> None:
        recording = None if self._recording is None else hot.set_recording(self._recording)
        training = None if self._training is None else hot.set_training(self._training)
        self._before.append((recording, training))

    def __exit__(self, *_: object) -> None:
        recording, training = self._before.pop()
        if recording is not None:
            hot.set_recording(recording)
        if training is not None:
            hot.set_training(training)


def record(train_mode: bool = True) -> _Scope:
    """A with-block whose operators are recorded, in training mode unless `train_mode` is False."""
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
