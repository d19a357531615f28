"""Pieces of a text are within the limit, join to the whole, and end at natural boundaries."""

import re
from itertools import islice
from time import process_time

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.core.delivery.rendering.split import GRAPHEME, MEASURES, TextPiece, split

FAMILY = "👩\u200d👩\u200d👧\u200d👦"
LINK = "[a link](https://example.org/x)"
TRICKY = ["``", "a ``` b", "ends in ```", "x = '~~~'", "    ~~~~ ~", "z" * 70 + " ```", "```not a fence`", "yy" * 60]
words = st.sampled_from(
    ["word", "Ende.", "你好。", FAMILY, "e\u0301", "🇩🇪", LINK, "@some_user", "**bold words**", "`code`"]
)
lines = st.lists(words, min_size=1, max_size=12).map(" ".join)
fences = st.tuples(
    st.sampled_from(["```", "````", "~~~", "~~~~~~", "  ```", "`" * 12]),
    st.sampled_from(["", "python", "c++", "a language whose name is long"]),
    st.lists(st.one_of(st.text("abc {}\t=中", max_size=90), st.sampled_from(TRICKY)), max_size=12),
    st.sampled_from(["", "  ", "\r"]),
).map(lambda parts: "\n".join([f"{parts[0]}{parts[1]}", *parts[2], f"{parts[0]}{parts[3]}"]))
tables = st.integers(1, 8).map(lambda rows: "\n".join(["| a | b |", "|---|---|", *["| one | two |"] * rows]))
texts = st.lists(st.one_of(lines, fences, tables), min_size=1, max_size=8).map("\n\n".join)
units = st.sampled_from(["characters", "utf16", "bytes"])


def pieces(text: str, limit: int, unit: str = "characters") -> list[TextPiece]:
    """Splits with a bound on the number of pieces, so that a splitter without progress fails instead of hanging."""
    return list(islice(split(text, limit, MEASURES[unit]), len(text) + 2))  # type: ignore[index]


@settings(deadline=None, max_examples=60)
@given(st.one_of(texts, st.text()), st.integers(64, 400), units)
def test_pieces_join_to_the_whole_within_the_limit(text: str, limit: int, unit: str) -> None:
    cut = pieces(text, limit, unit)
    assert "".join(piece.text for piece in cut) == text
    assert all(MEASURES[unit](piece.shown_text) <= limit for piece in cut)  # type: ignore[index]
    assert all(piece.text for piece in cut) or text == ""


_FENCE = re.compile(r"[ \t]{0,4}(`{3,}(?=[^`]*$)|~{3,})(.*)")


def code(shown: str) -> tuple[str, bool]:
    """Returns the text within code fences without line ends, and whether a fence stays open."""
    opened, seen = "", ""
    for line in shown.split("\n"):
        marker, rest = match.groups() if (match := _FENCE.fullmatch(line)) else ("", "")
        if not opened:
            opened = marker
        elif marker.startswith(opened) and not rest.strip():
            opened = ""
        else:
            seen += line
    return seen, bool(opened)


@settings(deadline=None, max_examples=300)
@given(texts, st.booleans(), st.integers(64, 300), units)
def test_fences_are_closed_in_each_piece_and_code_stays_code(text: str, ends: bool, limit: int, unit: str) -> None:
    whole = text if ends else f"{text}\n```sh\n{'ls -l; ' * 20}"
    cut = [code(piece.shown_text) for piece in pieces(whole, limit, unit)]
    assert len(cut) == 1 or not any(unclosed for _, unclosed in cut)
    assert "".join(seen for seen, _ in cut) == code(whole)[0]


@settings(deadline=None, max_examples=200)
@given(st.text("`~ \na"), st.text("`~ \na", min_size=64), st.integers(64, 100))
def test_no_piece_leaves_a_fence_open(first: str, text: str, limit: int) -> None:
    cut = pieces(first + text, limit)
    closable = [piece for piece in cut if re.search("`{11}|~{11}", piece.shown_text) is None]
    assert len(cut) == 1 or not any(code(piece.shown_text)[1] for piece in closable)


@pytest.mark.parametrize("marker", ["```", "~~~", "`````"])
@pytest.mark.parametrize("first", ["", "short line\n"])
def test_closing_fence_is_never_split(marker: str, first: str) -> None:
    for count in range(2940, 2990):
        text = f"{marker}json\n{first}{'y' * count}\n{marker}\n\nafter {'z ' * 1000}"
        cut = pieces(text, 2980)
        assert all(code(piece.shown_text)[1] is False for piece in cut)
        assert [line for piece in cut for line in piece.shown_text.split("\n") if line[:1] == marker[0]] in (
            [f"{marker}json", marker],
            [f"{marker}json", marker] * 2,
        )
        assert all(code(piece.shown_text)[0] == "" or len(code(piece.shown_text)[0]) >= 20 for piece in cut)


@settings(deadline=None, max_examples=100)
@given(st.one_of(texts, st.text(), st.text("`~ \n\ra\u0301")), st.integers(-30, 64), units)
def test_every_piece_makes_progress_for_any_limit(text: str, limit: int, unit: str) -> None:
    cut = pieces(text, limit, unit)
    assert "".join(piece.text for piece in cut) == text
    assert all(piece.text for piece in cut) or text == ""
    oversized = [piece for piece in cut if MEASURES[unit](piece.shown_text) > limit]  # type: ignore[index]
    assert all(len(piece.shown_text) == 1 for piece in oversized)


