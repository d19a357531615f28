"""Checks what a Host needs to share its database with others: shared stores, one key, and ways to the other Hosts."""

from collections.abc import AsyncIterator

import aiohttp

from parlour.app.cluster.requirements import KEY_DIGEST, require_shared_stores
from parlour.app.data_directory import DataDirectory
from parlour.app.secret_key import FileSecretBox
from parlour.app.settings import ConfigurationInvalid, HostSettings
from parlour.core.cluster import roster
from parlour.core.cluster.roster import HostRecord
from parlour.core.encoding import loads
from parlour.core.journal import Journal, Select, StorageFailed, where
from parlour.core.store.tables import META
from parlour.stores.factory import current_revision, open_journal
from parlour.stores.migrate import HEAD

from .finding import Finding, ok, problem, warning

ANSWER_SECONDS = 3.0


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    """Yields nothing for a Host that has its database to itself."""
    if not settings.cluster.enabled:
        return
    try:
        require_shared_stores(settings)
    except ConfigurationInvalid as error:
        yield problem("cluster", str(error), "correct the settings; the Host does not start otherwise")
        return
    if not settings.cluster.address:
        sentence = (
            "cluster.address is empty: other Hosts can't pass requests to this one, so their clients get no live text"
        )
        yield warning("cluster", sentence, "set cluster.address to the address at which they reach this Host")
    directory, url = DataDirectory(settings.data), settings.database.url.get_secret_value()
    try:
        if await current_revision(url, directory.database) != HEAD:
            return
        async with open_journal(url, directory.database) as journal:
            yield await _key(journal, FileSecretBox(directory.secret_key))
            async for finding in _hosts(journal):
                yield finding
    except (StorageFailed, ModuleNotFoundError):
        return  # the storage check reports it


async def _key(journal: Journal, key_file: FileSecretBox) -> Finding:
    rows = await journal.read(Select(META, where(name=KEY_DIGEST), ("value",)))
    if not rows:
        return ok("cluster", "no Host has stored the digest of its key yet")
    if not key_file.files.current.exists() or loads(rows[0]["value"]) not in key_file.digests():
        sentence = "secret.key is not the key of the other Hosts: this Host does not start"
        return problem("cluster", sentence, f"copy the file secret.key of another Host to {key_file.files.current}")
    return ok("cluster", "secret.key is the key of the other Hosts")


async def _hosts(journal: Journal) -> AsyncIterator[Finding]:
    live = [each for each in (await roster.read_state(journal)).hosts if each.is_live]
    timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as client:
        for host in live:
            yield await _way_to(host, client)


async def _way_to(host: HostRecord, client: aiohttp.ClientSession) -> Finding:
    if not host.address:
        sentence = f"the Host '{host.name}' has no address: requests about its work can't be passed on"
        return warning("cluster", sentence, "set cluster.address there")
    try:
        async with client.get(f"{host.address.rstrip('/')}/healthz") as answer:
            answer.raise_for_status()
    except (aiohttp.ClientError, TimeoutError) as error:
        sentence = f"the Host '{host.name}' can't be reached at {host.address}: {error or 'no answer'}"
        return warning("cluster", sentence, "correct its cluster.address, or let this machine through its firewall")
    return ok("cluster", f"the Host '{host.name}' answers at {host.address}")
