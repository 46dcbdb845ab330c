"""Blocks of record(), pause(), train_mode(), predict_mode(): how they nest, and how they end out of turn (conftest.py
looks that no flag stays on).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any, Callable

import pytest

from mxlite import MXNetError, autograd

NOT_INNERMOST = "is not the innermost of its thread when it ends"


def flags() -> tuple[bool, bool]:
    return autograd.is_recording(), autograd.is_training()


def steps(block: Callable[[], Any]) -> Iterator[tuple[bool, bool]]:
    """A generator that yields within a block."""
    with block():
        yield flags()
        yield flags()


def test_blocks_nest_and_one_may_be_entered_again() -> None:
    block = autograd.record()
    with block, autograd.predict_mode():
        with block:
            assert flags() == (True, True)
        assert flags() == (True, False)
        with autograd.pause():
            assert flags() == (False, False)
        assert flags() == (True, False)
    with block:
        assert flags() == (True, True)


def test_tasks_that_take_turns_within_blocks() -> None:
    ended = []

    async def task(block: Callable[[], Any], name: str) -> None:
        with block():
            await asyncio.sleep(0)
        ended.append(name)

    async def main() -> list:
        return await asyncio.gather(
            task(autograd.record, "first"), task(autograd.pause, "second"), return_exceptions=True
        )

    found = asyncio.run(main())
    assert [type(each) for each in found] == [MXNetError, MXNetError] and ended == []
    assert all(NOT_INNERMOST in str(each) for each in found)


def test_tasks_one_within_the_other() -> None:
    async def inner() -> tuple[bool, bool]:
        with autograd.pause():
            return flags()

    async def main() -> tuple:
        with autograd.record():
            return await inner(), flags()

    assert asyncio.run(main()) == ((False, False), (True, True))


def test_generators_that_take_turns() -> None:
    first, second = steps(autograd.record), steps(autograd.pause)
    assert [next(first), next(second)] == [(True, True), (False, False)]
    assert [next(first), next(second)] == [(False, False)] * 2
    with pytest.raises(MXNetError, match=NOT_INNERMOST):
        next(first)
    assert flags() == (False, False)
    with pytest.raises(MXNetError, match=NOT_INNERMOST):  # it has been ended with the first
        next(second)


def test_a_generator_that_is_left_within_a_block() -> None:
    generator = steps(lambda: autograd.record(train_mode=False))
    with pytest.raises(MXNetError, match=NOT_INNERMOST):
        with autograd.train_mode():
            next(generator)
    assert flags() == (False, False)
    generator.close()  # an exception is on its way there, so there is no other
    assert flags() == (False, False)


def test_an_error_on_its_way_is_not_replaced() -> None:
    generator = steps(autograd.record)
    with pytest.raises(KeyError):
        with autograd.record():
            next(generator)
            raise KeyError
    assert flags() == (False, False)
    generator.close()


def test_a_generator_used_alone() -> None:
    assert list(steps(autograd.record)) == [(True, True)] * 2


def test_a_block_that_ends_on_another_thread() -> None:
    generator, found = steps(autograd.record), []

    def end() -> None:
        try:
            list(generator)
        except MXNetError as problem:
            found.append(str(problem))
        found.append(flags())

    next(generator)
    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    assert NOT_INNERMOST in found[0] and found[1] == (False, False)
    assert flags() == (True, True)  # of this thread nobody has ended it
    autograd.set_recording(False)
    autograd.set_training(False)
