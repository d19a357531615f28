"""Tests that packages with other licences or known vulnerabilities are refused, also without a network."""

import json
from pathlib import Path

import pytest

from tools import dependency_audit
from tools.dependency_report import Package, is_permitted, web_packages


@pytest.mark.parametrize("licence", ["MIT", "MPL-2.0 AND MIT", "(GPL-2.0-only OR BSD-3-Clause)"])
def test_permissive_licences_are_permitted(licence: str) -> None:
    assert is_permitted(licence)


@pytest.mark.parametrize("licence", ["", "GPL-3.0-or-later", "MIT AND AGPL-3.0-only", "SEE LICENSE IN EULA.txt"])
def test_other_licences_are_refused(licence: str) -> None:
    assert not is_permitted(licence)


def test_packages_of_the_page_are_found_as_node_does(tmp_path: Path) -> None:
    def add(folder: str, name: str, licence: str, *needed: str) -> None:
        file = tmp_path / folder / "package.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        described = {"name": name, "version": "1.0.0", "license": licence, "dependencies": dict.fromkeys(needed, "1")}
        file.write_text(json.dumps(described))

    add(".", "page", "", "chart")
    add("node_modules/chart", "chart", "MIT", "lines")
    add("node_modules/chart/node_modules/lines", "lines", "ISC", "chart")
    add("node_modules/lines", "lines", "other", "")

    assert web_packages(tmp_path) == [Package("chart", "1.0.0", "MIT"), Package("lines", "1.0.0", "ISC")]


@pytest.mark.parametrize(
    ("printed", "status", "expected"),
    [
        ("Found no known vulnerabilities", 0, 0),
        ("error: error sending request for url (https://api.osv.dev/v1/querybatch)", 2, 0),
        ("Found 1 known vulnerability", 1, 1),
    ],
)
def test_known_vulnerabilities_fail_and_a_missing_network_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str, status: int, expected: int
) -> None:
    command = tmp_path / "uv"
    command.write_text(f"#!/bin/sh\necho '{printed}' >&2\nexit {status}\n")
    command.chmod(0o755)
    monkeypatch.setattr(dependency_audit, "UV", command)

    assert dependency_audit.main() == expected
