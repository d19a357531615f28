"""Runs the calls of a bot through the planned faults, and lets tests wait for what the bot does."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from .faults import Refusal, SimulatorFaults

WAIT_SECONDS = 30.0
NEVER_SECONDS = 3600.0
"""An unanswered call waits for this long, which is longer than any test."""


class SentMessage(Protocol):
    """A message of the bot, as its platform shows it."""

    @property
    def text(self) -> str: ...

    @property
    def deleted(self) -> bool: ...


Message = TypeVar("Message", bound=SentMessage)


@dataclass
class SimulatedCall:
    """A call of the bot, unchanged."""

    name: str
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome(Generic[Refusal]):
    """The result of a call or its refusal, and whether the bot gets to know it."""

    result: Any = None
    refusal: Refusal | None = None
    answers: bool = True
    cuts: bool = False


class PlatformSimulator(Generic[Message, Refusal]):
    """Subclasses have the transport and the methods of one platform."""

    def __init__(self, faults: SimulatorFaults[Refusal], sent: list[Message]) -> None:
        self._faults = faults
        self._sent = sent
        self._late: list[Any] = []
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    # --- calls of the bot

    async def perform(
        self, call: str, action: Callable[[], Awaitable[Any]], refusals: type[Refusal]
    ) -> Outcome[Refusal]:
        """Executes a call unless a fault is planned for it. `notify` belongs after the answer, so that a test which
        continues then finds the connection as the fault left it.
        """
        planned = self._faults.next_for(call)
        await self._faults.wait()
        result, refusal = None, planned.refusal if planned is not None else None
        if refusal is None and (planned is None or planned.happens):
            try:
                result = await action()
            except refusals as raised:
                refusal = raised
        return Outcome(result, refusal, planned is None or planned.answers, planned is not None and planned.cuts)

    # --- events for the bot

    def scheduled(self, event: Any) -> Sequence[Any]:
        """Returns what is delivered now: the event, perhaps twice, perhaps only after the next one."""
        if not self._late and self._faults.swaps():
            self._late.append(event)
            return ()
        events = [event, *([event] if self._faults.repeats() else []), *self._late]
        self._late.clear()
        return events

    # --- conditions that tests wait for

    async def until(self, condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(condition)

    async def notify(self) -> None:
        """Lets waiting tests check their conditions."""
        async with self._changed:
            self._changed.notify_all()

    def sent(self, chat: Any = None) -> list[Message]:
        """Returns the bot's messages that are still shown, in all chats or in one."""
        return [each for each in self._sent if not each.deleted and (not chat or self.chat_of(each) == chat)]

    def chat_of(self, message: Message) -> Any:
        """Returns the chat of a message, in the form in which `sent` names chats."""
        return getattr(message, "chat", None)

    def texts(self, chat: Any = None) -> list[str]:
        return [each.text for each in self.sent(chat)]

    async def answered(self, number: int, chat: Any = None, seconds: float = WAIT_SECONDS) -> list[Message]:
        """Waits until the bot has sent this many messages in the chat and returns them."""
        await self.until(lambda: len(self.sent(chat)) >= number, seconds)
        return self.sent(chat)

    # --- work beside the tests

    def begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Starts work that ends with the simulator at the latest."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def end_tasks(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
