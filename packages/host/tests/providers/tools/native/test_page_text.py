"""A page as text: what a reader would see of it."""

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


def test_a_page_is_told_in_paragraphs_lists_tables_and_links() -> None:
    lines = [line.rstrip() for line in extract_text(PAGE, "https://tea.example/a/b").splitlines()]
    assert lines == TEXT.splitlines()


def test_what_is_left_open_hides_nothing_of_the_body() -> None:
    assert extract_text("<head><title>T</title><body><p>seen", "https://a.example/") == "T\n\nseen"


def test_a_page_that_nests_without_end_is_read() -> None:
    assert extract_text("<div>" * 50_000 + "deep", "https://a.example/") == "deep"


@given(st.text(alphabet="<>/a!-[]\"'= &;#x0pscript\n", max_size=200))
def test_whatever_calls_itself_a_page_gives_a_text(html: str) -> None:
    assert isinstance(extract_text(html, "https://a.example/"), str)


@pytest.mark.parametrize("opened", ["<!--", "<a ", "<a href='", "</", "<script>", "<![CDATA[", "&#", "<title>", "<"])
def test_what_is_opened_without_end_does_not_take_without_end(opened: str) -> None:
    """A parser that begins anew at each of these would be at it for minutes; the time-out of the tests guards it."""
    extract_text(opened * (1024 * 1024 // len(opened)), "https://a.example/")
