"""Finds the name of the machine's time zone, which is the default of a workspace."""

import os
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

LOCAL_TIME_FILE = Path("/etc/localtime")
ZONE_NAME_FILE = Path("/etc/timezone")
ZONE_PATH_MARKER = "zoneinfo/"
FALLBACK_ZONE = "UTC"


def system_zone() -> str:
    """Returns the name of the machine's time zone, or UTC if it can't be found."""
    names = (os.environ.get("TZ", "").removeprefix(":"), _zone_from_link(), _zone_from_file())
    return next((name for name in names if is_zone(name)), FALLBACK_ZONE)


def is_zone(name: str) -> bool:
    try:
        return bool(name) and bool(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False


def _zone_from_link() -> str:
    """Returns the name from `/etc/localtime`, which most systems link to the file of the zone."""
    try:
        return str(LOCAL_TIME_FILE.readlink()).rpartition(ZONE_PATH_MARKER)[2]
    except OSError:
        return ""


def _zone_from_file() -> str:
    """Returns the name from `/etc/timezone`, for systems whose `/etc/localtime` is a copy."""
    try:
        return ZONE_NAME_FILE.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
