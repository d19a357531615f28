"""Words: found whatever their form, masked by graphemes, and masked in a stream as in a whole text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.core.message_policy.held_back import HeldBackText
from parlour.core.message_policy.words import Graphemes, WordMatcher, split_graphemes

ALPHABET = "abAB \u200bé\u0301ﬀ字词\n\r👍🏽*"
TEXTS = st.text(st.sampled_from(ALPHABET), max_size=40)
WORDS = st.lists(st.text(st.sampled_from("abABéﬀ字词 "), min_size=1, max_size=4), max_size=6)


def mask(words: list[str], text: str) -> str:
    whole = Graphemes.of(text)
    return "".join(whole.masked(WordMatcher(words).spans(whole.folded)))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a bad word", "a *** word"),
        ("a BAD word", "a *** word"),
        ("a ｂａｄ word", "a *** word"),
        ("a b\u200ba\u200bd word", "a *\u200b*\u200b* word"),
        ("nothing", "nothing"),
        ("坏词在此", "**在此"),
        ("badbad", "******"),
    ],
)
def test_words_are_masked_in_every_form(text: str, masked: str) -> None:
    assert mask(["bad", "坏词"], text) == masked


def test_words_across_one_another_are_masked_whole() -> None:
    assert mask(["abc", "bcd"], "xabcdx") == "x****x"


@given(WORDS, TEXTS)
def test_mask_keeps_the_number_of_graphemes(words: list[str], text: str) -> None:
    whole = Graphemes.of(text)
    assert len(whole.masked(WordMatcher(words).spans(whole.folded))) == len(split_graphemes(text))


@settings(max_examples=300)
@given(WORDS, TEXTS, st.lists(st.integers(1, 7), max_size=40))
def test_stream_shows_the_same_text_as_a_whole(words: list[str], text: str, sizes: list[int]) -> None:
    held_back, shown, rest = HeldBackText(WordMatcher(words)), "", text
    for size in sizes:
        shown += held_back.add(rest[:size])
        rest = rest[size:]
    shown += held_back.add(rest) + held_back.finish()
    assert shown == mask(words, text)


def test_stream_never_shows_the_beginning_of_a_word() -> None:
    held_back = HeldBackText(WordMatcher(["secret"]))
    shown = "".join(held_back.add(each) for each in "my secret is out")
    assert "sec" not in shown + held_back.finish()
