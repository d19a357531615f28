"""Outcomes of tools are sanitized: readable and bounded for any input."""

import base64
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from parlour.providers.tools.sanitize import MAX_RESULT_BYTES, MAX_RESULT_ELEMENTS, sanitize_outcome
from parlour_sdk.protocol.content import JsonElement, MediaElement, TextElement, plain_text
from parlour_sdk.protocol.tools import ToolOutcome


def text_of(*elements: Any) -> str:
    return plain_text(sanitize_outcome(ToolOutcome(content=list(elements))).content)


def test_control_characters_are_removed_and_lines_and_tabs_stay() -> None:
    text = "a line that is long enough to be a text\n\tand another one"
    assert text_of(TextElement(text=f"{text}\x1b\x00\x07\x9d\ud800")) == text


def test_binary_data_is_replaced_by_a_description() -> None:
    noise = bytes(range(256)).decode("latin-1") * 10
    assert text_of(TextElement(text=noise)) == "[2560 characters of binary data, which is not text]"


def test_a_text_of_ten_megabytes_is_cut_and_marked() -> None:
    outcome = sanitize_outcome(ToolOutcome(content=[TextElement(text="é" * 5_000_000), TextElement(text="more")]))
    assert outcome.truncated
    text = plain_text(outcome.content)
    assert len(text.encode()) <= MAX_RESULT_BYTES + 100
    assert text.endswith("bytes; cut]")


def test_a_value_that_is_too_large_is_cut_as_text() -> None:
    outcome = sanitize_outcome(ToolOutcome(content=[JsonElement(value=["x" * MAX_RESULT_BYTES])]))
    assert outcome.truncated
    assert plain_text(outcome.content).startswith('["xxx')


def test_values_keep_their_shape_without_control_characters() -> None:
    outcome = sanitize_outcome(ToolOutcome(content=[JsonElement(value={"a\x00": ["b\x01", 1, None]})]))
    assert outcome.model_dump()["content"][0]["value"] == {"a": ["b", 1, None]}


def test_broken_or_too_large_files_are_left_out_with_a_reason() -> None:
    large = base64.b64encode(bytes(MAX_RESULT_BYTES)).decode()
    assert text_of(MediaElement(type="image", content_base64="no!")) == (
        "[a file of type image that is not base64 was left out]"
    )
    assert "was left out: it is too large" in text_of(MediaElement(type="image", content_base64=large))


def test_the_number_of_elements_is_limited() -> None:
    outcome = sanitize_outcome(ToolOutcome(content=[TextElement(text="x")] * (MAX_RESULT_ELEMENTS + 1)))
    assert (len(outcome.content), outcome.truncated) == (MAX_RESULT_ELEMENTS + 1, True)


@given(st.lists(st.text()))
def test_any_sanitized_text_can_be_stored(texts: list[str]) -> None:
    content = sanitize_outcome(ToolOutcome(content=[TextElement(text=text) for text in texts])).content
    stored = plain_text(content).encode()
    assert b"\0" not in stored
