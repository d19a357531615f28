"""Builds outbox rows for platform actions, so that each call is executed once, in order, with a recorded outcome.

Permissions are checked before this module is used.
"""

from collections.abc import Mapping
from typing import Any

from parlour.core.delivery.outbox import Outbox
from parlour.core.model.ids import ConversationId, OutboxId, RunId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock, Ids
from parlour.core.platforms.connections import PlatformBots

from . import targets
from .composer import EXPIRY_MILLISECONDS
from .targets import PLATFORM


class ActionRowFactory:
    """Turns a stored action into outbox rows."""

    def __init__(self, outbox: Outbox, bots: PlatformBots, ids: Ids, clock: Clock) -> None:
        self._outbox = outbox
        self._bots = bots
        self._ids = ids
        self._clock = clock

    def create_rows(
        self, stored_action: Mapping[str, Any], conversation_id: ConversationId, run_id: RunId
    ) -> list[OutboxRow]:
        """Returns one row per API call of the stored action. They are committed and delivered like any other row."""
        address = {"thread_id": "", **stored_action["address"]}
        reply_target = targets.explicit_target(stored_action["bot_id"], {"chat_type": "", "chat_id": "", **address})
        target = reply_target.target if stored_action["elsewhere"] else conversation_id
        now, bot_id = self._clock.now(), stored_action["bot_id"]
        return [
            OutboxRow(
                outbox_id=OutboxId(self._ids.new()),
                surface=PLATFORM,
                target=target,
                conversation_id=conversation_id,
                bot_id=bot_id,
                run_id=run_id,
                kind="action",
                state=self._outbox.try_reserve(target) if self._bots.is_connected(bot_id) else "pending",
                message={"role": "assistant", "content": stored_action["name"], "call": call},
                address=address,
                feed_seq=0,
                created_at=now,
                expires_at=now + EXPIRY_MILLISECONDS,
            )
            for call in stored_action["calls"]
        ]
