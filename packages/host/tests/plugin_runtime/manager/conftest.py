"""A plugin manager with nothing installed."""

from pathlib import Path

import pytest

from .manager_world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
