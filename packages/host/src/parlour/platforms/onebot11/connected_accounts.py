"""Tracks every account that is connected to any OneBot bot of this Host. `accounts` knows the connections of each bot.

Messages of these accounts are marked as a bot's, so that two bots of one Host do not answer each other endlessly.
"""

import time
from collections import defaultdict
from collections.abc import Callable

from parlour_sdk.protocol.people import GroupMember, User
from parlour_sdk.protocol.platform_events import PlatformEvent

RECONNECT_GRACE_SECONDS = 60.0
"""Seconds for which a disconnected account still counts, because an interrupted connection usually comes back."""

ChangeListener = Callable[[], None]


class ConnectedAccounts:
    """Accounts of all OneBot bots of one Host. Bots know nothing of each other; this is the only object they share."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._connections: defaultdict[str, list[ChangeListener]] = defaultdict(list)
        """Bots that serve each account, each represented by the callback that is called when others connect or
        disconnect.
        """
        self._left: dict[str, float] = {}

    def add(self, account: str, bot: ChangeListener) -> None:
        self._connections[account].append(bot)
        self._notify_others(account, bot)

    def remove(self, account: str, bot: ChangeListener) -> None:
        now = self._clock()
        self._left = {each: moment for each, moment in self._left.items() if moment > now - RECONNECT_GRACE_SECONDS}
        self._connections[account].remove(bot)
        self._notify_others(account, bot)
        if not self._connections[account]:
            del self._connections[account]
            self._left[account] = now

    def is_shared(self, account: str, bot: ChangeListener) -> bool:
        """Returns whether the account is connected to another bot too."""
        return any(each != bot for each in self._connections.get(account, ()))

    def _notify_others(self, account: str, bot: ChangeListener) -> None:
        for other in self._connections[account]:
            if other != bot:
                other()

    def __contains__(self, user_id: str) -> bool:
        left = self._left.get(user_id)
        return user_id in self._connections or (left is not None and left > self._clock() - RECONNECT_GRACE_SECONDS)

    def mark_bots(self, event: PlatformEvent) -> PlatformEvent:
        """Returns the event with every user who is one of these accounts marked as a bot."""
        people = {name: getattr(event, name) for name in type(event).model_fields}
        bots = {name: marked for name, value in people.items() if (marked := self._bot(value)) is not None}
        return event.model_copy(update=bots) if bots else event

    def _bot(self, value: object) -> User | GroupMember | None:
        match value:
            case User() if value.id in self:
                return value.model_copy(update={"is_bot": True})
            case GroupMember() if value.user.id in self:
                return value.model_copy(update={"user": self._bot(value.user)})
        return None
