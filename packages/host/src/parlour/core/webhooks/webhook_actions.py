"""Builds rows for actions that a webhook's response requests and its route allows: like a run's actions, without
approval.
"""

from typing import Any

from parlour.core.approvals.payloads import outside_a_run
from parlour.core.delivery.action_rows import Executor
from parlour.core.delivery.composer import Composed
from parlour.core.errors import Refused
from parlour.core.model.delivery_policy import DEFAULT
from parlour.core.model.event import RecordedEvent
from parlour.core.model.providers import ProviderFailed
from parlour.core.platforms import actions
from parlour.core.platforms.actions import TARGET_PARTS
from parlour.core.platforms.connections import RunningBots
from parlour.core.store import outbox_rows

_OTHER_NAMES = {"target_type": "chat_type", "target_id": "chat_id"}
"""Names of the platform API that are accepted besides those of actions."""

NAMING = frozenset(("message.send", "platform.call"))
"""Actions for which the webhook may name the target if its route lists them; all others stay with the event's own chat
and request.
"""


class WebhookActions:
    def __init__(self, bots: RunningBots, executor: Executor) -> None:
        self._bots = bots
        self._executor = executor

    def rows(self, event: RecordedEvent, action: str, params: dict[str, Any], run_id: str = "") -> Composed:
        """Returns the rows of an action. Raises ProviderFailed if the platform does not support it or a parameter is
        invalid.
        """
        try:
            frozen = self._frozen(event, action, params)
        except Refused as refusal:
            raise ProviderFailed(refusal.code, refusal.message) from refusal
        rows = self._executor.rows(frozen, event.conversation_id, run_id)
        return Composed(rows, [outbox_rows.put(row) for row in rows])

    def _frozen(self, event: RecordedEvent, action: str, params: dict[str, Any]) -> dict[str, Any]:
        named = {_OTHER_NAMES.get(name, name): value for name, value in params.items()}
        target = {name: value for name, value in named.items() if name in TARGET_PARTS}
        payload = {name: value for name, value in named.items() if name not in TARGET_PARTS}
        manifest = self._bots.manifest(event.envelope.bot_id)
        if manifest is None:
            raise Refused("not_found", "the bot was deleted")
        if "bot_id" in target:
            raise Refused("denied", "a webhook acts through the bot of its own event")
        wanted = actions.wanted(event, action, target, payload, outside_a_run(manifest, DEFAULT))
        if wanted.elsewhere and action not in NAMING:
            raise Refused("denied", "it names another chat or request than the event's own")
        if wanted.messages and manifest.message_ids == "account":
            raise Refused(
                "denied", "on this platform a message's id does not tell its chat; it may name the event's own"
            )
        actions.check_declared(wanted.calls, manifest)
        return wanted.frozen()
