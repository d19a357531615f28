"""Finds the name of the machine's time zone, which is the default of a workspace."""

import os
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

LOCAL_TIME = Path("/etc/localtime")
NAME = Path("/etc/timezone")
DATABASE = "zoneinfo/"
OTHERWISE = "UTC"


def system_zone() -> str:
    """Returns the name of the machine's time zone, or UTC if it can't be found."""
    names = (os.environ.get("TZ", "").removeprefix(":"), _linked(), _written())
    return next((name for name in names if is_zone(name)), OTHERWISE)


def is_zone(name: str) -> bool:
    try:
        return bool(name) and bool(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False


def _linked() -> str:
    """Returns the name from `/etc/localtime`, which most systems link to the file of the zone."""
    try:
        return str(LOCAL_TIME.readlink()).rpartition(DATABASE)[2]
    except OSError:
        return ""


def _written() -> str:
    """Returns the name from `/etc/timezone`, for systems whose `/etc/localtime` is a copy."""
    try:
        return NAME.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
