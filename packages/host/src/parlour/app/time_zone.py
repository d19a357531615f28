"""The time zone of the machine by its name, as far as that can be told: what a workspace has that names none."""

import os
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

LOCAL_TIME = Path("/etc/localtime")
NAME = Path("/etc/timezone")
DATABASE = "zoneinfo/"
OTHERWISE = "UTC"


def system_zone() -> str:
    names = (os.environ.get("TZ", "").removeprefix(":"), _linked(), _written())
    return next((name for name in names if is_zone(name)), OTHERWISE)


def is_zone(name: str) -> bool:
    try:
        return bool(name) and bool(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False


def _linked() -> str:
    """Most systems link their local time to the file of the zone."""
    try:
        return str(LOCAL_TIME.readlink()).rpartition(DATABASE)[2]
    except OSError:
        return ""


def _written() -> str:
    """Some have a copy there, and the name beside it."""
    try:
        return NAME.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
