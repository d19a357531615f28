"""A web page is converted to the text that a reader would see."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.providers.tools.native.html_text import extract_text

PAGE = """<!doctype html><html><head><title>Tea &amp; cake</title><style>p {color: red}</style></head>
<body><nav><a href="/">Home</a></nav><h1>Opening  hours</h1><script>alert("no")</script>
<p>We are <b>open</b> on<br>weekdays.</p>
<ul><li>Tea</li><li>Cake, see <a href="menu.html#cake">the menu</a></li></ul>
<table><tr><th>Day</th><th>From</th></tr><tr><td>Monday</td><td>9</td></tr></table>
<pre>  two
  lines</pre><a href="javascript:alert(1)">Nothing</a> <img alt="A pot" src="x.png"></body></html>"""

TEXT = """Tea & cake

[Home](https://tea.example/)

# Opening hours

We are open on
weekdays.

- Tea
- Cake, see [the menu](https://tea.example/a/menu.html#cake)

 | Day | From
 | Monday | 9

  two
  lines

Nothing [image: A pot]"""


def test_a_page_becomes_paragraphs_lists_tables_and_links() -> None:
    lines = [line.rstrip() for line in extract_text(PAGE, "https://tea.example/a/b").splitlines()]
    assert lines == TEXT.splitlines()


def test_an_unclosed_element_hides_nothing_of_the_body() -> None:
    assert extract_text("<head><title>T</title><body><p>seen", "https://a.example/") == "T\n\nseen"


def test_a_page_with_very_deep_nesting_is_read() -> None:
    assert extract_text("<div>" * 50_000 + "deep", "https://a.example/") == "deep"


@given(st.text(alphabet="<>/a!-[]\"'= &;#x0pscript\n", max_size=200))
def test_any_input_gives_a_text(html: str) -> None:
    assert isinstance(extract_text(html, "https://a.example/"), str)


@pytest.mark.parametrize("opened", ["<!--", "<a ", "<a href='", "</", "<script>", "<![CDATA[", "&#", "<title>", "<"])
def test_many_unclosed_constructs_are_parsed_quickly(opened: str) -> None:
    """A parser that restarts at each of these would take minutes; the time-out of the tests detects that."""
    html = opened * (1024 * 1024 // len(opened))
    assert len(extract_text(html, "https://a.example/")) <= len(html)
