"""Composed ids are split into the same parts again, and keys are stable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.platforms._kit.ids import compose_id, short_key, split_id, uuid_key


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_a_composed_id_is_split_without_loss(parts: list[str]) -> None:
    assert split_id(compose_id(*parts), len(parts)) == tuple(parts)


@given(st.text(), st.integers(1, 4))
def test_any_text_is_split_into_what_composes_it_or_refused(text: str, count: int) -> None:
    try:
        parts = split_id(text, count)
    except ValueError:
        return
    assert compose_id(*parts) == text


def test_usual_ids_stay_readable() -> None:
    assert compose_id("user", "1000002") == "user|1000002"


@pytest.mark.parametrize(("text", "count"), [("a", 2), ("a|b|c", 2), ("a%2", 1), ("%41", 1)])
def test_an_id_that_was_not_composed_is_refused(text: str, count: int) -> None:
    with pytest.raises(ValueError, match=r"parts|escape"):
        split_id(text, count)


@given(st.text(), st.integers(8, 40))
def test_a_short_key_is_stable_and_has_letters_and_digits_only(key: str, length: int) -> None:
    assert short_key(key, length) == short_key(key, length)
    assert len(short_key(key, length)) == length
    assert short_key(key, length).isalnum()


def test_different_keys_have_different_short_forms() -> None:
    assert len({short_key(str(number), 25) for number in range(1000)}) == 1000
    assert len({uuid_key(str(number)) for number in range(1000)}) == 1000