@settings(deadline=None, max_examples=60)
@given(texts, st.integers(64, 400), units)
def test_no_grapheme_is_cut(text: str, limit: int, unit: str) -> None:
    boundaries = {match.end() for match in regex.finditer(r"\X", text)}
    position = 0
    for piece in pieces(text, limit, unit)[:-1]:
        position += len(piece.text)
        assert position in boundaries


@settings(deadline=None, max_examples=60)
@given(texts, st.integers(120, 400))
def test_link_that_fits_is_not_split(text: str, limit: int) -> None:
    assert sum(piece.text.count(LINK) for piece in pieces(text, limit)) == text.count(LINK)


@settings(deadline=None, max_examples=60)
@given(st.integers(100, 300), st.integers(45, 80))
def test_cut_code_reopens_in_its_language(limit: int, count: int) -> None:
    code = "".join(f"line {number}\n" for number in range(count))
    cut = pieces(f"Look:\n\n```python\n{code}```\n\nThat was it.", limit)
    for piece in cut:
        shown = piece.shown_text
        assert shown.count("```") % 2 == 0
        if "line " in shown:
            assert "```python\nline" in shown
    assert len(cut) > 1


def test_paragraphs_are_preferred_to_sentences_and_those_to_words() -> None:
    paragraphs = pieces(f"{'One two. ' * 5}\n\n{'Three four. ' * 8}", 100)
    assert paragraphs[0].text == f"{'One two. ' * 5}\n\n"
    sentences = pieces("A sentence of some words. " * 6, 100)
    assert [piece.text for piece in sentences[:1]] == ["A sentence of some words. " * 3]
    words_only = pieces("word " * 40, 64)
    assert all(piece.text.endswith("word ") for piece in words_only)


def test_chinese_is_cut_after_a_sentence() -> None:
    cut = pieces("今天天气很好我们去公园。" * 12, 100)
    assert all(piece.text.endswith("。") for piece in cut)


def test_joined_emoji_stay_whole() -> None:
    cut = pieces(FAMILY * 100, 64)
    assert all(len(piece.text) % len(FAMILY) == 0 for piece in cut)


def test_code_that_fits_moves_whole_to_the_next_message() -> None:
    text = "word " * 12 + "\n```\n" + "x = 1\n" * 8 + "```\nafter"
    cut = pieces(text, 100)
    assert [piece.text.count("```") for piece in cut] == [0, 2]
    assert all(not piece.prefix and not piece.suffix for piece in cut)


@pytest.mark.parametrize("whole", [LINK, "@some_user", "**bold words**", "https://example.org/a/b"])
@pytest.mark.parametrize("before", range(80, 100))
def test_tokens_among_letters_without_spaces_are_not_split(whole: str, before: int) -> None:
    text = "字" * before + whole + "字" * 90
    assert any(whole in piece.text for piece in pieces(text, 100))


@pytest.mark.parametrize("rule", ["|---|---|", "---|---", ":-- | --:", " | :-: | - | "])
def test_table_rule_is_recognized_in_each_form(rule: str) -> None:
    table = f"| name | number |\n{rule}\n" + "| some_user | 12345 |\n" * 3
    assert any(table in piece.text for piece in pieces("word " * 12 + "\n\n" + table, 120))


def test_table_that_fits_stays_whole_and_a_larger_one_is_cut_between_rows() -> None:
    table = "| name | number |\n|---|---|\n" + "| some_user | 12345 |\n" * 3
    whole = pieces("word " * 12 + "\n\n" + table, 120)
    assert any(table in piece.text for piece in whole)
    large = pieces("| name | number |\n|---|---|\n" + "| some_user | 12345 |\n" * 40, 100)
    assert all(piece.text.endswith("|\n") for piece in large)


def test_unclosed_fence_is_closed_at_each_cut() -> None:
    cut = pieces("```js\n" + "let a = 1\n" * 30, 100)
    assert all(piece.shown_text.startswith("```js\n") for piece in cut)
    assert all(piece.suffix for piece in cut[:-1])


@pytest.mark.parametrize("unit", ["characters", "utf16", "bytes"])
def test_long_text_is_cut_into_few_messages(unit: str) -> None:
    text = ("A sentence that says a little. " * 20 + "\n\n") * 20
    assert len(pieces(text, 4000, unit)) <= len(text) // 4000 + 2


def test_grapheme_over_the_limit_is_cut_and_not_lost() -> None:
    text = "e" + "\u0301" * 200
    assert "".join(piece.text for piece in pieces(text, 64)) == text


@given(
    st.text(st.sampled_from("a\U0001f1e9\U0001f1ea\u0301\u200d\ufe0f\U0001f3fd\u0903\u0600\U0001f469\u1100\u1161\r\n"))
)
def test_grapheme_pattern_matches_unicode(text: str) -> None:
    assert regex.findall(GRAPHEME, text) == regex.findall(r"\X", text)


def test_many_flag_emoji_are_split_in_linear_time() -> None:
    flags = "\U0001f1e9\U0001f1ea" * 40_000
    started = process_time()
    cut = pieces(flags, 3000)
    assert process_time() - started < 0.25
    assert all(len(piece.text) % 2 == 0 for piece in cut)
