"""Markdown becomes text with entities: offsets count UTF-16 units, entities are closed, no link becomes a mention."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.platforms.telegram.markup import MAX_TEXT_LENGTH, render_markdown, utf16_length


@pytest.mark.parametrize(
    ("text", "shown", "kinds"),
    [
        ("plain words", "plain words", []),
        ("👋 **bold** _it_", "👋 bold it", [("bold", 3, 4), ("italic", 8, 2)]),
        ("`a_b` ~~no~~", "a_b no", [("code", 0, 3), ("strikethrough", 4, 2)]),
        ("> said\n\nafter", "said\n\nafter", [("blockquote", 0, 4)]),
        ("- one\n- two", "• one\n• two", []),
        ("[you](tg://user?id=7)", "you", []),
        ("[a](https://e.com)", "a", [("text_link", 0, 1)]),
        ("**never closed", "**never closed", []),
        ("<b>tags</b> & more", "<b>tags</b> & more", []),
    ],
)
def test_markup_becomes_entities(text: str, shown: str, kinds: list[tuple[str, int, int]]) -> None:
    made = render_markdown(text, markdown=True)
    assert made.text == shown
    assert [(each["type"], each["offset"], each["length"]) for each in made.entities] == kinds


def test_a_fence_keeps_its_language() -> None:
    made = render_markdown("```python\nx < 1\n```", markdown=True)
    assert made.text == "x < 1"
    assert made.entities == [{"offset": 0, "length": 5, "type": "pre", "language": "python"}]


def test_a_text_that_markup_would_make_too_long_is_sent_as_written() -> None:
    table = "| a | b |\n| - | - |\n" + f"| {'x' * 60} | y |\n" + "| 1 | 2 |\n" * 350
    assert utf16_length(table) <= MAX_TEXT_LENGTH
    assert render_markdown(table, markdown=True).text == table


@given(st.text(alphabet="ab *_`~[]()>#-\n👋é<&|", max_size=80))
def test_entities_are_always_within_the_text(text: str) -> None:
    made = render_markdown(text, markdown=True)
    units = utf16_length(made.text)
    assert all(0 <= each["offset"] < each["offset"] + each["length"] <= units for each in made.entities)
