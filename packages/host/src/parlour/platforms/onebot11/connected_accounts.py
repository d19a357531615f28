"""Every account that is connected to any OneBot bot of this Host. Who has which connection, `accounts` knows.

What one of them writes is written by a bot: two bots of one Host must not talk each other into the night.
"""

import time
from collections import defaultdict
from collections.abc import Callable

from parlour_sdk.protocol.people import GroupMember, User
from parlour_sdk.protocol.platform_events import PlatformEvent

BACK_SECONDS = 60.0
"""So long an account that went away is still one of them: a connection that was cut comes back."""

Changed = Callable[[], None]


class Roster:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._connections: defaultdict[str, list[Changed]] = defaultdict(list)
        """By account: whose they are, each known by what it does when others come or go."""
        self._left: dict[str, float] = {}

    def joined(self, account: str, bot: Changed) -> None:
        self._connections[account].append(bot)
        self._tell_others(account, bot)

    def left(self, account: str, bot: Changed) -> None:
        now = self._clock()
        self._left = {each: moment for each, moment in self._left.items() if moment > now - BACK_SECONDS}
        self._connections[account].remove(bot)
        self._tell_others(account, bot)
        if not self._connections[account]:
            del self._connections[account]
            self._left[account] = now

    def shared(self, account: str, bot: Changed) -> bool:
        """Whether it is connected to another bot too."""
        return any(each != bot for each in self._connections.get(account, ()))

    def _tell_others(self, account: str, bot: Changed) -> None:
        for other in self._connections[account]:
            if other != bot:
                other()

    def __contains__(self, user_id: str) -> bool:
        left = self._left.get(user_id)
        return user_id in self._connections or (left is not None and left > self._clock() - BACK_SECONDS)

    def marked(self, event: PlatformEvent) -> PlatformEvent:
        """The event, with whoever of its people is one of them marked as a bot."""
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


ROSTER = Roster()
"""Of this process, which is one Host: bots know nothing of each other, and their accounts meet only here."""
