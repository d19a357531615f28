"""Tests the context budget: the model's limits decide, and the oldest messages are left out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour_sdk.agents import HistoryItem, TurnMessages, context_budget, token_estimates
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.resources import ModelResource


def model(window: int | None, output: int | None = None) -> ModelResource:
    return ModelResource(model_id="m", name="m", type="llm", context_window=window, max_output_tokens=output)


def user_messages(*texts: str) -> list[Message]:
    return [Message(role="user", content=text) for text in texts]


@pytest.mark.parametrize(
    ("window", "output", "expected"), [(None, None, None), (8000, 1000, 7000), (8000, None, 6000), (8000, 9000, 6000)]
)
def test_tokens_are_left_for_the_answer(window: int | None, output: int | None, expected: int | None) -> None:
    assert context_budget.prompt_tokens(model(window, output)) == expected


@pytest.mark.parametrize(
    ("context_tokens", "room", "others", "expected"),
    [
        (1000, None, 500, 1000),
        (1000, 8000, 500, 1000),
        (10_000, 8000, 500, 7500),
        (0, 8000, 500, 7500),
        (0, None, 500, context_budget.DEFAULT_HISTORY_TOKENS),
        (1000, 400, 500, context_budget.MIN_HISTORY_TOKENS),
    ],
)
def test_the_smaller_limit_applies(context_tokens: int, room: int | None, others: int, expected: int) -> None:
    assert context_budget.history_tokens(context_tokens, room, others) == expected


@settings(deadline=None)
@given(st.lists(st.text(max_size=40), max_size=20), st.integers(0, 300))
def test_the_newest_messages_are_kept_and_fit(texts: list[str], tokens: int) -> None:
    messages = user_messages(*texts)
    newest = context_budget.newest_messages(messages, tokens)
    assert newest == messages[len(messages) - len(newest) :]
    assert token_estimates.estimate_messages(newest) <= tokens or not newest
    if 0 < len(newest) < len(messages):
        assert token_estimates.estimate_messages(messages[-len(newest) - 1 :]) > tokens


def test_a_prompt_that_is_too_long_loses_its_oldest_history_and_never_its_question() -> None:
    above, question = Message(role="system", content="Be kind."), Message(role="user", content="why?")
    dialogue = TurnMessages(
        [above], [HistoryItem.from_message(each) for each in user_messages(*["x" * 400] * 10)], question
    )
    short, tokens = dialogue.fit(350)
    assert (short[0], short[-1], len(short)) == (above, question, 5)
    assert tokens == token_estimates.estimate_messages(short) <= 350
    whole, tokens = dialogue.fit(None)
    assert (len(whole), tokens) == (12, token_estimates.estimate_messages(whole))
    assert dialogue.fit(5000) == (whole, tokens)
    assert dialogue.fit(1)[0] == [above, question]


def test_old_tool_results_are_cut_when_no_message_can_be_left_out() -> None:
    dialogue = TurnMessages([], [], Message(role="user", content="go"))
    for number in range(3):
        dialogue.add(Message(role="tool", tool_call_id=str(number), content="y" * 4000))
    stored, _ = dialogue.fit(2200)
    assert [len(str(each.content)) > 4000 - 1 for each in stored] == [False, False, True, True]
    assert "left out" in str(stored[1].content)
