"""The handler types of routes, as requests and responses have them: one form per type, with the schema of its
configuration, its checks, its response, and the outcome that a dry run shows.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from parlour.core.config.agents import AgentRepository
from parlour.core.config.form_validation import SECRET_MASK
from parlour.core.encoding import dumps, loads
from parlour.core.model.plugin_manager import PluginError, PluginManager
from parlour.core.secrets import SecretBox

from .mapping import invalid_field
from .webhook_schemas import StrictBody, WebhookHandlerBody

HandlerType = Literal["agent", "webhook", "plugin", "drop"]
Outcome = tuple[str, dict[str, Any]]
"""Code of an outcome, and its values."""


class AgentHandlerBody(StrictBody):
    agent_id: str = Field(min_length=1, max_length=255)


class PluginHandlerBody(StrictBody):
    """Hands the event to listeners of these plugins; an empty list means all plugins."""

    plugins: list[str] = Field(default=[], max_length=1000)


class DropHandlerBody(StrictBody):
    pass


class HandlerForm:
    """Maps the configuration of one handler type. The defaults are for a type without checks and secrets."""

    body: ClassVar[type[StrictBody]]
    """Schema of `handler_config`."""
    outcomes: ClassVar[Mapping[str, str]]
    """English texts of the outcomes of a dry run, by their codes."""

    def __init__(self, agents: AgentRepository, plugins: PluginManager, secrets: SecretBox) -> None:
        self._agents = agents
        self._plugins = plugins
        self._secrets = secrets

    def to_config(self, place: str, config: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the configuration to store. `before` is the stored one of the same route, and `place` the route's
        number in the request. Raises a Problem that names an invalid field.
        """
        return config

    @classmethod
    def to_response(cls, config: dict[str, Any]) -> dict[str, Any]:
        """Returns the stored configuration without secrets."""
        return dict(config)

    @classmethod
    def outcome(cls, decision: Any, heard: bool) -> Outcome:
        """Returns the outcome of a decision for this handler. `heard` says whether a plugin listens to the event."""
        return next(iter(cls.outcomes)), {}


class AgentForm(HandlerForm):
    """Form of the handler `agent`."""

    body = AgentHandlerBody
    outcomes: ClassVar = {"outcome_answers": "agent '{agent}' answers"}

    def to_config(self, place: str, config: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
        if self._agents.get(config["agent_id"]) is None:
            message = f"there is no agent '{config['agent_id']}'; GET /api/v1/agents lists them"
            raise invalid_field(f"{place}.handler_config.agent_id", message)
        return config

    @classmethod
    def outcome(cls, decision: Any, heard: bool) -> Outcome:
        return "outcome_answers", {"agent": decision.binding.agent.name}


class PluginForm(HandlerForm):
    """Form of the handler `plugin`."""

    body = PluginHandlerBody
    outcomes: ClassVar = {
        "outcome_plugins": "it goes to the listeners of {plugins}",
        "outcome_all_plugins": "it goes to the listeners of all plugins",
        "outcome_unheard": "no plugin listens to it, so nobody answers",
    }

    def to_config(self, place: str, config: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
        """Checks that newly named plugins are installed. A plugin that the route named before may have been removed
        since; it is accepted, so that the other routes can still be changed."""
        plugins = config["plugins"]
        named = [each for each in plugins if each not in before.get("plugins", ())]
        try:
            known = {facts.plugin_id for facts in self._plugins.all()} if named else set()
        except PluginError:  # unknown while the plugin runtime is unavailable
            return config
        for number, plugin_id in enumerate(plugins):
            if plugin_id in named and plugin_id not in known:
                message = f"there is no plugin '{plugin_id[:200]}'; GET /api/v1/plugins lists them"
                raise invalid_field(f"{place}.handler_config.plugins.{number}", message)
        return config

    @classmethod
    def outcome(cls, decision: Any, heard: bool) -> Outcome:
        if not heard:
            return "outcome_unheard", {}
        if decision.plugins:
            return "outcome_plugins", {"plugins": ", ".join(decision.plugins)}
        return "outcome_all_plugins", {}


class WebhookForm(HandlerForm):
    """Form of the handler `webhook`. Secrets are sealed, and masked in responses."""

    body = WebhookHandlerBody
    outcomes: ClassVar = {"outcome_hooked": "it is sent to {url}"}

    def to_config(self, place: str, config: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
        """Seals the secret and the header values; values that are left out or masked keep what is stored."""
        secret, headers = config.pop("secret"), config.pop("headers")
        if secret is None:
            config["sealed_secret"] = before.get("sealed_secret", "")
        else:
            config["sealed_secret"] = self._secrets.seal(secret) if secret else ""
        if SECRET_MASK in headers.values():
            kept = loads(self._secrets.open(before["sealed_headers"])) if before.get("sealed_headers") else {}
            unknown = next((name for name, value in headers.items() if value == SECRET_MASK and name not in kept), None)
            if unknown is not None:
                message = "its value is not known here; a mask stands for what the route of this route_id has already"
                raise invalid_field(f"{place}.handler_config.headers.{unknown}", message)
            headers = {name: kept[name] if value == SECRET_MASK else value for name, value in headers.items()}
        config["header_names"] = sorted(headers)
        config["sealed_headers"] = self._secrets.seal(dumps(headers)) if headers else ""
        return config

    @classmethod
    def to_response(cls, config: dict[str, Any]) -> dict[str, Any]:
        shown = dict(config)
        shown["secret_set"] = bool(shown.pop("sealed_secret"))
        shown["headers"] = dict.fromkeys(shown.pop("header_names"), SECRET_MASK)
        shown.pop("sealed_headers")
        return shown

    @classmethod
    def outcome(cls, decision: Any, heard: bool) -> Outcome:
        return "outcome_hooked", {"url": decision.route.handler_config["url"]}


class DropForm(HandlerForm):
    """Form of the handler `drop`."""

    body = DropHandlerBody
    outcomes: ClassVar = {"outcome_dropped": "nobody answers, on purpose"}


HANDLER_FORMS: dict[str, type[HandlerForm]] = {
    "agent": AgentForm,
    "webhook": WebhookForm,
    "plugin": PluginForm,
    "drop": DropForm,
}
"""Forms by handler type. Each type has its handler in `core/handlers`."""
