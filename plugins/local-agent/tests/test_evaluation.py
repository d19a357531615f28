"""Runs the evaluation of the local agent: recorded conversations with groups, tools, failures and overflow."""

import pytest

from bench import agent


@pytest.mark.parametrize("turns", [agent.QUICK_TURNS, pytest.param(agent.TURNS, marks=pytest.mark.long)])
async def test_every_check_of_the_evaluation_passes(turns: int) -> None:
    figures = await agent.measure(turns)
    if turns != agent.TURNS:  # other tests run beside the short one, so that its time means nothing
        figures = [each for each in figures if each.unit != "ms"]
    assert [each.name for each in figures if each.verdict == "over"] == []
