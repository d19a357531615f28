"""A Host refuses a cluster in which its data would be lost or unreadable, and says what to do."""

from pathlib import Path
from typing import Any

import pytest

from parlour.app.cluster.requirements import require_same_key, require_shared_stores
from parlour.app.secret_key import FileSecretBox
from parlour.app.settings import ConfigurationInvalid, HostSettings
from parlour.testing.memory_journal import MemoryDatabase, MemoryJournal

S3 = {"endpoint": "http://127.0.0.1:9", "bucket": "b", "access_key": "a", "secret_key": "s"}
SHARED: dict[str, Any] = {
    "cluster": {"enabled": True},
    "database": {"url": "postgresql://host/name"},
    "artifacts": {"store": "s3", "s3": S3},
}


def test_a_cluster_with_shared_stores_is_accepted() -> None:
    require_shared_stores(HostSettings.model_validate(SHARED))


@pytest.mark.parametrize(
    ("section", "value", "named"),
    [
        ("database", {}, "database.url"),
        ("artifacts", {"store": "folder", "s3": S3}, "artifacts.store"),
        ("runtime", {"url": "ws://127.0.0.1:5310", "token": "t" * 32}, "runtime.url"),
    ],
)
def test_a_setting_that_keeps_data_on_one_host_is_refused_by_name(section: str, value: object, named: str) -> None:
    with pytest.raises(ConfigurationInvalid, match=f"cluster.enabled.*{named}"):
        require_shared_stores(HostSettings.model_validate({**SHARED, section: value}))


async def test_a_host_with_the_key_of_the_others_is_accepted_and_one_with_another_key_is_not(tmp_path: Path) -> None:
    journal = MemoryJournal(MemoryDatabase())
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
    for name, key in (("first", b"a"), ("second", b"a"), ("third", b"b")):
        (tmp_path / name / "secret.key").write_bytes(key * 32)
    await require_same_key(journal, FileSecretBox(tmp_path / "first" / "secret.key"))
    await require_same_key(journal, FileSecretBox(tmp_path / "second" / "secret.key"))
    with pytest.raises(ConfigurationInvalid, match="copy the file"):
        await require_same_key(journal, FileSecretBox(tmp_path / "third" / "secret.key"))


async def test_a_key_that_is_being_replaced_is_accepted_and_becomes_the_one_of_the_cluster(tmp_path: Path) -> None:
    journal = MemoryJournal(MemoryDatabase())
    key = tmp_path / "secret.key"
    key.write_bytes(b"a" * 32)
    await require_same_key(journal, FileSecretBox(key))
    (tmp_path / "secret.key.next").write_bytes(b"b" * 32)
    await require_same_key(journal, FileSecretBox(key))
    (tmp_path / "secret.key.next").rename(key)
    await require_same_key(journal, FileSecretBox(key))
    key.write_bytes(b"a" * 32)
    with pytest.raises(ConfigurationInvalid):
        await require_same_key(journal, FileSecretBox(key))
