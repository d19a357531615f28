"""The send log file is trusted after a kill of the last Host on the same machine, and in no other case."""

import os
from pathlib import Path

import pytest

from parlour.core.journal import StorageFailed
from parlour.core.system import SystemIds
from parlour.stores import send_log_file
from parlour.stores.send_log_file import SendLogFile
from parlour.testing import MemoryDatabase, MemoryJournal
from parlour.testing.send_log_contract import OpenSendLog, SendLogContract


class Machine:
    """One data directory and one database; one Host after the other uses them."""

    def __init__(self, folder: Path) -> None:
        self.database = MemoryDatabase()
        self.ids = SystemIds()
        self.file = folder / "handovers"
        self.boot = folder / "boot_id"
        self.boot.write_text("first boot\n")

    def open_log(self) -> SendLogFile:
        return SendLogFile(self.file, MemoryJournal(self.database), self.ids, self.boot)

    async def started_send(self, outbox_id: str) -> SendLogFile:
        log = self.open_log()
        await log.load([])
        log.record_start(outbox_id)
        return log


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


class TestSendLogFile(SendLogContract):
    @pytest.fixture
    def open_log(self, machine: Machine) -> OpenSendLog:
        return machine.open_log


async def all_uncertain(machine: Machine, *outbox_ids: str) -> bool:
    log = machine.open_log()
    await log.load(outbox_ids)
    return all(log.was_started(each) and log.message_id(each) is None for each in outbox_ids)


async def test_a_first_start_finds_everything_uncertain(machine: Machine) -> None:
    assert await all_uncertain(machine, "from before there was a send log")


async def test_the_file_is_not_trusted_after_a_reboot(machine: Machine) -> None:
    (await machine.started_send("a")).record_acknowledgement("a", "1")
    machine.boot.write_text("second boot\n")
    assert await all_uncertain(machine, "a", "b")


async def test_the_file_is_not_trusted_without_a_boot_id(machine: Machine) -> None:
    machine.boot.unlink()
    await machine.started_send("a")
    assert await all_uncertain(machine, "a", "b")


async def test_the_file_is_not_trusted_after_another_host_used_the_database(machine: Machine, tmp_path: Path) -> None:
    await machine.started_send("a")
    elsewhere = SendLogFile(tmp_path / "elsewhere", MemoryJournal(machine.database), SystemIds(), machine.boot)
    await elsewhere.load([])
    elsewhere.record_start("b")
    assert await all_uncertain(machine, "a", "b")


@pytest.mark.parametrize("content", [b"", b"{}", b'{"life":', b"\xff\n", b"[]\n[]\n"])
async def test_a_file_that_was_tampered_with_is_not_trusted(machine: Machine, content: bytes) -> None:
    await machine.started_send("a")
    machine.file.write_bytes(content)
    assert await all_uncertain(machine, "a", "b")


async def test_a_file_with_a_truncated_line_is_not_trusted(machine: Machine) -> None:
    await machine.started_send("a")
    machine.file.write_bytes(machine.file.read_bytes() + b'["b')
    assert await all_uncertain(machine, "a", "b", "c")


async def test_a_copy_of_the_file_is_not_trusted(machine: Machine) -> None:
    log = await machine.started_send("a")
    copy = machine.file.with_name("copy")
    copy.write_bytes(machine.file.read_bytes())
    log.record_start("b")
    copy.replace(machine.file)
    assert await all_uncertain(machine, "a", "b", "c")


async def test_a_settled_send_counts_as_started_after_the_database_was_restored(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, between = machine.ids.new(), machine.ids.new()
    log = await machine.started_send(before)
    log.record_acknowledgement(before, "1")
    log.clear(before)
    with monkeypatch.context() as patched:
        patched.setattr(send_log_file, "MAX_FILE_BYTES", 0)
        log.record_start(between)
    after = machine.ids.new()
    log = machine.open_log()
    await log.load([before, between, after])
    assert [log.was_started(each) for each in (before, between, after)] == [True, True, False]


async def test_a_kill_before_the_database_records_the_new_start_leaves_everything_uncertain(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await machine.started_send("a")

    async def fails(journal: MemoryJournal, unit: object) -> None:
        raise StorageFailed("storage_full", "the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(MemoryJournal, "commit", fails)
        with pytest.raises(StorageFailed):
            await machine.open_log().load(["a", "b"])
    assert await all_uncertain(machine, "a", "b")


async def test_a_full_disk_removes_the_file_instead_of_leaving_it_incomplete(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = await machine.started_send("a")

    def no_room(file: int, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", no_room)
        log.record_start("b")
    log.record_start("c")
    assert log.was_started("b"), "the running Host still knows it"
    assert not machine.file.exists()
    assert await all_uncertain(machine, "a", "b", "c", "d")


async def test_an_incomplete_file_that_can_not_be_removed_is_not_trusted(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log = await machine.started_send("a")

    def fails(*arguments: object, **options: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        for module, name in ((os, "write"), (os, "unlink")):
            patched.setattr(module, name, fails)
        log.record_start("b")
    assert machine.file.exists()
    assert "is not complete and could not be removed; remove it" in caplog.text
    assert await all_uncertain(machine, "a", "b", "c")


async def test_a_file_that_failed_to_close_is_not_written_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file descriptor may already belong to a socket or to the database."""
    log = await machine.started_send("a")
    close, written = os.close, []

    def fails(file: int) -> None:
        close(file)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "close", fails)
        patched.setattr(send_log_file, "MAX_FILE_BYTES", 0)
        log.record_start("b")
        patched.setattr(os, "write", lambda *written_to: written.append(written_to))
        log.record_start("c")
    assert written == []
    assert await all_uncertain(machine, "a", "b", "c")


async def test_the_file_stays_small_and_keeps_unsettled_sends(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send_log_file, "MAX_FILE_BYTES", 2000)
    log = await machine.started_send("open")
    for number in range(1000):
        log.record_start(f"row-{number}")
        log.record_acknowledgement(f"row-{number}", str(number))
        log.clear(f"row-{number}")
    assert machine.file.stat().st_size < 2100
    after = machine.open_log()
    await after.load(["open", "kept"])
    assert (after.was_started("open"), after.was_started("kept")) == (True, False)


async def test_only_the_owner_may_read_the_file(machine: Machine) -> None:
    await machine.started_send("a")
    assert machine.file.stat().st_mode & 0o077 == 0
