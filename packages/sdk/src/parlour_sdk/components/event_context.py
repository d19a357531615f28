"""The context that an event handler receives with the event: its information and the operations on the event."""

import copy
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any, Literal

from parlour_sdk.api import PluginAPI
from parlour_sdk.api.chains import Chain, as_chain
from parlour_sdk.protocol.components import BotIdentity, ChangedInput, CommandReply, EmitEvent, PromptAddition
from parlour_sdk.protocol.content import ContentElement
from parlour_sdk.protocol.events import PATH_HOOKS, PromptMessage
from parlour_sdk.protocol.platform_api import MessageResult
from parlour_sdk.protocol.platform_events import PlatformEvent

MAX_FINDING_CHARACTERS = 200
"""Characters of what a filter reports."""


class OnlyObserving(Exception):
    """A handler with `observe=True` can't change the event; leave `observe` out to take part in handling it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: {type(self).__doc__}")


class NotThisEvent(Exception):
    """The event of this handler has no such operation; the documentation of listeners names the events that do."""

    def __init__(self, what: str, event_type: str) -> None:
        super().__init__(f"{what}: {event_type}: {type(self).__doc__}")


class EventContext:
    """One handler's view of one event. Its changes take effect only if the handler returns without an exception."""

    def __init__(self, event: PlatformEvent, request: EmitEvent, variables: dict[str, Any], api: PluginAPI) -> None:
        self._event = event
        self.api = api
        self.bot: BotIdentity | None = request.bot
        self.conversation_id: str | None = request.conversation_id
        self.variables: MutableMapping[str, Any] = copy.deepcopy(variables)
        """Values that travel with the event; changes are seen by every later handler and stage."""
        self.rehearsal: bool = request.rehearsal
        """True for a rerun: decide as usual, and have no effect outside."""
        self.stopped = False
        self.prompt_additions: list[PromptAddition] = []
        self.prompt: list[PromptMessage] | None = None
        self.changed_input: ChangedInput | None = None
        self.replies: list[CommandReply] = []
        self.replacement: list[CommandReply] | None = None
        self.finding: str | None = None

    def stop(self) -> None:
        """Stops the event: no later handler and no default handling receives it."""
        self.stopped = True

    def add_to_prompt(self, text: str, role: Literal["system", "user"] = "system") -> None:
        """Adds a text to the prompt, if one is prepared for this event."""
        self.prompt_additions.append(PromptAddition(role=role, text=text))

    def replace_prompt(self, messages: Sequence[PromptMessage | dict[str, Any]]) -> None:
        """Replaces the messages of the prompt, for `prompt.preparing`."""
        self._require("replace_prompt", "prompt.preparing")
        self.prompt = [PromptMessage.model_validate(each) for each in messages]

    def change_input(self, text: str | None = None, contents: Sequence[ContentElement] | None = None) -> None:
        """Changes what the agent reads, for `message.arriving`."""
        self._require("change_input", "message.arriving")
        self.changed_input = ChangedInput(text=text, contents=None if contents is None else list(contents))

    def replace_reply(self, *messages: Chain) -> None:
        """Replaces the reply by these messages, for `reply.preparing`."""
        self._require("replace_reply", "reply.preparing")
        self.replacement = [_message(each) for each in messages]

    def report(self, finding: str) -> None:
        """Says what the filter found in the text, for `text.filtering`. The message policy decides what follows."""
        self._require("report", "text.filtering")
        self.finding = finding[:MAX_FINDING_CHARACTERS] or "found"

    async def reply(self, message: Chain, quote: bool = False) -> MessageResult:
        """Sends a message to the chat where the event happened.

        For `message.arriving` and `reply.preparing` the Host sends it after the handler has returned.
        """
        if self._event.type in PATH_HOOKS:
            self.replies.append(_message(message))
            return MessageResult()
        return await self.api.messages.reply(self._event, message, quote)

    def _require(self, what: str, event_type: str) -> None:
        if self._event.type != event_type:
            raise NotThisEvent(what, self._event.type)


class ObservingContext(EventContext):
    """The context of an observing handler: methods that would change the event raise OnlyObserving."""

    def __init__(self, event: PlatformEvent, request: EmitEvent, variables: dict[str, Any], api: PluginAPI) -> None:
        super().__init__(event, request, variables, api)
        self.variables = _ReadOnly(self.variables)

    def stop(self) -> None:
        raise OnlyObserving("stop")

    def add_to_prompt(self, text: str, role: Literal["system", "user"] = "system") -> None:
        raise OnlyObserving("add_to_prompt")

    def replace_prompt(self, messages: Sequence[PromptMessage | dict[str, Any]]) -> None:
        raise OnlyObserving("replace_prompt")

    def change_input(self, text: str | None = None, contents: Sequence[ContentElement] | None = None) -> None:
        raise OnlyObserving("change_input")

    def report(self, finding: str) -> None:
        raise OnlyObserving("report")

    def replace_reply(self, *messages: Chain) -> None:
        raise OnlyObserving("replace_reply")


def _message(message: Chain) -> CommandReply:
    return CommandReply(text=message) if isinstance(message, str) else CommandReply(chain=as_chain(message))


class _ReadOnly(MutableMapping[str, Any]):
    def __init__(self, values: MutableMapping[str, Any]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __setitem__(self, key: str, value: Any) -> None:
        raise OnlyObserving(f"variables['{key}']")

    def __delitem__(self, key: str) -> None:
        raise OnlyObserving(f"variables['{key}']")
