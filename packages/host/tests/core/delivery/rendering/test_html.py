"""Markdown becomes the HTML tags of platforms: closed in every part, and escaped elsewhere."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.core.delivery.rendering.html import to_html
from parlour.core.delivery.rendering.parts import render

from .manifests import manifest
from .test_split import texts

ALLOWED = {"b", "i", "s", "code", "pre", "a", "blockquote"}


class Strict(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: object) -> None:
        assert tag in ALLOWED
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(text: str) -> None:
    parser = Strict()
    parser.feed(text)
    parser.close()
    assert parser.open == []


@settings(deadline=None, max_examples=40)
@given(texts, st.integers(256, 600))
def test_every_part_is_valid_html_within_the_limit(text: str, limit: int) -> None:
    parts = render({"content": text}, manifest(limit, dialect="html"))
    for part in parts:
        shown = "".join(component["text"] for component in part.chain)
        assert len(shown) <= limit
        check(shown)
    assert "".join("".join(part.text for part in parts).split()) == "".join(text.split())


@settings(deadline=None, max_examples=40)
@given(st.text("<>&\"'*_`[]()#-| \nab", max_size=80))
def test_only_allowed_tags_are_rendered(text: str) -> None:
    check(to_html(text))


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**a** and *b*", "<b>a</b> and <i>b</i>"),
        ("~~gone~~ `x < 1`", "<s>gone</s> <code>x &lt; 1</code>"),
        ("# Head\n\ntext", "<b>Head</b>\n\ntext"),
        ("- one\n- two\n  - three", "• one\n• two\n  • three"),
        ("3. three\n4. four", "3. three\n4. four"),
        ("[a](https://example.org/?a=1&b=2)", '<a href="https://example.org/?a=1&amp;b=2">a</a>'),
        ("[a](javascript:alert)", "[a](javascript:alert)"),
        ("> said", "<blockquote>said</blockquote>"),
        ("```py\nx < 1\n```", '<pre><code class="language-py">x &lt; 1</code></pre>'),
        ("|a|b|\n|-|-|\n|1|2|", "<pre>a | b\n--+--\n1 | 2</pre>"),
        ("a <b>x</b> & c", "a &lt;b&gt;x&lt;/b&gt; &amp; c"),
    ],
)
def test_markdown_is_rendered_as_html(markdown: str, expected: str) -> None:
    assert to_html(markdown) == expected
