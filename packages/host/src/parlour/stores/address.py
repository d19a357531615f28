"""Checks addresses of PostgreSQL databases and formats them for people. Opens no connection."""

import re
from urllib.parse import parse_qs, unquote, urlsplit

ACCEPTED = (
    "must be empty (then facts are kept by SQLite in the data directory) or an address such as "
    "postgresql://USER:PASSWORD@HOST:5432/DATABASE, with @ : / ? # % in user or password written as %40 %3A %2F %3F "
    "%23 %25"
)
_HOST = re.compile(r"(\[[^\]]+\]|[^\[\]:]*)(:\d+)?")


def is_accepted(url: str) -> bool:
    """Returns whether the driver would understand the address as it was meant. False for an empty one."""
    try:
        parts = urlsplit(url)
        parse_qs(parts.query, strict_parsing=bool(parts.query))
    except ValueError:
        return False
    *_, hosts = parts.netloc.split("@")
    return (
        parts.scheme == "postgresql"
        and len(unquote(parts.path)) > 1
        and not parts.fragment
        and parts.netloc.count("@") <= 1
        and all(_HOST.fullmatch(host) for host in hosts.split(","))
    )


def redact_password(url: str) -> str:
    """Returns the address without its password."""
    parts = urlsplit(url)
    login, _, hosts = parts.netloc.rpartition("@")
    user = login.partition(":")[0]
    hosts = hosts or parse_qs(parts.query).get("host", ["localhost"])[-1]
    return f"postgresql://{user}{'@' if user else ''}{hosts}{parts.path}"
