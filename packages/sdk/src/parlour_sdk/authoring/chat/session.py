"""Sets up a chat session: a runner, its completed configuration, and a fake Host with models that need no key."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from parlour_sdk.plugin import LoadedPlugin
from parlour_sdk.protocol.chain import chain_text
from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.form import FormItem
from parlour_sdk.protocol.manifest import AgentRunnerManifest
from parlour_sdk.protocol.models import InvokeModel
from parlour_sdk.protocol.platform_events import PlatformEvent
from parlour_sdk.testing import FakeHost, FakeRun, embedding, reranker
from parlour_sdk.testing.components import pick
from parlour_sdk.testing.config import fill_in_defaults

from ...values import dataclass
from .terminal import NOTE_PREFIX

ECHO_MODEL = "echo"
TEXT_ITEM_TYPES = ("string", "text", "secret", "select", "prompt-editor")
DEFAULT_SELECTIONS: Mapping[str, Any] = {
    "llm-model-selector": "model",
    "model-fallback-selector": {"primary": "model", "fallbacks": []},
    "embedding-model-selector": "embedding",
    "rerank-model-selector": "reranker",
}
"""Values of selectors that the author did not set, by item type."""


class ChatSetupError(Exception):
    """Raised when the chat can't start; the message says why."""


@dataclass(frozen=True, slots=True)
class RunnerChat:
    host: FakeHost
    loaded: LoadedPlugin
    runner: str
    """Empty for a plugin that has commands or listeners only."""
    config: Mapping[str, Any]
    supports_steering: bool

    def start(self, text: str) -> FakeRun:
        return self.host.start(self.loaded, text, runner=self.runner, config=self.config)

    def find_command(self, typed_name: str) -> str | None:
        """Returns the command that this word calls, by its name or an alias."""
        for name in self.loaded.commands:
            if typed_name in (name, *self.loaded.spec("Command", name).get("aliases", ())):
                return name
        return None

    async def run_command(self, name: str, text: str) -> list[str]:
        """Returns the replies of a command."""
        replies = await self.host.command(self.loaded, text, name=name)
        return [each.text or chain_text(each.chain or []) for each in replies]

    async def emit(self, event: PlatformEvent) -> list[str]:
        """Returns the messages that listeners sent, or a note if no listener handled the event."""
        sent_before = len(self.host.sent)
        outcome = await self.host.emit(self.loaded, event)
        texts = [each.text for each in self.host.sent[sent_before:]]
        return texts or ([] if outcome.handled else [f"{NOTE_PREFIX}no listener answered {event.type}"])


def create_chat(plugin: LoadedPlugin, runner: str | None, pairs: Sequence[str], model: str) -> RunnerChat:
    """Creates the session for a plugin. Raises ChatSetupError if the arguments don't fit it."""
    if not plugin.runners and not plugin.commands and not plugin.listeners:
        raise ChatSetupError(f"{plugin.identity} has no AgentRunner, Command or EventListener to talk to")
    if not plugin.runners:
        return RunnerChat(FakeHost(timeout=0), plugin, "", {}, supports_steering=False)
    try:
        name = pick(plugin.runners, runner, "runner")
    except LookupError as error:
        raise ChatSetupError(f"--runner: {error}") from error
    manifest = AgentRunnerManifest.model_validate(plugin.runner_manifests[name])
    config = _config(manifest.config_schema, pairs, [f"{plugin.identity}.{name}" for name in sorted(plugin.tools)])
    models = {"model": _answer_function(model), "embedding": embedding(), "reranker": reranker()}
    return RunnerChat(FakeHost(models=models, timeout=0), plugin, name, config, manifest.capabilities.steering)


def _config(form: list[FormItem], pairs: Sequence[str], tools: list[str]) -> dict[str, Any]:
    items = {item.name: item for item in form}
    config = {
        name: tools if item.type == "tool-multi-selector" else DEFAULT_SELECTIONS.get(item.type)
        for name, item in items.items()
        if item.default is None
    }
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise ChatSetupError(f"--config {pair}: write it as name=value")
        config[name] = _value(items.get(name), text)
    try:
        return fill_in_defaults(form, {name: value for name, value in config.items() if value is not None})
    except ValueError as error:
        raise ChatSetupError(f"--{error}") from error


def _value(item: FormItem | None, text: str) -> Any:
    """Parses the value as JSON if the form expects more than a text.

    Invalid JSON is passed on as text, and the form's check reports it.
    """
    if item is not None and (item.type in TEXT_ITEM_TYPES or item.type.endswith("model-selector")):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _answer_function(model: str) -> Callable[[InvokeModel], str]:
    """Returns the fake model's answer function: an echo of the input, or the lines of a file in rotation."""
    if model == ECHO_MODEL:
        return _echo
    try:
        lines = [line for line in Path(model).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise ChatSetupError(
            f"--model {model}: name '{ECHO_MODEL}' or a file with one answer a line ({reason})"
        ) from error
    if not lines:
        raise ChatSetupError(f"--model {model}: the file is empty; write one answer a line")
    turns = cycle(lines)
    return lambda request: next(turns)


def _echo(request: InvokeModel) -> str:
    user_texts = [plain_text(each.content) for each in request.messages if each.role == "user"]
    return f"You said: {user_texts[-1]}" if user_texts else "You said nothing."
