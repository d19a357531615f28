"""Search terms of texts in every script."""

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
def test_text_is_found_by_its_words(text: str, query: str) -> None:
    terms = text_search.query_terms(query)
    assert terms
    assert set(terms) <= set(text_search.index_terms(text))


@pytest.mark.parametrize(
    ("text", "query"), [("明天下雨", "天雨"), ("かぎ", "がぎ"), ("hello", "hell"), ("北京", "京北")]
)
def test_text_is_not_found_by_other_words(text: str, query: str) -> None:
    assert not set(text_search.query_terms(query)) <= set(text_search.index_terms(text))


@pytest.mark.parametrize("query", ["", "  ", "?!", "🎉", "---", "_"])
def test_query_without_words_has_no_terms(query: str) -> None:
    assert text_search.query_terms(query) == []


def test_terms_are_distinct_per_conversation() -> None:
    one, other = (text_search.conversation_terms(name, ["cafe", "北京"]) for name in ("one", "other"))
    assert not set(one) & set(other)
    assert all(word.isalnum() for word in one)


@given(st.text())
def test_terms_are_bounded_and_a_text_matches_itself(text: str) -> None:
    indexed = text_search.index_terms(text)
    assert all(word and " " not in word and len(word) <= text_search.MAX_TERM_CHARACTERS for word in indexed)
    assert set(text_search.query_terms(text)) <= set(indexed)
