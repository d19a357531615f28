"""How chat commands are written, and which roles may use them. Both can change at run time."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from .event import EventEnvelope
from .preview import as_judged

CommandRole = Literal["everyone", "admin", "owner", "off"]
"""Who may use a command. `admin` and `owner` are roles in a group; in private chats everyone has them."""
SENDER_ROLES: Mapping[str, tuple[str, ...]] = {"admin": ("owner", "admin"), "owner": ("owner",)}
"""Roles of senders that satisfy a role of a command."""
REFUSALS: Mapping[str, tuple[str, str]] = {
    "admin": ("only an admin may use it", "command.admins"),
    "owner": ("only the owner may use it", "command.owners"),
    "off": ("it is turned off", "command.off"),
}
"""Reason for the trail, and key of the text for the sender, by the role of a command."""


class CommandRules:
    """The prefixes of commands, and the roles that may use them."""

    def __init__(self, prefixes: Sequence[str] = ("/",), roles: Sequence[str] = ()) -> None:
        self._prefixes: tuple[str, ...] = ()
        self._roles: Mapping[str, str] = MappingProxyType({})
        self.change(prefixes, roles)

    def change(self, prefixes: Sequence[str], roles: Sequence[str]) -> None:
        """Replaces the rules. An entry of `roles` is a command with its role, such as `new:admin`."""
        self._prefixes = tuple(prefixes)
        entries = (each.partition(":") for each in roles)
        self._roles = MappingProxyType({name.strip().lstrip("/"): role.strip() for name, _, role in entries})

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
        """Returns whether the sender may use a command."""
        return self.refusal(name, event) is None

    def refusal(self, name: str, event: EventEnvelope) -> tuple[str, str] | None:
        """Returns why the sender may not use a command: reason for the trail, and key of the text for the sender."""
        role = self._roles.get(name, "everyone")
        if role == "everyone":
            return None
        event = as_judged(event)
        is_satisfied = role != "off" and event.data.get("chat_type") != "group"
        if is_satisfied or event.actor.data.get("role") in SENDER_ROLES.get(role, ()):
            return None
        return REFUSALS[role]
