"""Reads what a PostgreSQL server says about itself, for `parlour doctor`."""

from time import time

from parlour.stores.address import redact_password
from parlour_sdk.values import dataclass

from .connection import close, connect
from .errors import ERRORS, storage_failure

LOCK_SECONDS = 1.0
_FACTS = """
    SELECT current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on',
        current_setting('synchronous_standby_names') <> '', (SELECT count(*) FROM pg_stat_replication),
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
            - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int,
        extract(epoch FROM clock_timestamp())::float8,
        current_setting('synchronous_commit') <> 'local', pg_backend_pid()
"""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The state of a server."""

    flushes: bool
    """True if commits survive a crash of the machine (`fsync`)."""
    repairs_pages: bool
    """True if half-written pages are repaired after a crash (`full_page_writes`)."""
    waits_for_standby: bool
    """True if a commit waits for a standby (`synchronous_standby_names`)."""
    replicas: int
    free_connections: int
    clock_ahead_seconds: float
    """Difference between its clock and that of this machine, less half of the time for the answer."""
    commits_wait: bool = True
    """False if commits ignore the standbys (`synchronous_commit` is `local`). A Host replaces `off` by `on` itself."""
    is_pooled: bool = False
    """True if a pooler is between, since it gives out numbers of processes that are not those of the server."""


async def read_server_facts(url: str) -> ServerFacts:
    """Asks the server. Raises StorageFailed."""
    connection = await connect(url, "parlour doctor", LOCK_SECONDS)
    try:
        asked_at = time()
        row = await connection.fetchrow(_FACTS)
        flushes, repairs_pages, waits, replicas, free, server_time, commits_wait, process = row
        clock_ahead = server_time - (asked_at + time()) / 2
        is_pooled = process != connection.get_server_pid()
        return ServerFacts(flushes, repairs_pages, waits, replicas, free, clock_ahead, commits_wait, is_pooled)
    except ERRORS as error:
        raise storage_failure(error, redact_password(url)) from error
    finally:
        await close(connection)
