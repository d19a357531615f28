"""Tests that the pages with figures show those of the newest `make bench`, and that their commands exist."""

import re
from pathlib import Path

import pytest

from bench import page
from bench.__main__ import NAMES

from .pages import ROOT

COMPARISON = ROOT / "docs" / "comparison.md"


def test_the_pages_show_the_newest_figures() -> None:
    for file, content in page.pages(page.read()):
        assert file.read_text(encoding="utf-8") == content, f"{file.name}: write it with make bench"


@pytest.mark.parametrize("file", [page.FIGURES_PAGE, COMPARISON], ids=lambda file: file.stem)
def test_each_command_that_repeats_a_figure_exists(file: Path) -> None:
    commands = re.findall(r"python -m bench ((?:[a-z]+ ?)+)", file.read_text(encoding="utf-8"))

    assert commands
    assert {word for command in commands for word in command.split()} <= set(NAMES)
