"""Words of every script: what a text is found by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.store import text_search


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The weather in Paris", "paris weather"),
        ("明天北京会下雨吗", "北京"),
        ("明天北京会下雨吗", "下雨"),
        ("明天北京会下雨吗", "雨"),
        ("明天北京会下雨吗", "北京会下雨"),
        ("東京タワーに行きました", "タワー"),
        ("ひらがなとカタカナ", "ひらがな"),
        ("한국어 검색", "한국어"),
        ("Le café déjà vu", "cafe DEJA"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("用Python写的bot", "python"),
        ("用Python写的bot", "写的"),
        ("order no. 4711", "4711"),
        ("Straße", "strasse"),
        ("がぎぐ", "がぎ"),
    ],
)
def test_a_text_is_found_by_a_word_of_it(text: str, query: str) -> None:
    asked = text_search.query_terms(query)
    assert asked
    assert set(asked) <= set(text_search.index_terms(text))


@pytest.mark.parametrize(
    ("text", "query"), [("明天下雨", "天雨"), ("かぎ", "がぎ"), ("hello", "hell"), ("北京", "京北")]
)
def test_a_text_is_not_found_by_what_it_does_not_say(text: str, query: str) -> None:
    assert not set(text_search.query_terms(query)) <= set(text_search.index_terms(text))


@pytest.mark.parametrize("query", ["", "  ", "?!", "🎉", "---", "_"])
def test_a_query_without_a_word_asks_for_nothing(query: str) -> None:
    assert text_search.query_terms(query) == []


def test_words_of_one_conversation_are_not_those_of_another_and_stay_words() -> None:
    one, other = (text_search.conversation_terms(name, ["cafe", "北京"]) for name in ("one", "other"))
    assert not set(one) & set(other)
    assert all(word.isalnum() for word in one)


@given(st.text())
def test_words_have_no_spaces_and_are_bounded_and_a_text_is_found_by_itself(text: str) -> None:
    indexed = text_search.index_terms(text)
    assert all(word and " " not in word and len(word) <= text_search.MAX_TERM_CHARACTERS for word in indexed)
    assert set(text_search.query_terms(text)) <= set(indexed)
