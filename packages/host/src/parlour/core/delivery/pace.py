"""Keeps to what a chat takes per second."""

import asyncio

REMEMBERED = 10_000


class Pace:
    def __init__(self) -> None:
        self._free_at: dict[str, float] = {}

    async def turn(self, chat: str, per_second: float) -> None:
        """Returns when the next message may go to this chat."""
        now = asyncio.get_running_loop().time()
        at = max(now, self._free_at.get(chat, now))
        self._free_at[chat] = at + 1 / per_second
        if len(self._free_at) > REMEMBERED:
            self._free_at = {name: free for name, free in self._free_at.items() if free > now}
        if at > now:
            await asyncio.sleep(at - now)
