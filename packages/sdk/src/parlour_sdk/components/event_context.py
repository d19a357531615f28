"""The context that an event handler receives with the event: its information and the operations on the event."""

import copy
from collections.abc import Iterator, MutableMapping
from typing import Any, Literal

from parlour_sdk.api import PluginAPI
from parlour_sdk.api.chains import Chain
from parlour_sdk.protocol.components import BotIdentity, EmitEvent, PromptAddition
from parlour_sdk.protocol.platform_api import MessageResult
from parlour_sdk.protocol.platform_events import PlatformEvent


class OnlyObserving(Exception):
    """A handler with `observe=True` can't change the event; leave `observe` out to take part in handling it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: {type(self).__doc__}")


class EventContext:
    """One handler's view of one event. Its changes take effect only if the handler returns without an exception."""

    def __init__(self, event: PlatformEvent, request: EmitEvent, variables: dict[str, Any], api: PluginAPI) -> None:
        self._event = event
        self.api = api
        self.bot: BotIdentity | None = request.bot
        self.conversation_id: str | None = request.conversation_id
        self.variables: MutableMapping[str, Any] = copy.deepcopy(variables)
        """Values that travel with the event; changes are seen by every later handler and stage."""
        self.stopped = False
        self.prompt_additions: list[PromptAddition] = []

    def stop(self) -> None:
        """Stops the event: no later handler and no default handling receives it."""
        self.stopped = True

    def add_to_prompt(self, text: str, role: Literal["system", "user"] = "system") -> None:
        """Adds a text to the prompt, if one is prepared for this event."""
        self.prompt_additions.append(PromptAddition(role=role, text=text))

    async def reply(self, message: Chain, quote: bool = False) -> MessageResult:
        """Sends a message to the chat where the event happened."""
        return await self.api.messages.reply(self._event, message, quote)


class ObservingContext(EventContext):
    """The context of an observing handler: methods that would change the event raise OnlyObserving."""

    def __init__(self, event: PlatformEvent, request: EmitEvent, variables: dict[str, Any], api: PluginAPI) -> None:
        super().__init__(event, request, variables, api)
        self.variables = _ReadOnly(self.variables)

    def stop(self) -> None:
        raise OnlyObserving("stop")

    def add_to_prompt(self, text: str, role: Literal["system", "user"] = "system") -> None:
        raise OnlyObserving("add_to_prompt")


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
