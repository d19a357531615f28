"""Work that the database refused is repeated until it succeeds; any other error is the caller's."""

import asyncio
import logging

import pytest

from parlour.core.journal import GuardFailed, StorageFailed, retry_on_storage_failure
from parlour.core.journal.retry import STORAGE_RETRY_SECONDS


class Work:
    """Fails with each of these errors in turn, and then returns the number of attempts."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.attempts = 0

    async def __call__(self) -> int:
        self.attempts += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.attempts


def full() -> StorageFailed:
    return StorageFailed("disk_full", "the disk is full")


async def test_result_of_the_successful_attempt_is_returned() -> None:
    assert await retry_on_storage_failure(Work(), "the work") == 1
    assert await retry_on_storage_failure(Work(full(), full()), "the work") == 3


async def test_attempts_are_a_fixed_time_apart_and_each_failure_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.get_running_loop()
    started = loop.time()
    with caplog.at_level(logging.ERROR):
        await retry_on_storage_failure(Work(full(), full(), full()), "the work")
    assert loop.time() - started == pytest.approx(3 * STORAGE_RETRY_SECONDS)
    assert caplog.messages == ["the work waits for the database: the disk is full"] * 3


async def test_failed_guard_is_not_retried() -> None:
    work = Work(GuardFailed("unit", 0))
    with pytest.raises(GuardFailed):
        await retry_on_storage_failure(work, "the work")
    assert work.attempts == 1


async def test_cancelled_caller_stops_waiting() -> None:
    work = Work(*(full() for _ in range(100)))
    waiting = asyncio.create_task(retry_on_storage_failure(work, "the work"))
    await asyncio.sleep(2.5 * STORAGE_RETRY_SECONDS)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert (waiting.cancelled(), work.attempts) == (True, 3)
