"""The data directory knows which release uses it, and doctor repeats what needs attention after an upgrade."""

import json
import time
from pathlib import Path

from parlour.app.data_directory import DataDirectory
from parlour.app.release_record import FILE, UNKNOWN, read_release, record_release
from parlour.app.settings import HostSettings
from parlour.operations.doctor import upgrade_notes
from tools.upgrade_notes import TARGET, notes, text

DAY_MS = 24 * 3600 * 1000


async def findings(folder: Path) -> list[str]:
    return [finding.sentence async for finding in upgrade_notes.check(HostSettings(data=folder))]


async def test_a_new_data_directory_has_no_release_before_and_no_notes(tmp_path: Path) -> None:
    record_release(DataDirectory(tmp_path), "1.0")

    record = read_release(DataDirectory(tmp_path))
    assert record is not None
    assert (record.version, record.before) == ("1.0", "")
    assert await findings(tmp_path) == []


async def test_data_of_an_older_release_gets_each_note(tmp_path: Path) -> None:
    DataDirectory(tmp_path).database.touch()
    record_release(DataDirectory(tmp_path), "1.0")

    record = read_release(DataDirectory(tmp_path))
    assert record is not None
    assert record.before == UNKNOWN
    assert await findings(tmp_path) == text().splitlines() != []


async def test_the_same_release_keeps_its_record_and_a_newer_one_replaces_it(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    record_release(directory, "1.0")
    first = (tmp_path / FILE).read_bytes()
    record_release(directory, "1.0")
    assert (tmp_path / FILE).read_bytes() == first

    record_release(directory, "1.1")
    record = read_release(directory)
    assert record is not None
    assert (record.version, record.before) == ("1.1", "1.0")


async def test_notes_end_after_a_month(tmp_path: Path) -> None:
    since = int(time.time() * 1000) - (upgrade_notes.REPEATED_DAYS + 1) * DAY_MS
    (tmp_path / FILE).write_text(json.dumps({"version": "1.1", "since": since, "before": "1.0"}))

    assert await findings(tmp_path) == []


async def test_a_damaged_record_is_replaced(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    for damage in ("", "[]", '{"version": 1}', "\0"):
        (tmp_path / FILE).write_text(damage)
        assert read_release(directory) is None
    record_release(directory, "1.0")
    assert read_release(directory) is not None


def test_the_notes_are_those_of_the_changelog() -> None:
    assert TARGET.read_text(encoding="utf-8") == text()
    assert notes("# C\n\n### Needs attention\n\n- One `x`.\n- Two.\n\n### Added\n\n- Three.\n") == ["One x.", "Two."]
