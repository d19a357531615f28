"""A secret is unreadable without its key file, and the key file is its owner's alone."""

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


def test_the_key_file_is_its_owners_alone(tmp_path: Path) -> None:
    FileSecretBox(tmp_path / "secret.key").seal("token")

    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret.key"]


@pytest.mark.parametrize("sealed", ["", "not sealed at all", "AAAA"])
def test_what_was_not_sealed_with_this_key_says_what_to_do(tmp_path: Path, sealed: str) -> None:
    with pytest.raises(SecretUnreadable, match="put the key file of this database back"):
        FileSecretBox(tmp_path / "secret.key").open(sealed)


def test_another_key_does_not_open_it(tmp_path: Path) -> None:
    sealed = FileSecretBox(tmp_path / "one.key").seal("token")

    with pytest.raises(SecretUnreadable):
        FileSecretBox(tmp_path / "other.key").open(sealed)
