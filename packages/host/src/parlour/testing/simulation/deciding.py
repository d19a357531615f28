"""Simulates users who see approval buttons: an authorized one decides early, late, twice or never;
another one tries.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import field

from parlour.core.delivery.rendering.components import APPROVAL_ACTION_ID
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import EventId
from parlour_sdk.values import dataclass

from .bot import BOT, Bubble, Chats
from .world import World

BOSS = "boss"
SECONDS = 200.0
"""Seconds that a question waits for a decision."""
WAYS: tuple[tuple[tuple[str, str, bool], ...], ...] = (
    ((BOSS, "approve", True),),
    ((BOSS, "deny", True),),
    ((BOSS, "approve", True), (BOSS, "approve", True)),
    ((BOSS, "approve", True), (BOSS, "deny", True)),
    (("ann", "approve", True), (BOSS, "approve", True)),
    ((BOSS, "approve", False),),
    (("ann", "approve", True),),
    (),
)
"""The decisions of each way: user, decision, and True for a button or False for text."""


@dataclass(slots=True)
class Decision:
    """Describes a user's action, which the platform reports until it is accepted."""

    event_id: EventId
    person: str
    words: str
    pressed: bool
    bubble: Bubble
    accepted: bool = False

    @property
    def keyword(self) -> str:
        return self.words.split()[1]

    def event(self) -> EventEnvelope:
        chat = {"chat_type": "group", "chat_id": self.bubble.chat_id}
        press = {"action_id": APPROVAL_ACTION_ID, "value": self.words, "message_id": self.bubble.message_id}
        return EventEnvelope(
            event_id=self.event_id,
            event_type="interaction.received" if self.pressed else "message.received",
            source="fake",
            chat=f"group:{self.bubble.chat_id}",
            context=EventContext(self.event_id),
            surface="platform",
            bot_id=BOT,
            actor=Participant("user", self.person),
            input={} if self.pressed else {"text": self.words},
            data={**chat, **press} if self.pressed else chat,
        )


@dataclass(slots=True)
class Deciders:
    seen: set[str] = field(default_factory=set)
    decisions: list[Decision] = field(default_factory=list)

    async def look(self, world: World, chats: Chats, deliver: Callable[[EventEnvelope], Awaitable[object]]) -> None:
        """Continues until it is cancelled."""
        while True:
            await asyncio.sleep(0.05 + world.dice.random())
            for bubble in [each for each in chats.bubbles if each.buttons and each.message_id not in self.seen]:
                self.seen.add(bubble.message_id)
                self._decide(world, bubble)
            for decision in [each for each in self.decisions if not each.accepted]:
                world.hasten()
                await deliver(decision.event())
                decision.accepted = True

    def _decide(self, world: World, bubble: Bubble) -> None:
        keyword = bubble.buttons[0].split()[1]
        for user, verdict, pressed in world.dice.choice(WAYS):
            event_id = EventId(f"decision{len(self.decisions)}")
            self.decisions.append(Decision(event_id, user, f"{verdict} {keyword}", pressed, bubble))
