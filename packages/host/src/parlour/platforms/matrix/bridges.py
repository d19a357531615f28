"""Knows which rooms lead to another chat network over a bridge, and which of their members is the bot of the bridge.

A bridge describes its rooms by state (MSC 2346). Its bot is in the room beside the ghosts, which are the people of the
other network.
"""

from .values import Payload, mapping, text

BRIDGE_TYPES = ("m.bridge", "uk.half-shot.bridge")
DIRECT_TYPES = ("com.beeper.room_type", "com.beeper.room_type.v2")
PRESENT = ("join", "invite")
OWN_GHOST = 1
"""A direct chat may also have a ghost of the account itself, for what it writes on the other network."""


class Bridge:
    """The bridge of one room, if it has one."""

    def __init__(self, declared_bots: set[str]) -> None:
        self.bots: set[str] = set()
        self._declared_bots = declared_bots
        """Bots that described any room themselves, of all rooms."""
        self.is_direct = False
        """True if the bridge or the account's own data calls the room a direct chat."""
        self._memberships: dict[str, str] = {}

    def apply_state(self, kind: str, event: Payload, content: Payload) -> None:
        if kind not in BRIDGE_TYPES:
            return
        bot = text(content, "bridgebot")
        if bot.startswith("@"):
            self.bots.add(bot)
            if text(event, "sender") == bot:
                self._declared_bots.add(bot)
        if (
            any(text(content, name) == "dm" for name in DIRECT_TYPES)
            or mapping(content.get("channel")).get("dm") is True
        ):
            self.is_direct = True

    def apply_member(self, user_id: str, membership: str) -> None:
        if user_id in self.bots:
            self._memberships[user_id] = membership

    @property
    def unknown_bots(self) -> set[str]:
        """Bots whose membership the homeserver has not reported, as it leaves out members who are silent."""
        return self.bots - set(self._memberships)

    def is_private(self, members: int) -> bool:
        """Returns whether a room with this many members is a chat with one person of the other network."""
        if not self.bots:
            return False
        present = sum(self._memberships.get(each) in PRESENT for each in self.bots)
        people = members - present
        return 0 < people <= 2 or (self.is_direct and people <= 2 + OWN_GHOST)
