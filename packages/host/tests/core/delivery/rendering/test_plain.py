"""Markdown on platforms that show plain text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.delivery.rendering.parts import render
from parlour.core.delivery.rendering.plain import to_plain_text

from .manifests import manifest


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**bold**, *italic*, ~~old~~ and `code`", "bold, italic, old and code"),
        ("这是**重点**，这是*强调*内容", "这是重点，这是强调内容"),
        ("# Title\n\nText\nmore", "Title\n\nText\nmore"),
        ("- one\n  more\n- two\n  1. sub\n  2. sub\n- three", "• one\n  more\n• two\n  1. sub\n  2. sub\n• three"),
        ("3. three\n4. four", "3. three\n4. four"),
        ("[docs](https://a.example) and <https://b.example>", "docs (https://a.example) and https://b.example"),
        ("![a cat](https://a.example/cat.png)", "a cat (https://a.example/cat.png)"),
        ("> said\n> so\n\nyes", "> said\n> so\n\nyes"),
        ("```python\nprint('**')\n```\nend", "print('**')\n\nend"),
        ("| a | b |\n|---|---|\n| 1 | **2** |", "a | b\n1 | 2"),
        ("above\n\n---\n\nbelow", "above\n\n———\n\nbelow"),
        ("2*3*4 = 24 and snake_case_name", "2*3*4 = 24 and snake_case_name"),
        ("x**2 + y**2 and `x**2`", "x**2 + y**2 and x**2"),
        ("**注意：**请看，这是**“重点”**的内容", "注意：请看，这是“重点”的内容"),
        ("*（一）*先*《二》*B和**C。**D，**E**后", "（一）先《二》B和C。D，E后"),
        ("来源：\n\n[1]: https://a.example", "来源：\n\n[1]: https://a.example"),
        ("> " * 30 + "deep", "> " * 30 + "deep"),
        (r"a literal \*star\*", "a literal *star*"),
        ("<b>tags</b> & more", "<b>tags</b> & more"),
    ],
)
def test_markdown_is_rendered_as_plain_text(text: str, shown: str) -> None:
    [part] = render({"content": text}, manifest(dialect="plain"))
    assert part.chain == [{"type": "Plain", "text": shown}]
    assert part.text == text


@given(st.text(alphabet="ab *_`#>-|[]()1.\n\\~!", max_size=120))
def test_any_text_is_rendered_without_doubling_words(text: str) -> None:
    shown = to_plain_text(text)
    assert shown.startswith(text[: len(text) - len(text.lstrip())])
    for word in ("a", "b"):
        assert shown.count(word) <= text.count(word) * 2


@given(st.lists(st.sampled_from(["> a", "- b", "| a | b |", "|---|---|", "1. c", "```", "word " * 9, ""]), max_size=60))
def test_every_part_is_within_the_limit(lines: list[str]) -> None:
    for part in render({"content": "\n".join(lines)}, manifest(120, dialect="plain")):
        assert len("".join(each.get("text", "") for each in part.chain)) <= 120
