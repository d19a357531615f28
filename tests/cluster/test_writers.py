"""Tests that writers with a slot each don't slow each other down on PostgreSQL, with `python -m bench writers`."""

import pytest

from bench import writers


@pytest.mark.long
@pytest.mark.quiet
@pytest.mark.timeout(300)
async def test_four_writers_on_separate_slots_commit_at_least_three_times_as_much_as_one() -> None:
    figures = {figure.name: figure for figure in await writers.measure(writers.Size(rounds=3, seconds=1.5))}
    targets = [figure for figure in figures.values() if figure.target is not None]
    assert targets, "either the ratio of four writers has a target or, with busy cores, that of two"
    assert [f"{figure.name}: {figure.value:.2f}" for figure in targets if figure.verdict == "over"] == []
    assert figures["4 writers to 1"].value > figures["4 writers on one slot to 1"].value
