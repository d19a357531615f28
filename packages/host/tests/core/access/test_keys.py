"""API keys are shown once, stored as a digest, and unusable when revoked or expired."""

import asyncio

from parlour.core.access.keys import ApiKeys
from parlour.core.journal import Select, Unit, Update, where
from parlour.core.store.tables import API_KEYS, AUDIT

from ..support import EPOCH, BreakableJournal, CountedIds, LoopClock


def open_keys() -> tuple[ApiKeys, BreakableJournal]:
    journal = BreakableJournal()
    return ApiKeys(journal, CountedIds(), LoopClock()), journal


async def test_key_authenticates_with_its_name_and_scope() -> None:
    keys, _ = open_keys()
    secret, _ = await keys.create("phone", "chat")
    key = await keys.authenticate(secret)
    assert key is not None
    assert (key.name, key.scope) == ("phone", "chat")


async def test_unknown_secret_is_not_authenticated() -> None:
    keys, _ = open_keys()
    secret, _ = await keys.create("phone", "chat")
    assert await keys.authenticate(secret + "x") is None
    assert await keys.authenticate("") is None
    assert await keys.authenticate("\ud800") is None


async def test_secret_is_not_stored() -> None:
    keys, journal = open_keys()
    secret, _ = await keys.create("phone", "chat")
    assert secret.removeprefix("parlour_") not in repr(journal.database.rows(API_KEYS)._all)


async def test_revoked_key_fails_on_next_use_and_cannot_be_revoked_again() -> None:
    keys, _ = open_keys()
    secret, _ = await keys.create("phone", "chat")
    [key] = await keys.all()
    await asyncio.sleep(1)
    assert await keys.revoke(key.key_id)
    assert await keys.authenticate(secret) is None
    assert not await keys.revoke(key.key_id)


async def test_expired_key_fails() -> None:
    keys, journal = open_keys()
    secret, _ = await keys.create("phone", "chat")
    [key] = await keys.all()
    expiry = Update(API_KEYS, {"expires_at": EPOCH + 1000}, where(key_id=key.key_id))
    await journal.commit(Unit("test", (expiry,)))
    assert await keys.authenticate(secret) is not None
    await asyncio.sleep(1)
    assert await keys.authenticate(secret) is None


async def test_creation_and_revocation_are_audited_without_the_secret() -> None:
    keys, journal = open_keys()
    secret, _ = await keys.create("phone", "chat")
    [key] = await keys.all()
    await keys.revoke(key.key_id)
    entries = journal.database.read(Select(AUDIT, order=("seq",)))
    assert [(entry["action"], entry["resource"]) for entry in entries] == [
        ("key.create", key.key_id),
        ("key.revoke", key.key_id),
    ]
    assert secret.removeprefix("parlour_") not in repr(entries)
