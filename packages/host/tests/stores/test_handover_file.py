"""Notes in a file: believed after a kill of the last Host on this machine, and after nothing else."""

import os
from pathlib import Path

import pytest

from parlour.core.journal import StorageFailed
from parlour.core.system import SystemIds
from parlour.stores import send_log_file
from parlour.stores.send_log_file import SendLogFile
from parlour.testing import MemoryDatabase, MemoryJournal
from parlour.testing.handovers_contract import HandoversContract, Lives


class Machine:
    """One data directory and one database, and the Hosts that use them one after the other."""

    def __init__(self, folder: Path) -> None:
        self.database = MemoryDatabase()
        self.ids = SystemIds()
        self.file = folder / "handovers"
        self.boot = folder / "boot_id"
        self.boot.write_text("first boot\n")

    def life(self) -> SendLogFile:
        return SendLogFile(self.file, MemoryJournal(self.database), self.ids, self.boot)

    async def handed_over(self, outbox_id: str) -> SendLogFile:
        life = self.life()
        await life.load([])
        life.record_start(outbox_id)
        return life


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


class TestHandoverFile(HandoversContract):
    @pytest.fixture
    def lives(self, machine: Machine) -> Lives:
        return machine.life


async def uncertain(machine: Machine, *outbox_ids: str) -> bool:
    life = machine.life()
    await life.load(outbox_ids)
    return all(life.was_started(each) and life.message_id(each) is None for each in outbox_ids)


async def test_a_first_start_finds_everything_uncertain(machine: Machine) -> None:
    assert await uncertain(machine, "from before there were notes")


async def test_nothing_is_believed_after_the_machine_was_started_anew(machine: Machine) -> None:
    (await machine.handed_over("a")).record_acknowledgement("a", "1")
    machine.boot.write_text("second boot\n")
    assert await uncertain(machine, "a", "b")


async def test_nothing_is_believed_on_a_machine_that_does_not_tell_when_it_was_started(machine: Machine) -> None:
    machine.boot.unlink()
    await machine.handed_over("a")
    assert await uncertain(machine, "a", "b")


async def test_nothing_is_believed_when_another_host_had_the_database_meanwhile(
    machine: Machine, tmp_path: Path
) -> None:
    await machine.handed_over("a")
    elsewhere = SendLogFile(tmp_path / "elsewhere", MemoryJournal(machine.database), SystemIds(), machine.boot)
    await elsewhere.load([])
    elsewhere.record_start("b")
    assert await uncertain(machine, "a", "b")


@pytest.mark.parametrize("content", [b"", b"{}", b'{"life":', b"\xff\n", b"[]\n[]\n"])
async def test_nothing_is_believed_of_a_file_that_was_tampered_with(machine: Machine, content: bytes) -> None:
    await machine.handed_over("a")
    machine.file.write_bytes(content)
    assert await uncertain(machine, "a", "b")


async def test_nothing_is_believed_of_a_file_with_a_line_cut_off(machine: Machine) -> None:
    await machine.handed_over("a")
    machine.file.write_bytes(machine.file.read_bytes() + b'["b')
    assert await uncertain(machine, "a", "b", "c")


async def test_nothing_is_believed_of_a_copy(machine: Machine) -> None:
    life = await machine.handed_over("a")
    copy = machine.file.with_name("copy")
    copy.write_bytes(machine.file.read_bytes())
    life.record_start("b")
    copy.replace(machine.file)
    assert await uncertain(machine, "a", "b", "c")


async def test_a_database_that_was_taken_back_does_not_make_what_is_settled_look_as_if_it_had_never_left(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, between = machine.ids.new(), machine.ids.new()
    life = await machine.handed_over(before)
    life.record_acknowledgement(before, "1")
    life.clear(before)
    with monkeypatch.context() as patched:
        patched.setattr(send_log_file, "MAX_FILE_BYTES", 0)
        life.record_start(between)
    after = machine.ids.new()
    life = machine.life()
    await life.load([before, between, after])
    assert [life.was_started(each) for each in (before, between, after)] == [True, True, False]


async def test_a_kill_before_the_database_knows_of_the_new_life_leaves_everything_uncertain(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await machine.handed_over("a")

    async def fails(journal: MemoryJournal, unit: object) -> None:
        raise StorageFailed("storage_full", "the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(MemoryJournal, "commit", fails)
        with pytest.raises(StorageFailed):
            await machine.life().load(["a", "b"])
    assert await uncertain(machine, "a", "b")


async def test_a_full_disk_takes_the_notes_away_instead_of_leaving_some_out(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = await machine.handed_over("a")

    def no_room(file: int, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", no_room)
        life.record_start("b")
    life.record_start("c")
    assert life.was_started("b"), "this life knows it all the same"
    assert not machine.file.exists()
    assert await uncertain(machine, "a", "b", "c", "d")


async def test_notes_that_can_not_be_removed_are_not_believed_either(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    life = await machine.handed_over("a")

    def fails(*arguments: object, **options: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        for module, name in ((os, "write"), (os, "unlink")):
            patched.setattr(module, name, fails)
        life.record_start("b")
    assert machine.file.exists()
    assert "is not complete and could not be removed; remove it" in caplog.text
    assert await uncertain(machine, "a", "b", "c")


async def test_a_file_that_failed_to_close_is_left_alone(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number may be a socket's by then, or the database's."""
    life = await machine.handed_over("a")
    close, written = os.close, []

    def fails(file: int) -> None:
        close(file)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "close", fails)
        patched.setattr(send_log_file, "MAX_FILE_BYTES", 0)
        life.record_start("b")
        patched.setattr(os, "write", lambda *written_to: written.append(written_to))
        life.record_start("c")
    assert written == []
    assert await uncertain(machine, "a", "b", "c")


async def test_the_file_stays_small_and_keeps_what_is_open(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(send_log_file, "MAX_FILE_BYTES", 2000)
    life = await machine.handed_over("open")
    for number in range(1000):
        life.record_start(f"row-{number}")
        life.record_acknowledgement(f"row-{number}", str(number))
        life.clear(f"row-{number}")
    assert machine.file.stat().st_size < 2100
    after = machine.life()
    await after.load(["open", "kept"])
    assert (after.was_started("open"), after.was_started("kept")) == (True, False)


async def test_only_its_owner_may_read_it(machine: Machine) -> None:
    await machine.handed_over("a")
    assert machine.file.stat().st_mode & 0o077 == 0
