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
        ("\n <think>a</think>\n\nb", "\n \n\nb", "a"),
        ("b <think>a thought</think> c", "b  c", "a thought"),
        ("b `<think>` c", "b `<think>` c", ""),
        ("<thinking>a</thinking>b<reasoning>c</reasoning>", "b", "ac"),
        ("<think>never closed", "", "never closed"),
        ("<thin", "<thin", ""),
        ("<think>a</think>b<think>c</think>", "b", "ac"),
        ("", "", ""),
    ],
)
def test_a_thought_is_separated_from_the_answer(whole: str, said: str, thought: str) -> None:
    assert split([whole]) == split(list(whole)) == (said, thought)


def test_a_closing_mark_without_an_opening_one_ends_reasoning() -> None:
    thinking = ReasoningFilter()
    assert thinking.feed("I wonder.</think>Yes.") == ("Yes.", "I wonder.")
    assert thinking.retracted


def test_a_tool_call_that_is_written_as_text_becomes_a_call() -> None:
    for fragments in (['Look. <tool_call>{"name": "clock", "arguments": {"zone": "UTC"}}</tool_call>'], []):
        thinking = ReasoningFilter()
        said = "".join(thinking.feed(each)[0] for each in fragments or '<tool_call>{"name": "clock"}</tool_call>')
        assert said.strip() in ("Look.", "")
        assert [each["name"] for each in thinking.calls] == ["clock"]


MARKS = ["<", "think", ">", "</", "</think>", "<think>", "<tool_call>", "</tool_call>", "{}", "`", "a", " "]


@settings(deadline=None)
@given(st.lists(st.sampled_from(MARKS)))
def test_the_fragmentation_makes_no_difference_and_nothing_is_lost(fragments: list[str]) -> None:
    whole = "".join(fragments)
    if "</think>" not in whole:
        assert split(fragments) == split([whole]) == split(list(whole))
    if "<" not in whole:
        assert split(fragments) == (whole, "")
