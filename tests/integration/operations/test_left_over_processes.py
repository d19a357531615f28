"""Tests that `parlour doctor` lists processes of coding agents whose Host is gone, and none of a Host that runs."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlour.isolation.orphan_cleanup import VARIABLE
from parlour.isolation.reaper import ReaperProcess, new_mark
from parlour.operations.doctor.left_over_processes import find_left_over
from tests.support.commands import parlour_here


@pytest.fixture
def left_over(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Starts a program as a Host did that is gone."""
    environment = {VARIABLE: "gone.1", "HOME": str(tmp_path / "data/programs/homes/x")}
    process = subprocess.Popen(["/bin/sleep", "600"], env=environment)
    yield process
    process.kill()
    process.wait()


def test_doctor_lists_what_a_killed_host_left_behind(tmp_path: Path, left_over: subprocess.Popen[bytes]) -> None:
    output = parlour_here("doctor", "--data", tmp_path / "data", "--port", 0).stdout
    other = parlour_here("doctor", "--data", tmp_path / "another", "--port", 0).stdout

    assert f"a Host that is gone has left 1 behind: {left_over.pid} (sleep)" in output
    assert f"kill -9 {left_over.pid}" in output
    assert "none of plugins and their programs are left over" in other


async def test_processes_of_a_host_that_runs_are_not_left_over(tmp_path: Path) -> None:
    reaper = ReaperProcess()
    await reaper.start()
    environment = {VARIABLE: new_mark(), "HOME": str(tmp_path)}
    process = await asyncio.create_subprocess_exec("/bin/sleep", "600", env=environment)
    try:
        assert find_left_over(tmp_path) == {}
    finally:
        process.kill()
        await process.wait()
        await reaper.close()
