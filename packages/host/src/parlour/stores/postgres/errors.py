"""Translates errors of PostgreSQL into messages that an operator can act on. No message contains a password."""

import asyncpg  # type: ignore[import-untyped]

from parlour.core.journal import StorageFailed

ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""Everything that the driver raises except for mistakes in the program."""
READ_ONLY = "25006"
RETRYABLE_STATES = {"40001", "40P01"}
"""Serialization failure and deadlock: a retry may succeed."""
_CONNECTION_ENDED_STATES = {"57P01", "57P02", "57P03", "57P05"}
"""States in which the server ends the connection: it shuts down, has crashed, is starting, or found us idle for too
long."""

_UNREACHABLE = (
    "storage_unreachable",
    "PostgreSQL does not answer at '{name}' ({detail}): start it, or correct host and port in database.url.",
)
_REFUSED = (
    "storage_refused",
    "PostgreSQL at '{name}' refuses the user or the password: correct them in database.url, or let the user in.",
)
_ABSENT = (
    "storage_absent",
    "The database of '{name}' does not exist: create it (createdb), or correct its name in database.url.",
)
_CROWDED = (
    "storage_busy",
    "PostgreSQL at '{name}' has no connection left: close other programs' connections, or raise max_connections.",
)
_FULL = (
    "storage_full",
    "PostgreSQL at '{name}' has no room to write: free disk space there; Parlour goes on as soon as there is room.",
)
_BUSY = (
    "storage_busy",
    "What is to be written to '{name}' is locked by another program: end what holds it (an open transaction, a "
    "backup, a database browser) and retry.",
)
_READONLY = (
    "storage_readonly",
    "'{name}' can't be written: it is a standby or set to read-only; name the primary server in database.url.",
)
_FORBIDDEN = (
    "storage_readonly",
    "The user of '{name}' lacks rights ({detail}): make it the owner of the database, or grant it CREATE on the "
    "schema, TEMPORARY on the database, and all rights on Parlour's tables.",
)
_CORRUPT = ("storage_corrupt", "'{name}' is damaged ({detail}): restore a backup.")
_UNFIT = (
    "storage_failed",
    "A value can't be kept in '{name}': a number is beyond 64 bits, or a text holds half a surrogate pair.",
)
_LONG = (
    "storage_failed",
    "A name or an id is too long for '{name}': what a row is found by may have some 2,600 bytes together.",
)
_FENCED = (
    "storage_fenced",
    "Other Hosts have taken over the work of this one, because it did not renew its lease in '{name}': it must be "
    "started again.",
)
_OTHER = ("storage_failed", "The database '{name}' could not do it: {detail}.")

_BY_STATE = {
    "28000": _REFUSED,
    "28P01": _REFUSED,
    "3D000": _ABSENT,
    "53300": _CROWDED,
    "53100": _FULL,
    "55P03": _BUSY,
    "40001": _BUSY,
    "40P01": _BUSY,
    READ_ONLY: _READONLY,
    "42501": _FORBIDDEN,
    "54000": _LONG,
    "PLF01": _FENCED,
    "XX001": _CORRUPT,
    "XX002": _CORRUPT,
    **dict.fromkeys(_CONNECTION_ENDED_STATES, _UNREACHABLE),
}


def sqlstate(error: BaseException) -> str:
    """Returns the error's SQLSTATE; empty if it did not come from the server."""
    return error.sqlstate or "" if isinstance(error, asyncpg.PostgresError) else ""


def is_connection_lost(error: BaseException) -> bool:
    """Returns whether the connection is lost, so that the outcome of the request is unknown."""
    code = sqlstate(error)
    if code:
        return code.startswith("08") or code in _CONNECTION_ENDED_STATES
    return isinstance(error, OSError | asyncpg.InternalClientError) or (
        isinstance(error, asyncpg.InterfaceError) and not isinstance(error, ValueError)
    )


def storage_failure(error: BaseException, name: str) -> StorageFailed:
    detail = (error.strerror if isinstance(error, OSError) else "") or str(error) or "no answer in time"
    if is_connection_lost(error) and sqlstate(error) not in _BY_STATE:
        failure = _sentence(_UNREACHABLE, name, detail)
    else:
        failure = failure_from_state(sqlstate(error), detail, name)
    failure.__cause__ = error
    return failure


def failure_from_state(code: str, detail: str, name: str) -> StorageFailed:
    """Returns the failure for an SQLSTATE and the server's message."""
    kind = _UNFIT if code.startswith("22") else _BY_STATE.get(code, _OTHER)  # the detail would repeat the value
    return _sentence(kind, name, detail)


def _sentence(kind: tuple[str, str], name: str, detail: str) -> StorageFailed:
    code, sentence = kind
    return StorageFailed(code, sentence.format(name=name, detail=detail.rstrip(".")))
