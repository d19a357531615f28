"""Tests estimates of tokens: something is never zero tokens, and the estimate does not depend on how a text is cut."""

from hypothesis import given, settings
from hypothesis import strategies as st

from parlour_sdk.agents import TokenRatio, token_estimates
from parlour_sdk.protocol.content import MediaElement, TextElement
from parlour_sdk.protocol.messages import Message, ToolCall

texts = st.text() | st.text(alphabet="ab 你好こん안녕жя🙂")


@settings(deadline=None)
@given(texts, texts)
def test_the_whole_is_no_more_than_its_parts_and_no_less_than_each(one: str, other: str) -> None:
    whole, parts = (
        token_estimates.estimate_text(one + other),
        (token_estimates.estimate_text(one), token_estimates.estimate_text(other)),
    )
    assert max(parts) <= whole <= sum(parts)


@settings(deadline=None)
@given(texts)
def test_only_an_empty_text_has_no_token(text: str) -> None:
    assert (token_estimates.estimate_text(text) == 0) == (text == "")
    assert token_estimates.estimate_text(text) <= len(text)


@settings(deadline=None)
@given(st.text(alphabet="你好世界汉字かなカナ한국", min_size=1))
def test_a_wide_character_is_a_token(text: str) -> None:
    assert token_estimates.estimate_text(text) == len(text)


def test_four_latin_letters_are_a_token() -> None:
    assert token_estimates.estimate_text("a" * 400) == 100
    assert token_estimates.estimate_text("ж" * 400) == 200


def test_pictures_and_tool_calls_count() -> None:
    picture = MediaElement(type="image", url="https://example.org/cat.png")
    seen = Message(role="user", content=[TextElement(text="a cat"), picture])
    assert token_estimates.estimate_message(seen) > token_estimates.IMAGE_TOKENS
    call = ToolCall(id="1", name="clock", arguments={"city": "x" * 400})
    assert token_estimates.estimate_message(Message(role="assistant", tool_calls=[call])) > 100


@settings(deadline=None)
@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 10**6))
def test_a_token_ratio_stays_within_its_bounds(counted: int, estimated: int, tokens: int) -> None:
    measure = TokenRatio.from_usage(counted, estimated)
    assert tokens // 4 <= measure.to_estimated(tokens) <= tokens * 2
    assert measure.ratio == 1 or estimated >= token_estimates.MIN_SAMPLE_TOKENS


def test_the_providers_count_corrects_the_estimate() -> None:
    assert TokenRatio.from_usage(2000, 1000).to_estimated(500) == 250
    assert TokenRatio.from_usage(0, 1000) == TokenRatio.from_usage(10, 50) == TokenRatio()
