"""Tokens of Hosts are found by their value, stored as digests, and gone when revoked."""

import stat
from pathlib import Path

import pytest

from parlour.plugin_runtime.standalone.tokens import Tokens, TokensUnreadable


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path / "tokens.json")


def test_a_token_is_found_only_by_its_exact_value(tokens: Tokens) -> None:
    first, second = tokens.create("first", 1), tokens.create("second", 2)

    found = tokens.find(first)
    assert found is not None
    assert (found.name, found.created_at) == ("first", 1)
    assert [tokens.find(text) for text in ("", first[:-1], f"{second} ", found.digest, "\udc80")] == [None] * 5


def test_only_the_owner_can_read_the_file_and_it_contains_no_token(tokens: Tokens, tmp_path: Path) -> None:
    secret = tokens.create("first", 1)

    file = tmp_path / "tokens.json"
    assert secret not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_revoked_token_is_not_found_and_can_not_be_revoked_again(tokens: Tokens) -> None:
    stored, gone = tokens.create("kept", 1), tokens.create("gone", 1)
    found = tokens.find(gone)
    assert found is not None

    assert tokens.revoke(found.token_id, 5)

    assert tokens.find(gone) is None
    assert not tokens.is_valid(found)
    assert tokens.find(stored) is not None
    assert not tokens.revoke(found.token_id, 6)
    assert [each.revoked_at for each in tokens.all()] == [0, 5]


def test_a_damaged_file_is_named_and_left_alone(tokens: Tokens, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    file.write_text("[{]")

    with pytest.raises(TokensUnreadable, match=r"tokens\.json is damaged"):
        tokens.find("x")
    with pytest.raises(TokensUnreadable):
        tokens.create("another", 1)
    assert file.read_text() == "[{]"
