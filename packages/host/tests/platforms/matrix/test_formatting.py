"""Markdown is rendered as safe HTML that shows a text as the model meant it."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.platforms.matrix.encode import edit_content, encode
from parlour_sdk.protocol.chain import At, AtAll, Plain

ALLOWED = {
    *("a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"),
    *("s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
TAG = re.compile(r"</?([a-z0-9]+)((?: [a-z]+=\"[^\"<>]*\")*) ?/?>")


def html(text: str) -> str:
    [said] = encode([Plain(text=text)])
    return str(said.content.get("formatted_body", ""))


def test_text_without_markup_has_no_formatted_body() -> None:
    assert html("Hello, how are you? Fine & well.") == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**bold** and `code`", "<strong>bold</strong> and <code>code</code>"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("[here](javascript:alert(1))", "[here](javascript:alert(1))"),
        ("[here](https://example.com)", '<a href="https://example.com">here</a>'),
        ("![cat](https://example.com/cat.png)", '!<a href="https://example.com/cat.png">cat</a>'),
        ("one\n*two*", "one<br />\n<em>two</em>"),
        ("```python\nprint(1)\n```", '<pre><code class="language-python">print(1)</code></pre>'),
    ],
)
def test_markdown_becomes_harmless_html(text: str, shown: str) -> None:
    assert html(text) == shown


@given(st.text(alphabet="<>&\"'[]()!*_`~#|-\n :/ahref=script.mxid@\ue0001\ue001", max_size=80))
def test_any_text_produces_only_allowed_tags(text: str) -> None:
    said = encode([Plain(text=text)])
    formatted = said[0].content.get("formatted_body", "") if said else ""
    for tag, attributes in TAG.findall(formatted):
        assert tag in ALLOWED
        assert "javascript:" not in attributes.lower()
    assert "<" not in TAG.sub("", formatted)


def test_the_body_is_the_text_as_it_was_written() -> None:
    [said] = encode([Plain(text="a *b* <c> & "), At(target="@ann:here", display="A & B"), Plain(text="!")])
    assert said.content["body"] == "a *b* <c> & A & B!"
    link = '<a href="https://matrix.to/#/@ann:here">A &amp; B</a>'
    assert said.content["formatted_body"] == f"a <em>b</em> &lt;c&gt; &amp; {link}!"
    assert said.content["m.mentions"] == {"user_ids": ["@ann:here"]}


def test_text_that_looks_like_a_mention_mentions_no_user() -> None:
    [plain] = encode([Plain(text="@room look, @ann:here \ue0000\ue001")])
    assert plain.content["m.mentions"] == {}
    [meant] = encode([AtAll()])
    assert meant.content["m.mentions"] == {"room": True}


def test_the_longest_text_fits_into_an_edit_for_any_characters() -> None:
    for character in ("&", "*a* ", "\n", '"', "\u4e2d"):
        text = character * (10_000 // len(character.encode()))
        [said] = encode([Plain(text=text)])
        assert len(json.dumps(edit_content(said.content, "$event"), ensure_ascii=False).encode()) < 60_000, character
