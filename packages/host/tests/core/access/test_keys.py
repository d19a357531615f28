"""API keys: shown once, kept as a digest, dead when revoked."""

import asyncio

from parlour.core.access.keys import ApiKeys
from parlour.core.journal import Select, Unit, Update, where
from parlour.core.store.tables import API_KEYS, AUDIT

from ..support import EPOCH, BreakableJournal, CountedIds, LoopClock


def keyring() -> tuple[ApiKeys, BreakableJournal]:
    journal = BreakableJournal()
    return ApiKeys(journal, CountedIds(), LoopClock()), journal


async def test_a_key_opens_what_it_was_made_for() -> None:
    keys, _ = keyring()
    secret, _ = await keys.create("phone", "chat")
    key = await keys.authenticate(secret)
    assert key is not None
    assert (key.name, key.scope) == ("phone", "chat")


async def test_a_secret_that_is_not_a_key_opens_nothing() -> None:
    keys, _ = keyring()
    secret, _ = await keys.create("phone", "chat")
    assert await keys.authenticate(secret + "x") is None
    assert await keys.authenticate("") is None
    assert await keys.authenticate("\ud800") is None


async def test_the_secret_is_nowhere_in_the_database() -> None:
    keys, journal = keyring()
    secret, _ = await keys.create("phone", "chat")
    assert secret.removeprefix("parlour_") not in repr(journal.database.rows(API_KEYS)._all)


async def test_a_revoked_key_fails_on_its_next_use_and_can_not_be_revoked_again() -> None:
    keys, _ = keyring()
    secret, _ = await keys.create("phone", "chat")
    [key] = await keys.all()
    await asyncio.sleep(1)
    assert await keys.revoke(key.key_id)
    assert await keys.authenticate(secret) is None
    assert not await keys.revoke(key.key_id)


async def test_a_key_past_its_expiry_fails() -> None:
    keys, journal = keyring()
    secret, _ = await keys.create("phone", "chat")
    [key] = await keys.all()
    expiry = Update(API_KEYS, {"expires_at": EPOCH + 1000}, where(key_id=key.key_id))
    await journal.commit(Unit("test", (expiry,)))
    assert await keys.authenticate(secret) is not None
    await asyncio.sleep(1)
    assert await keys.authenticate(secret) is None


async def test_making_and_revoking_a_key_are_audited_without_the_secret() -> None:
    keys, journal = keyring()
    secret, _ = await keys.create("phone", "chat")
    [key] = await keys.all()
    await keys.revoke(key.key_id)
    entries = journal.database.read(Select(AUDIT, order=("seq",)))
    assert [(entry["action"], entry["resource"]) for entry in entries] == [
        ("key.create", key.key_id),
        ("key.revoke", key.key_id),
    ]
    assert secret.removeprefix("parlour_") not in repr(entries)
