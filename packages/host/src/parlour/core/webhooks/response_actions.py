"""Reads the actions that a webhook's response requests, and checks them against its route. A reply goes to the chat of
its event; naming another target is a separate action that the route must list.
"""

from dataclasses import field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parlour.core.approvals.action_parser import chains_without_run
from parlour.core.delivery.action_rows import ActionRowFactory
from parlour.core.delivery.composer import ComposedRows
from parlour.core.delivery.service import DeliveryService
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Statement, UnitBuilder
from parlour.core.model.delivery_policy import DEFAULT_DELIVERY_POLICY
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import NO_RUN, RunId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.providers import ProviderFailed
from parlour.core.platforms import actions
from parlour.core.platforms.actions import TARGET_FIELDS
from parlour.core.platforms.connections import PlatformBots
from parlour.core.store import outbox_rows
from parlour_sdk.values import dataclass

from .client import MAX_RESPONSE_BYTES
from .webhook_delivery import WebhookDelivery

MAX_ACTIONS = 20
"""Maximum number of actions in one response."""
ACTION_NAMES = {
    "send_message": "message.send",
    "reply": "message.reply",
    "call_platform_api": "platform.call",
    "answer_friend_request": "friend_request.answer",
    "answer_group_invite": "group_invite.answer",
    "edit_message": "message.edit",
    "delete_message": "message.delete",
}
_TARGET_ALIASES = {"target_type": "chat_type", "target_id": "chat_id"}
"""Names of the platform API that are accepted besides those of actions."""
ACTIONS_WITH_TARGET = frozenset(("message.send", "platform.call"))
"""Actions for which the webhook may name the target if its route lists them; all others stay with the event's own chat
and request.
"""


class RequestedAction(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)

    type: str
    params: dict[str, Any] = {}


class ResponseBody(BaseModel):
    """The body of a response. Actions are validated one by one, so that an invalid one does not affect the others."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    actions: list[Any] = Field(default=[], max_length=MAX_ACTIONS)


@dataclass(slots=True)
class RequestedActions:
    """The rows and the trail text that result from a response."""

    trail_text: str = ""
    rows: list[OutboxRow] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)


class WebhookActions:
    """Builds rows for actions that a route allows: like a run's actions, without approval."""

    def __init__(self, bots: PlatformBots, executor: ActionRowFactory) -> None:
        self._bots = bots
        self._executor = executor

    def compose(
        self, event: RecordedEvent, action: str, params: dict[str, Any], run_id: RunId = NO_RUN
    ) -> ComposedRows:
        """Returns the rows of an action. Raises ProviderFailed if the platform does not support it or a parameter is
        invalid.
        """
        try:
            stored_action = self._parse_action(event, action, params)
        except CallRejected as refusal:
            raise ProviderFailed(refusal.code, refusal.message) from refusal
        rows = self._executor.create_rows(stored_action, event.conversation_id, run_id)
        return ComposedRows(rows, [outbox_rows.insert(row) for row in rows])

    def _parse_action(self, event: RecordedEvent, action: str, params: dict[str, Any]) -> dict[str, Any]:
        arguments = {_TARGET_ALIASES.get(name, name): value for name, value in params.items()}
        target = {name: value for name, value in arguments.items() if name in TARGET_FIELDS}
        payload = {name: value for name, value in arguments.items() if name not in TARGET_FIELDS}
        manifest = self._bots.manifest(event.envelope.bot_id)
        if manifest is None:
            raise CallRejected("not_found", "the bot was deleted")
        if "bot_id" in target:
            raise CallRejected("denied", "a webhook acts through the bot of its own event")
        parsed = actions.parse_action(
            event, action, target, payload, chains_without_run(manifest, DEFAULT_DELIVERY_POLICY)
        )
        if parsed.elsewhere and action not in ACTIONS_WITH_TARGET:
            raise CallRejected("denied", "it names another chat or request than the event's own")
        if parsed.message_ids and manifest.message_ids == "account":
            raise CallRejected(
                "denied", "on this platform a message's id does not tell its chat; it may name the event's own"
            )
        actions.check_declared(parsed.calls, manifest)
        return parsed.to_stored()


