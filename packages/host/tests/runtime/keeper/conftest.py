"""A keeper with nothing installed."""

from pathlib import Path

import pytest

from .kept import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
