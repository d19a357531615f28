"""Estimates of tokens: never nothing for something, and the same however a text is cut."""

from hypothesis import given, settings
from hypothesis import strategies as st
from local_agent import estimates
from local_agent.estimates import Measure

from parlour_sdk.protocol.content import MediaElement, TextElement
from parlour_sdk.protocol.messages import Message, ToolCall

texts = st.text() | st.text(alphabet="ab 你好こん안녕жя🙂")


@settings(deadline=None)
@given(texts, texts)
def test_the_whole_is_no_more_than_its_parts_and_no_less_than_each(one: str, other: str) -> None:
    whole, parts = estimates.of_text(one + other), (estimates.of_text(one), estimates.of_text(other))
    assert max(parts) <= whole <= sum(parts)


@settings(deadline=None)
@given(texts)
def test_only_nothing_is_no_token(text: str) -> None:
    assert (estimates.of_text(text) == 0) == (text == "")
    assert estimates.of_text(text) <= len(text)


@settings(deadline=None)
@given(st.text(alphabet="你好世界汉字かなカナ한국", min_size=1))
def test_a_wide_character_is_a_token(text: str) -> None:
    assert estimates.of_text(text) == len(text)


def test_four_latin_letters_are_a_token() -> None:
    assert estimates.of_text("a" * 400) == 100
    assert estimates.of_text("ж" * 400) == 200


def test_pictures_and_tool_calls_count() -> None:
    picture = MediaElement(type="image", url="https://example.org/cat.png")
    seen = Message(role="user", content=[TextElement(text="a cat"), picture])
    assert estimates.of_message(seen) > estimates.IMAGE_TOKENS
    call = ToolCall(id="1", name="clock", arguments={"city": "x" * 400})
    assert estimates.of_message(Message(role="assistant", tool_calls=[call])) > 100


@settings(deadline=None)
@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 10**6))
def test_a_measure_stays_within_reason(counted: int, estimated: int, tokens: int) -> None:
    measure = Measure.of(counted, estimated)
    assert tokens // 4 <= measure.estimated(tokens) <= tokens * 2
    assert measure.ratio == 1 or estimated >= estimates.SMALLEST_SAMPLE


def test_what_the_provider_counted_corrects_the_estimate() -> None:
    assert Measure.of(2000, 1000).estimated(500) == 250
    assert Measure.of(0, 1000) == Measure.of(10, 50) == Measure()
