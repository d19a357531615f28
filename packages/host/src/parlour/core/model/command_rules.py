"""How chat commands are written, and which of them only admins of a group may use. Both can change at run time."""

from collections.abc import Sequence

from .event import EventEnvelope
from .preview import as_judged

ADMIN_ROLES = ("owner", "admin")
"""Roles of senders in a group that may use every command."""


class CommandRules:
    """The prefixes of commands, and the commands of admins."""

    def __init__(self, prefixes: Sequence[str] = ("/",), admin_commands: Sequence[str] = ()) -> None:
        self._prefixes = tuple(prefixes)
        self._admin_commands = frozenset(admin_commands)

    def change(self, prefixes: Sequence[str], admin_commands: Sequence[str]) -> None:
        """Replaces the rules."""
        self._prefixes = tuple(prefixes)
        self._admin_commands = frozenset(each.lstrip("/") for each in admin_commands)

    @property
    def prefix(self) -> str:
        """The prefix with which the Host writes commands."""
        return self._prefixes[0] if self._prefixes else "/"

    def parse(self, text: str) -> tuple[str, str]:
        """Returns the name and the arguments of a command; two empty texts if the text is none."""
        text = text.strip()
        prefix = next((each for each in self._prefixes if text.startswith(each)), "")
        if not prefix:
            return "", ""
        words = text.removeprefix(prefix).split(maxsplit=1)
        if not words or text[len(prefix)].isspace():
            return "", ""
        return words[0], words[1] if len(words) > 1 else ""

    def allows(self, name: str, event: EventEnvelope) -> bool:
        """Returns whether the sender may use a command. In private chats everyone may use all of them."""
        event = as_judged(event)
        if name not in self._admin_commands or event.data.get("chat_type") != "group":
            return True
        return event.actor.data.get("role") in ADMIN_ROLES
