"""The choice of a backend: kept while it works, and made again when it fails."""

from pathlib import Path

import pytest

from parlour.box.backend import BackendInfo, BackendUnavailable, SandboxFolders
from parlour.box.backend_choice import BackendCandidate, ChosenBackend
from parlour.box.errors import BoxError
from parlour.core.box.messages import SessionSpec
from parlour.testing.fake_box import FakeBackend


class NamedBackend(FakeBackend):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.works = True
        self.orphan_looks = 0

    async def probe(self) -> BackendInfo:
        if not self.works:
            raise BackendUnavailable(f"{self.name} is broken", "mend it", "mend", "stopped")
        return BackendInfo(self.name, "1", "rlimit", "advisory")

    async def remove_orphans(self) -> int:
        self.orphan_looks += 1
        return 0


@pytest.fixture
def backends() -> list[NamedBackend]:
    return [NamedBackend("first"), NamedBackend("second")]


@pytest.fixture
def chosen(backends: list[NamedBackend]) -> ChosenBackend:
    return ChosenBackend([BackendCandidate(each.name, lambda each=each: each) for each in backends])


async def start(chosen: ChosenBackend, folder: Path) -> None:
    spec = SessionSpec(session_id="one", cpus=1, memory_mb=128, processes=32)
    await chosen.start(spec, SandboxFolders(folder), lambda event: None)


async def test_the_first_that_works_is_chosen(chosen: ChosenBackend, backends: list[NamedBackend]) -> None:
    assert (await chosen.probe()).name == "first"
    backends[0].works = False
    assert (await chosen.probe()).name == "second"
    assert [each.fields()["problem"] for each in chosen.refused] == ["stopped"]


async def test_backend_that_fails_is_chosen_again(
    chosen: ChosenBackend, backends: list[NamedBackend], tmp_path: Path
) -> None:
    await chosen.probe()
    backends[0].works = False
    backends[0].failures = [BoxError("backend_unavailable", "the engine has stopped", True)]
    await start(chosen, tmp_path)
    assert chosen.info is not None
    assert (chosen.info.name, len(backends[1].started), backends[1].orphan_looks) == ("second", 1, 1)


async def test_failure_of_a_backend_that_works_is_passed_on(
    chosen: ChosenBackend, backends: list[NamedBackend], tmp_path: Path
) -> None:
    await chosen.probe()
    for code in ("backend_unavailable", "mount_refused"):
        backends[0].failures = [BoxError(code, "this start failed")]
        with pytest.raises(BoxError) as failed:
            await start(chosen, tmp_path)
        assert failed.value.code == code
    assert backends[1].started == []


async def test_failure_of_all_backends_says_what_helps(
    chosen: ChosenBackend, backends: list[NamedBackend], tmp_path: Path
) -> None:
    await chosen.probe()
    for backend in backends:
        backend.works = False
    backends[0].failures = [BoxError("backend_unavailable", "the engine has stopped", True)]
    with pytest.raises(BoxError, match="first is broken; mend it"):
        await start(chosen, tmp_path)
