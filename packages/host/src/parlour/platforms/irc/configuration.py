"""Checks what the form of an IRC bot can't express."""

import re
from collections.abc import Mapping
from typing import Any

_NICK = re.compile(r"[A-Za-z\[\]\\`_^{|}][A-Za-z0-9\[\]\\`_^{|}-]{0,49}")
_CHANNEL = re.compile(r"[#&+!][^\x00-\x20,\x07]{1,199}( \S+)?")


def problems(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns the fields that can't be used, each with what is accepted."""
    found = []
    nick = str(config.get("nick") or "").strip()
    if nick and not _NICK.fullmatch(nick):
        found.append(("nick", "letters, digits and -_[]{}|^` are accepted, with no digit in front"))
    channels = config.get("channels")
    if not all(_CHANNEL.fullmatch(str(each).strip()) for each in channels or ()):
        found.append(("channels", "a channel begins with #, as #parlour, followed by its key if it has one"))
    host = str(config.get("host") or "").strip()
    if "/" in host or " " in host:
        found.append(("host", "the name of a server is expected, as irc.example.org, without irc:// and port"))
    return found
