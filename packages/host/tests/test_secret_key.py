"""Tests encrypted secrets: they are unreadable without the key file, and only its owner can read the key file."""

import stat
from pathlib import Path

import pytest

from parlour.app.secret_key import FileSecretBox
from parlour.core.secrets import SecretUnreadable


def test_a_sealed_secret_opens_with_the_same_key_file(tmp_path: Path) -> None:
    sealed = FileSecretBox(tmp_path / "secret.key").seal("token 秘密")

    assert "token" not in sealed
    assert FileSecretBox(tmp_path / "secret.key").open(sealed) == "token 秘密"


def test_the_same_secret_is_sealed_differently_each_time(tmp_path: Path) -> None:
    box = FileSecretBox(tmp_path / "secret.key")

    assert box.seal("token") != box.seal("token")


def test_only_the_owner_can_read_the_key_file(tmp_path: Path) -> None:
    FileSecretBox(tmp_path / "secret.key").seal("token")

    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret.key"]


@pytest.mark.parametrize("sealed", ["", "not sealed at all", "AAAA"])
def test_an_undecryptable_value_is_reported_with_the_remedy(tmp_path: Path, sealed: str) -> None:
    with pytest.raises(SecretUnreadable, match="put the key file of this database back"):
        FileSecretBox(tmp_path / "secret.key").open(sealed)


def test_another_key_does_not_open_a_sealed_secret(tmp_path: Path) -> None:
    sealed = FileSecretBox(tmp_path / "one.key").seal("token")

    with pytest.raises(SecretUnreadable):
        FileSecretBox(tmp_path / "other.key").open(sealed)