class WebhookResponses:
    """Turns responses of webhooks into outbox rows."""

    def __init__(self, delivery: DeliveryService, rows: WebhookActions, journal: Journal) -> None:
        self._delivery = delivery
        self._actions = rows
        self._journal = journal

    def read(self, call: WebhookDelivery, event: RecordedEvent, body: bytes) -> RequestedActions:
        allowed_actions = _allowed_actions(call.config["response_actions"])
        requested = RequestedActions()
        if not body.strip():
            return requested
        try:
            raw_actions = _parse_actions(body)
        except ValueError as error:
            requested.trail_text = f" Its answer could not be used: {error}." if allowed_actions else ""
            return requested
        if raw_actions and not allowed_actions:
            requested.trail_text = " It asked for actions, and the route's response_actions allow none."
            return requested
        for number, raw_action in enumerate(raw_actions):
            try:
                action = RequestedAction.model_validate(raw_action)
            except ValidationError as error:
                requested.trail_text += (
                    f" Its answer could not be used in part: {_first_problem(error, 'actions', str(number))}."
                )
            else:
                self._add_action(requested, event, action, allowed_actions)
        return requested

    def _add_action(
        self,
        requested: RequestedActions,
        event: RecordedEvent,
        action: RequestedAction,
        allowed_actions: frozenset[str],
    ) -> None:
        if action.type not in ACTION_NAMES:
            requested.trail_text += f" It asked for '{action.type[:50]}', which is none of {', '.join(ACTION_NAMES)}."
            return
        if action.type not in allowed_actions:
            requested.trail_text += f" It asked for {action.type}, which the route does not allow."
            return
        try:
            composed_rows = self._compose(event, action)
        except ProviderFailed as failure:
            requested.trail_text += f" It asked for {action.type}, which was refused: {failure.message.rstrip('.')}."
            return
        requested.trail_text += f" It asked for {action.type}."
        requested.rows += composed_rows.rows
        requested.statements += composed_rows.statements

    def _compose(self, event: RecordedEvent, action: RequestedAction) -> ComposedRows:
        text = action.params.get("text")
        if action.type == "reply" and isinstance(text, str) and text.strip() and len(action.params) == 1:
            message = {"role": "assistant", "content": text}
            return self._delivery.composer.compose_reply(event, NO_RUN, message, DEFAULT_DELIVERY_POLICY, first=True)
        return self._actions.compose(event, ACTION_NAMES[action.type], action.params)

    async def commit(self, draft: UnitBuilder, requested: RequestedActions) -> None:
        """Commits a unit together with the requested actions, and delivers them."""
        draft.add(*requested.statements)
        await self._delivery.publisher.deliver(self._journal, draft.build(), requested.rows)


def _parse_actions(body: bytes) -> list[Any]:
    """Parses the actions of a response. Raises ValueError with the first problem."""
    if len(body) > MAX_RESPONSE_BYTES:
        raise ValueError(f"it is longer than {MAX_RESPONSE_BYTES} bytes")
    try:
        return ResponseBody.model_validate_json(body).actions
    except ValidationError as error:
        raise ValueError(_first_problem(error)) from None


def _first_problem(error: ValidationError, *prefix: str) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    message = "it should be an object" if first["type"] == "model_type" else first["msg"]
    location = ".".join([*prefix, *map(str, first["loc"])])
    return f"{location}: {message}" if location else message


def _allowed_actions(setting: bool | list[str]) -> frozenset[str]:
    """Returns the allowed action types: `true` allows replies only; all others are listed by name."""
    if isinstance(setting, bool):
        return frozenset(("reply",)) if setting else frozenset()
    return frozenset(setting)
