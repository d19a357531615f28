"""Background tasks are held until they end, their errors are logged, and none is left running."""

import asyncio
import logging

import pytest

from parlour.core.asyncio_utils import BackgroundTasks, run_uncancelled


async def fail() -> None:
    raise ValueError("broken")


async def test_a_task_is_held_until_it_ends() -> None:
    tasks, gate = BackgroundTasks("the work failed"), asyncio.Event()
    task = tasks.start(gate.wait(), name="waits")
    assert (len(tasks), task.get_name()) == (1, "waits")
    gate.set()
    await tasks.join()
    assert (len(tasks), task.result()) == (0, True)


async def test_the_error_of_a_task_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    tasks = BackgroundTasks("the work failed")
    with caplog.at_level(logging.ERROR):
        tasks.start(fail())
        await tasks.join()
    assert caplog.messages == ["the work failed: broken"]


async def test_join_also_waits_for_tasks_that_start_in_the_meantime() -> None:
    tasks, ended = BackgroundTasks("the work failed"), []

    async def start_another(number: int) -> None:
        await asyncio.sleep(1)
        ended.append(number)
        if number < 3:
            tasks.start(start_another(number + 1))

    tasks.start(start_another(1))
    await tasks.join()
    assert ended == [1, 2, 3]


async def test_closing_cancels_all_tasks_and_waits_for_their_end(caplog: pytest.LogCaptureFixture) -> None:
    tasks, ended = BackgroundTasks("the work failed"), []

    async def clean_up_late(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(1)
            ended.append(name)

    tasks.start(clean_up_late("a"))
    tasks.start(clean_up_late("b"))
    await asyncio.sleep(0)
    await tasks.aclose()
    assert (sorted(ended), len(tasks), caplog.messages) == (["a", "b"], 0, [])


async def test_uncancelled_work_ends_before_the_cancellation_is_raised() -> None:
    done = []

    async def work() -> None:
        await asyncio.sleep(1)
        done.append("done")

    caller = asyncio.create_task(run_uncancelled(work(), "not done"))
    await asyncio.sleep(0.5)
    caller.cancel()
    await asyncio.wait([caller])
    assert (caller.cancelled(), done) == (True, ["done"])


async def test_the_error_of_uncancelled_work_is_logged_if_the_caller_is_cancelled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work() -> None:
        await asyncio.sleep(1)
        await fail()

    caller = asyncio.create_task(run_uncancelled(work(), "not done"))
    await asyncio.sleep(0.5)
    with caplog.at_level(logging.ERROR):
        caller.cancel()
        await asyncio.wait([caller])
    assert caplog.messages == ["not done: broken"]


async def test_the_error_of_uncancelled_work_is_raised_to_a_caller_that_is_still_there() -> None:
    with pytest.raises(ValueError, match="broken"):
        await run_uncancelled(fail(), "not done")
