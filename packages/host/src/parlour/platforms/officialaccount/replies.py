"""Passive replies: WeChat takes the reply to a message as the answer to one of its calls about it.

It waits five seconds for an answer and calls again, three times in all, with the same message.
"""

import asyncio
from time import monotonic, time

from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.ids import split_id
from parlour.platforms._kit.payloads import Payload

from .entities import Mode

ANSWER_SECONDS = 4.3
"""Seconds for which a call may wait for its reply; WeChat gives up after five."""
ABANDONED_SECONDS = 5.5
"""Seconds after which WeChat has given up a call and makes the next one."""
ATTEMPTS = 3
OFFER_SECONDS = 16.0
"""Seconds after a message within which another call about it may come."""
BUSY_SECONDS = 10.0
"""Seconds for which a chat counts as one in which an answer is being written, after that was last reported."""


class Exchange:
    """The calls about one message, the first of which that can carries its reply."""

    def __init__(self) -> None:
        self.attempts = 0
        self.is_closed = False
        """True if no call can carry a reply any more."""
        self.storing: asyncio.Task[bool] | None = None
        """Stores the message, while several calls may wait for it."""
        self.reply: Payload | None = None
        self.offered = asyncio.Event()
        self.settled = asyncio.Event()

    def offer(self, reply: Payload) -> bool:
        """Lets the next call take the reply. Returns False if there is none any more."""
        if not self.is_closed:
            self.reply = reply
            self.offered.set()
        return not self.is_closed

    def take(self) -> Payload | None:
        if self.reply is not None:
            self.settled.set()
        return self.reply

    def close(self) -> None:
        self.is_closed = True
        self.settled.set()


class PassiveReplies:
    """Hands the replies of one bot to the calls that wait for them."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._exchanges: BoundedMap[str, Exchange] = BoundedMap(1000)
        self._busy: BoundedMap[str, float] = BoundedMap()
        self._unanswered: BoundedMap[str, bool] = BoundedMap()

    def exchange(self, event_id: str) -> Exchange:
        """Returns the exchange about an event, which a restart forgets."""
        found = self._exchanges.get(event_id)
        if found is None:
            found = Exchange()
            self._exchanges.set(event_id, found)
        return found

    def report_busy(self, chat: str) -> None:
        """Reports that an answer is being written in a chat."""
        self._busy.set(chat, monotonic())

    def is_busy(self, chat: str) -> bool:
        since = self._busy.get(chat)
        return since is not None and monotonic() - since < BUSY_SECONDS

    def is_unanswered(self, chat: str) -> bool:
        """Returns whether a call of this chat ended while its answer was being written."""
        return chat in self._unanswered

    async def wait(self, exchange: Exchange, chat: str, started: float) -> Payload | None:
        """Waits for the reply to a call that arrived at `started`; returns None if WeChat gets no reply from it.

        A mode that waits for further calls lets this one expire, so that WeChat makes the next one.
        """
        try:
            async with asyncio.timeout(started + ANSWER_SECONDS - monotonic()):
                await exchange.offered.wait()
        except TimeoutError:
            pass
        if exchange.reply is not None or exchange.is_closed:
            return exchange.take()
        is_busy = self.is_busy(chat)
        if self._mode == "drop" and is_busy and exchange.attempts < ATTEMPTS:
            await asyncio.sleep(started + ABANDONED_SECONDS - monotonic())
            return None
        exchange.close()
        if is_busy:
            self._unanswered.set(chat, True)
        return None

    async def offer(self, handle: str, chat: str, reply: Payload) -> bool:
        """Offers a reply to the calls about an event. Returns False if none of them can carry it."""
        try:
            event_id, received = split_id(handle, 2)
            until = int(received) / 1000 + OFFER_SECONDS
        except ValueError:
            return False
        exchange = self.exchange(event_id)
        if not exchange.offer(reply):
            return False
        try:
            async with asyncio.timeout(max(0.0, until - time())):
                await exchange.settled.wait()
        except TimeoutError:
            exchange.close()
        if exchange.is_closed:
            exchange.reply = None
            return False
        self._unanswered.pop(chat)
        return True
