"""Tests the summary that is made without a model."""

from hypothesis import given, settings
from hypothesis import strategies as st

from parlour_sdk.agents import compaction, token_estimates
from parlour_sdk.protocol.messages import Message


@settings(deadline=None)
@given(st.text(), st.lists(st.text(max_size=300), min_size=1, max_size=30), st.integers(20, 500))
def test_a_plain_summary_keeps_its_size(before: str, said: list[str], tokens: int) -> None:
    made = compaction.excerpt(before, [Message(role="user", content=each) for each in said], tokens)
    longest = token_estimates.estimate_text("assistant: ...") + 160
    assert 0 < token_estimates.estimate_text(made) <= tokens + longest
