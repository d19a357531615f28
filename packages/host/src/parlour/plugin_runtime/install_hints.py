"""Adds hints for operators to errors about packages that can't be installed. The cause itself comes from uv."""

import re
from collections.abc import Sequence

INDEX = "uv's variable UV_DEFAULT_INDEX where Parlour runs"
_ADDRESS = re.compile(r"(?:Failed to fetch:? |for url \()[`']?(https?://[^\s`')]+)")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")
_UNKNOWN = ("not found", "no version", "unsatisfiable")


def _package_hint(reason: str, output: Sequence[str]) -> str:
    """Returns a remedy for this reason and the output lines of the build; empty if the reason names its own."""
    if any(phrase in reason for phrase in _UNKNOWN):
        return f"correct the plugin's requirements, or name an index that has the package with {INDEX}"
    match = next((each for each in map(_ADDRESS.search, reversed(output)) if each), None)
    if match is None:
        return ""
    address = _CREDENTIALS.sub("", match.group(1))
    return f"{address} could not be fetched: let this machine reach it, or name another index with {INDEX}"


def with_hint(error: Exception, output: Sequence[str]) -> str:
    """Returns the error's message, followed by a remedy if there is one."""
    return "; ".join(filter(None, (str(error), _package_hint(str(error), output))))
