"""The bubblewrap backend with real sandboxes: the contract of backends, and what is left of a killed Box."""

import os
from pathlib import Path

import psutil
import pytest

from parlour.box.bubblewrap_backend import BubblewrapBackend
from parlour.isolation import resource_group
from parlour.testing.box_backend_contract import IsolationContract, MakeBackend, run, started


class TestBubblewrap(IsolationContract):
    @pytest.fixture
    def make_backend(self) -> MakeBackend:
        return lambda: BubblewrapBackend(None, ())

    async def test_groups_and_processes_end_with_the_sandbox(self, make_backend: MakeBackend, tmp_path: Path) -> None:
        backend = make_backend()
        await backend.probe()
        async with started(backend, tmp_path) as sandbox:
            await run(sandbox, "setsid nohup sleep 1000 > /dev/null 2>&1 & echo started")
            pids = [process.pid for process in sandbox._process.tree.alive()]  # type: ignore[attr-defined]
            assert len(pids) >= 4
        assert not [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
        home = resource_group.find_home()
        for folder in home.folders if home is not None else ():
            assert not list(folder.glob(f"{resource_group.PREFIX}{os.getpid()}-*"))


async def test_groups_of_processes_that_are_gone_are_removed() -> None:
    home = resource_group.find_home()
    if home is None:
        return  # without control groups there is nothing that could be left
    stale = [folder / f"{resource_group.PREFIX}4194304-1" for folder in home.folders]
    for folder in stale:
        folder.mkdir()
    assert await BubblewrapBackend(None, ()).remove_orphans() == len(stale)
    assert not any(folder.exists() for folder in stale)
