"""How the machine's time zone is told."""

from pathlib import Path

import pytest

from parlour.app import time_zone


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that says nothing of its time zone."""
    monkeypatch.delenv("TZ", raising=False)
    monkeypatch.setattr(time_zone, "LOCAL_TIME_FILE", tmp_path / "localtime")
    monkeypatch.setattr(time_zone, "ZONE_NAME_FILE", tmp_path / "timezone")
    return tmp_path


def test_what_the_environment_says_comes_first(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / "timezone").write_text("Europe/Berlin\n")
    assert time_zone.system_zone() == "Europe/Berlin"
    monkeypatch.setenv("TZ", ":Asia/Tokyo")
    assert time_zone.system_zone() == "Asia/Tokyo"


def test_the_link_of_the_local_time_is_followed(machine: Path) -> None:
    (machine / "localtime").symlink_to("/usr/share/zoneinfo/America/New_York")
    assert time_zone.system_zone() == "America/New_York"


@pytest.mark.parametrize("said", ["", "CET-1CEST,M3.5.0,M10.5.0/3", "../../etc/passwd", "Mars/Olympus"])
def test_a_machine_that_names_no_zone_has_universal_time(
    machine: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("TZ", said)
    assert time_zone.system_zone() == "UTC"
