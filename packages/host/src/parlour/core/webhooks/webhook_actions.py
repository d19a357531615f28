"""Builds rows for actions that a webhook's response requests and its route allows: like a run's actions, without
approval.
"""

from typing import Any

from parlour.core.approvals.action_parser import chains_without_run
from parlour.core.delivery.action_rows import ActionRowFactory
from parlour.core.delivery.composer import ComposedRows
from parlour.core.errors import CallRejected
from parlour.core.model.delivery_policy import DEFAULT_DELIVERY_POLICY
from parlour.core.model.event import RecordedEvent
from parlour.core.model.providers import ProviderFailed
from parlour.core.platforms import actions
from parlour.core.platforms.actions import TARGET_FIELDS
from parlour.core.platforms.connections import PlatformBots
from parlour.core.store import outbox_rows

_TARGET_ALIASES = {"target_type": "chat_type", "target_id": "chat_id"}
"""Names of the platform API that are accepted besides those of actions."""

ACTIONS_WITH_TARGET = frozenset(("message.send", "platform.call"))
"""Actions for which the webhook may name the target if its route lists them; all others stay with the event's own chat
and request.
"""


class WebhookActions:
    def __init__(self, bots: PlatformBots, executor: ActionRowFactory) -> None:
        self._bots = bots
        self._executor = executor

    def compose(self, event: RecordedEvent, action: str, params: dict[str, Any], run_id: str = "") -> ComposedRows:
        """Returns the rows of an action. Raises ProviderFailed if the platform does not support it or a parameter is
        invalid.
        """
        try:
            frozen = self._parse_action(event, action, params)
        except CallRejected as refusal:
            raise ProviderFailed(refusal.code, refusal.message) from refusal
        rows = self._executor.create_rows(frozen, event.conversation_id, run_id)
        return ComposedRows(rows, [outbox_rows.insert(row) for row in rows])

    def _parse_action(self, event: RecordedEvent, action: str, params: dict[str, Any]) -> dict[str, Any]:
        named = {_TARGET_ALIASES.get(name, name): value for name, value in params.items()}
        target = {name: value for name, value in named.items() if name in TARGET_FIELDS}
        payload = {name: value for name, value in named.items() if name not in TARGET_FIELDS}
        manifest = self._bots.manifest(event.envelope.bot_id)
        if manifest is None:
            raise CallRejected("not_found", "the bot was deleted")
        if "bot_id" in target:
            raise CallRejected("denied", "a webhook acts through the bot of its own event")
        wanted = actions.parse_action(
            event, action, target, payload, chains_without_run(manifest, DEFAULT_DELIVERY_POLICY)
        )
        if wanted.elsewhere and action not in ACTIONS_WITH_TARGET:
            raise CallRejected("denied", "it names another chat or request than the event's own")
        if wanted.message_ids and manifest.message_ids == "account":
            raise CallRejected(
                "denied", "on this platform a message's id does not tell its chat; it may name the event's own"
            )
        actions.check_declared(wanted.calls, manifest)
        return wanted.to_stored()
