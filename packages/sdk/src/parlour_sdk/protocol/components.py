"""What the Host asks of a plugin's components, apart from runs, tools and knowledge."""

from typing import Any, Literal

from .base import I18nText, Listed, Request, Strict, Tolerant
from .chain import MessageChain
from .content import ContentElement
from .events import Actor, Conversation, PromptMessage
from .manifest import AgentRunnerDiscovery, ComponentKind


class ComponentSummary(Tolerant):
    """One component of a plugin."""

    kind: ComponentKind
    name: str
    label: I18nText | None = None
    description: I18nText | None = None
    spec: dict[str, Any] = {}


class ComponentList(Tolerant):
    """All components of a plugin."""

    components: list[ComponentSummary] = []


class RunnerList(Tolerant):
    """All runners of a plugin."""

    runners: list[AgentRunnerDiscovery] = []


class RunnerCheck(Request):
    """Asks a runner whether a configuration works, before an agent uses it."""

    runner_name: str
    config: dict[str, Any] = {}
    """As a run would receive it."""
    locale: str | None = None


class RunnerCheckResult(Strict):
    """The outcome of a check."""

    code: str = ""
    """Empty if the configuration works; otherwise the code that a run would fail with."""
    message: str
    """A sentence for the operator."""


class BotIdentity(Tolerant):
    """The bot that an event came to."""

    id: str
    name: str = ""
    adapter: str = ""


class EmitEvent(Request):
    """An event for the plugin's listeners. `observing` ones see it without being able to change anything."""

    event: dict[str, Any]
    """By its `type` one of the events of `platform_events`."""
    bot: BotIdentity | None = None
    conversation_id: str | None = None
    variables: dict[str, Any] = {}
    """What listeners before this one noted down with the event."""
    observing: bool = False
    rehearsal: bool = False
    """True for a rerun: handlers decide as usual, and must have no effect outside."""
    handler: str | None = None
    """Only this one is to hear it, by the name that the plugin told with its components; without one all are."""


class PromptAddition(Strict):
    """What a listener adds to a prompt that is being prepared."""

    role: Literal["system", "user"] = "system"
    text: str


class ChangedInput(Strict):
    """What an agent reads in place of a message: a text, elements, or both."""

    text: str | None = None
    contents: Listed[ContentElement] | None = None


class EventOutcome(Strict):
    """What the listeners made of it."""

    handled: bool = False
    stop_propagation: bool = False
    variables: dict[str, Any] = {}
    prompt_additions: Listed[PromptAddition] = []
    prompt: Listed[PromptMessage] | None = None
    """For `prompt.preparing`: the messages that take the place of the prompt."""
    input: ChangedInput | None = None
    """For `message.arriving`: what the agent reads instead."""
    replies: Listed["CommandReply"] = []
    """For `message.arriving` and `reply.preparing`: messages that the Host sends to the chat."""
    replacement: Listed["CommandReply"] | None = None
    """For `reply.preparing`: the messages that take the place of the reply."""
    finding: str | None = None
    """For `text.filtering`: what the filter found in the text; nothing if the text may pass."""
    failed: list[str] = []
    """The handlers that failed, by name; the others were not harmed."""


class CommandInvocation(Request):
    """Somebody used a command of this plugin."""

    command: str
    arguments: list[str] = []
    text: str = ""
    """Everything behind the command, as it was written."""
    event_id: str | None = None
    bot: BotIdentity | None = None
    conversation: Conversation | None = None
    actor: Actor | None = None


class CommandReply(Strict):
    """One answer of a command: a text or a chain."""

    text: str | None = None
    chain: MessageChain | None = None


class Shutdown(Request):
    """The plugin is to end."""
