"""Keeps a conversation's identity at the service in Host state, bound to the address, app and key it was made with."""

import secrets
from collections.abc import Iterator
from typing import Any, Final

from parlour_sdk import results
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.state import StateScope
from parlour_sdk.results import Result

CONVERSATION_KEY: Final = "external.conversation_id"
BINDING_KEY: Final = "external.binding"
PENDING_KEY: Final = "external.pending"
USER_KEY: Final = "external.user"
PRIVATE: Final = ("private", "person", None)


class ExternalSession:
    """The session of one conversation: the service's id, the user's id at the service, and what is pending.

    The service's id and what is pending are ignored if they were made with another address, app or key; the user's id
    is kept.
    """

    def __init__(self, ctx: AgentRunContext, binding: str) -> None:
        stored = ctx.state.conversation
        is_bound = stored.get(BINDING_KEY) == binding
        self._binding = binding
        self._conversation_id: str | None = _text(stored.get(CONVERSATION_KEY)) if is_bound else None
        self._pending: dict[str, Any] = _object(stored.get(PENDING_KEY)) if is_bound else {}
        self._had_pending = PENDING_KEY in stored and stored[PENDING_KEY] is not None
        self._user_scope = _user_scope(ctx)
        own, shared = _text(stored.get(USER_KEY)), _text(getattr(ctx.state, self._user_scope).get(USER_KEY))
        self._is_new_user = not (own or shared)
        self.user = own or shared or f"p-{secrets.token_hex(16)}"
        self._is_user_stored = own is not None
        self.was_reset = False

    @property
    def conversation_id(self) -> str | None:
        return self._conversation_id

    @property
    def pending(self) -> dict[str, Any]:
        """The values of the question that the user's message answers; empty if there was none."""
        return self._pending

    def name(self, conversation_id: str) -> Iterator[Result]:
        """Stores the service's id. The user's id is stored with it, since services bind conversations to users."""
        if conversation_id == self._conversation_id:
            return
        self._conversation_id = conversation_id
        yield results.state_updated("conversation", CONVERSATION_KEY, conversation_id)
        yield results.state_updated("conversation", BINDING_KEY, self._binding)
        yield from self._store_user()

    def ask(self, pending: dict[str, Any]) -> Iterator[Result]:
        """Stores the values that the answer to a question needs."""
        self._had_pending = True
        yield results.state_updated("conversation", PENDING_KEY, pending)
        yield results.state_updated("conversation", BINDING_KEY, self._binding)
        yield from self._store_user()

    def accepted(self) -> Iterator[Result]:
        """Forgets the question once the service has accepted the message that answers it."""
        if self._had_pending:
            self._had_pending = False
            yield results.state_updated("conversation", PENDING_KEY, None)

    def forget(self) -> Iterator[Result]:
        """Forgets a session that the service no longer knows."""
        self._conversation_id, self._pending, self.was_reset = None, {}, True
        yield results.state_updated("conversation", CONVERSATION_KEY, None)
        yield from self.accepted()

    def _store_user(self) -> Iterator[Result]:
        if not self._is_user_stored:
            self._is_user_stored = True
            yield results.state_updated("conversation", USER_KEY, self.user)
        if self._is_new_user and self._user_scope != "conversation":
            self._is_new_user = False
            yield results.state_updated(self._user_scope, USER_KEY, self.user)


def _user_scope(ctx: AgentRunContext) -> StateScope:
    """Returns where the user's id is kept: a group shares one, because services bind conversations to a user."""
    launcher = ctx.conversation.launcher_type if ctx.conversation else None
    has_actor = ctx.actor is not None and ctx.actor.actor_id is not None
    return "actor" if launcher in PRIVATE and has_actor else "conversation"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
