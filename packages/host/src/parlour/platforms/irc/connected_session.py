"""Holds the session of now, and the channels that the bot joins after each connection."""

from parlour.core.platforms.port import PlatformOffline, PlatformRefused
from parlour.platforms._kit.unreachable import OFFLINE_RETRY_SECONDS

from .lines import format_line
from .session import IrcSession
from .settings import IrcChannelSetting


class ConnectedSession:
    """What the API and the connection share."""

    def __init__(self, channels: tuple[IrcChannelSetting, ...]) -> None:
        self.session: IrcSession | None = None
        self.joined: set[str] = set()
        """Channels beside the configured ones that the bot was asked to join, until the Host restarts."""
        self._configured = channels
        self._keys = {each.name: each.key for each in channels}

    async def join(self, name: str, key: str = "") -> None:
        """Joins a channel, now and after each connection. Raises PlatformRefused if the server does not let the bot."""
        if self.session is None:
            raise PlatformOffline("the bot is not connected to the IRC server", retry_after=OFFLINE_RETRY_SECONDS)
        key = key or self._keys.get(name, "")
        try:
            line = format_line("JOIN", *((name, key) if key else (name,)))
        except ValueError as error:
            raise PlatformRefused(str(error), permanent=True) from None
        await self.session.request([line])
        if name not in self._keys:
            self.joined.add(name)

    async def join_all(self) -> str:
        """Joins all channels after a connection. Returns the problems in a sentence; empty if there is none."""
        problems: dict[str, list[str]] = {}
        for name in (*(each.name for each in self._configured), *sorted(self.joined)):
            try:
                await self.join(name)
            except PlatformRefused as refused:
                if isinstance(refused, PlatformOffline):
                    raise
                problems.setdefault(refused.reason, []).append(name)
        return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in problems.items())
