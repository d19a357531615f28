"""Selects what the users of a schedule do: their messages, commands, and the replies that a platform allows."""

import random
from dataclasses import field

from parlour.core.model.ids import EventId
from parlour.core.model.reply_allowance import ReplyAllowance
from parlour_sdk.values import dataclass

from .bot import Chats
from .deciding import Deciders
from .deliveries import Deliveries, plan_deliveries
from .plugin import BEHAVIOURS
from .promises import UserMessage
from .world import EPOCH

SURFACES = ("webui", "api", "sim", "platform", "platform")


@dataclass(slots=True)
class Plan:
    """Holds the messages to be sent, and which of them the Host has accepted."""

    user_messages: list[UserMessage]
    cancels: int
    controls: int = 0
    reruns: int = 0
    pending: list[int] = field(default_factory=list)
    chats: Chats = field(default_factory=Chats)
    deciders: Deciders = field(default_factory=Deciders)
    deliveries: Deliveries = field(default_factory=Deliveries)
    configured: bool = False


def make_plan(dice: random.Random, seed: int) -> Plan:
    """Selects what happens in the schedule of a seed."""
    chats = [(f"chat{number}", dice.choice(SURFACES)) for number in range(dice.randrange(1, 4))]
    user_messages = []
    for number in range(dice.randrange(2, 9)):
        chat, surface = dice.choice(chats)
        text = f"{dice.choice(BEHAVIOURS)} token{number}."
        person, event_id = dice.choice(("ann", "ann", "bob")), EventId(f"event{number}")
        user_messages.append(UserMessage(event_id, chat, surface, person, text))
    limited = random.Random(dice.random())  # other choices stay as they are
    for each in user_messages:
        if each.surface == "sim" and limited.random() < 0.6:
            each.allowance = _allowance(limited, each.event_id)
    return Plan(
        user_messages,
        cancels=dice.choice((0, 0, 1, 2)),
        controls=dice.choice((0, 0, 1, 2)),
        reruns=dice.choice((0, 0, 1, 2)),
        pending=list(range(len(user_messages))),
        deliveries=plan_deliveries(seed),
    )


def _allowance(dice: random.Random, event_id: EventId) -> ReplyAllowance:
    return ReplyAllowance(
        event_id,
        count=dice.choice((1, 1, 2, 3)),
        until=EPOCH + int(dice.choice((0.3, 1, 5000)) * 1000) if dice.random() < 0.5 else 0,
        then=dice.choice(("push", "refuse", "hold")),
        scope=dice.choice(("event", "event", "chat")),
        repeatable=dice.random() < 0.5,
    )
