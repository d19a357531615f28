"""Tests how the time zone of the machine is found."""

from pathlib import Path

import pytest

from parlour.app import time_zone


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provides a machine without any setting for its time zone."""
    monkeypatch.delenv("TZ", raising=False)
    monkeypatch.setattr(time_zone, "LOCAL_TIME_FILE", tmp_path / "localtime")
    monkeypatch.setattr(time_zone, "ZONE_NAME_FILE", tmp_path / "timezone")
    return tmp_path


def test_the_environment_variable_wins_over_the_file(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / "timezone").write_text("Europe/Berlin\n")
    assert time_zone.system_zone() == "Europe/Berlin"
    monkeypatch.setenv("TZ", ":Asia/Tokyo")
    assert time_zone.system_zone() == "Asia/Tokyo"


def test_the_local_time_link_is_followed(machine: Path) -> None:
    (machine / "localtime").symlink_to("/usr/share/zoneinfo/America/New_York")
    assert time_zone.system_zone() == "America/New_York"


@pytest.mark.parametrize("value", ["", "CET-1CEST,M3.5.0,M10.5.0/3", "../../etc/passwd", "Mars/Olympus"])
def test_an_unknown_time_zone_becomes_utc(machine: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("TZ", value)
    assert time_zone.system_zone() == "UTC"
