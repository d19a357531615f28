"""Tests the systemd units, and what the Host reports to a service manager."""

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from tests.support.harness import ROOT, Host

UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
FOLDER = ROOT / ".tools" / "systemd"
MAX_EXPOSURE = 60
"""Tenths of the score of `systemd-analyze security`; without hardening it is 92."""


def test_the_host_reports_that_it_is_ready_alive_and_stopping(tmp_path: Path) -> None:
    address = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(address))
        manager.settimeout(20)
        host = Host(tmp_path, NOTIFY_SOCKET=str(address), WATCHDOG_USEC="300000").start()
        states = [manager.recv(100)]
        while states[-1] != b"READY=1":
            states.append(manager.recv(100))
        alive = [manager.recv(100) for _ in range(3)]
        host.close()
        while states[-1] != b"STOPPING=1":
            states.append(manager.recv(100))

    assert alive == [b"WATCHDOG=1"] * 3
    assert set(states) <= {b"WATCHDOG=1", b"READY=1", b"STOPPING=1"}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_keeps_what_the_sandbox_needs(unit: Path) -> None:
    text = re.sub(r"(?m)^#.*\n", "", unit.read_text())
    for forbidden in ("NoNewPrivileges=yes", "RestrictNamespaces", "PrivateUsers", "ProtectProc=invisible", "@mount"):
        assert forbidden not in text
    assert "KillMode=mixed" in text
    assert "UMask=0077" in text


@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_accepts_a_unit_and_its_hardening(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace("/opt/parlour/bin/parlour", str(ROOT / ".venv" / "bin" / "parlour")))

    verified = analyze("verify", "--man=no", copy)
    assert [line for line in verified.splitlines() if unit.name in line] == []
    score = analyze("security", "--offline=yes", f"--threshold={MAX_EXPOSURE}", copy)
    assert "Overall exposure level" in score


def analyze(*arguments: object) -> str:
    packages = ("systemd", "libsystemd-shared")
    subprocess.run([ROOT / "tools" / "debian_packages.sh", FOLDER, "systemd-analyze", *packages], check=True)
    program = shutil.which("systemd-analyze") or str(FOLDER / "usr" / "bin" / "systemd-analyze")
    libraries = ":".join(str(path) for path in FOLDER.glob("usr/lib/*/systemd"))
    finished = subprocess.run(
        [program, *map(str, arguments)],
        env={**os.environ, "LD_LIBRARY_PATH": libraries},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout + finished.stderr
