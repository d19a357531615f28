"""Fixtures of the plugin runtime tests."""

from pathlib import Path

import pytest


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    folder = tmp_path / "staging area"
    folder.mkdir()
    return folder
