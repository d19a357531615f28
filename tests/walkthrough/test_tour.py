"""Executes the two-minute tour as written; only the port and the folder differ."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Reader, blocks

TOUR = ROOT / "docs" / "guide" / "tour.md"
TWO_MINUTES = 120.0

pytestmark = [pytest.mark.long, pytest.mark.quiet]


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    folder = tmp_path / "a folder"
    folder.mkdir()
    reader = Reader(folder)
    yield reader
    reader.close()


def test_the_tour_does_what_it_says_within_two_minutes(reader: Reader) -> None:
    for block in blocks(TOUR):
        reader.do(block)

    assert (reader.folder / "elsewhere" / "parlour.db").exists()
    assert len(reader.seconds) == 5
    assert sum(reader.seconds) < TWO_MINUTES
