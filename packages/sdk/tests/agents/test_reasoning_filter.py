"""Tests thoughts in <think> marks: they are separated the same way however the answer is cut into fragments."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour_sdk.agents import ReasoningFilter


def split(fragments: list[str]) -> tuple[str, str]:
    thinking = ReasoningFilter()
    parts = [*(thinking.feed(each) for each in fragments), thinking.end()]
    return "".join(said for said, _ in parts), "".join(thought for _, thought in parts)


@pytest.mark.parametrize(
    ("whole", "said", "thought"),
    [
        ("plain", "plain", ""),
        ("<think>a</think>b", "b", "a"),
        ("\n <think>a</think>\n\nb", "\n\nb", "a"),
        ("b <think>no thought</think>", "b <think>no thought</think>", ""),
        ("<think>never closed", "", "never closed"),
        ("<thin", "<thin", ""),
        ("<think>a</think>b<think>c</think>", "b<think>c</think>", "a"),
        ("", "", ""),
    ],
)
def test_a_thought_is_separated_from_the_answer(whole: str, said: str, thought: str) -> None:
    assert split([whole]) == split(list(whole)) == (said, thought)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["<", "think", ">", "</", "</think>", "<think>", "a", " "])))
def test_the_fragmentation_makes_no_difference_and_nothing_is_lost(fragments: list[str]) -> None:
    whole = "".join(fragments)
    assert split(fragments) == split([whole]) == split(list(whole))
    if not whole.lstrip().startswith("<think>"):
        assert split(fragments) == (whole, "")
