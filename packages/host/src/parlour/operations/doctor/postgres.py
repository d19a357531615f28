"""Checks whether a PostgreSQL server keeps the Host's promises: durability, replicas, connections and clock."""

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from parlour.app.settings import HostSettings
from parlour.core.journal import StorageFailed

from .finding import Finding, ok, warning

if TYPE_CHECKING:
    from parlour.stores.postgres.server_facts import ServerFacts

MIN_FREE_CONNECTIONS = 8
"""Connections that a Host opens, with some for commands beside it."""
MAX_CLOCK_DIFFERENCE_SECONDS = 2.0


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    url = settings.database.url.get_secret_value()
    if not url:
        return
    try:
        from parlour.stores.postgres.server_facts import read_server_facts

        facts = await read_server_facts(url)
    except (StorageFailed, ModuleNotFoundError):
        return  # the storage check reports it
    findings = list(find_problems(facts))
    for finding in findings:
        yield finding
    if not findings:
        yield ok("postgresql", f"it flushes commits, and has {facts.free_connections} free connections")


def find_problems(facts: "ServerFacts") -> Iterator[Finding]:
    """Yields a warning for each promise that the server does not keep."""
    off = [name for name, is_on in (("fsync", facts.flushes), ("full_page_writes", facts.repairs_pages)) if not is_on]
    if off:
        sentence = f"{' and '.join(off)} is off: accepted messages are lost when its machine fails"
        yield warning("postgresql", sentence, f"set {' and '.join(off)} to on in its configuration")
    if facts.is_pooled:
        sentence = "a connection pooler such as PgBouncer is between: locks, notices and temporary functions get lost"
        yield warning("postgresql", sentence, "name the server itself in database.url")
    if facts.waits_for_standby and not facts.commits_wait:
        sentence = "synchronous_commit is 'local': commits wait for no standby, and a failover loses accepted messages"
        yield warning("postgresql", sentence, "set synchronous_commit to on")
    if facts.replicas and not facts.waits_for_standby:
        sentence = "it has replicas, and commits wait for none: a failover loses accepted messages"
        yield warning("postgresql", sentence, "name the replicas in synchronous_standby_names")
    if facts.free_connections < MIN_FREE_CONNECTIONS:
        sentence = f"it has {max(0, facts.free_connections)} connections left, and a Host opens {MIN_FREE_CONNECTIONS}"
        yield warning("postgresql", sentence, "raise max_connections, or close other programs' connections")
    if abs(facts.clock_ahead_seconds) > MAX_CLOCK_DIFFERENCE_SECONDS:
        direction = "ahead of" if facts.clock_ahead_seconds > 0 else "behind"
        sentence = f"its clock is {abs(facts.clock_ahead_seconds):.1f} s {direction} this machine's"
        yield warning("postgresql", sentence, "synchronize the clocks of both machines, with NTP for example")
