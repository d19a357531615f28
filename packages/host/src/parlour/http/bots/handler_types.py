"""The handler types of routes, as requests and responses have them: one form per type, with the schema of its
configuration, its checks, its response, and the outcome that a dry run shows.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from parlour.core.config.agents import AgentRepository
from parlour.core.config.form_validation import SECRET_MASK
from parlour.core.config.pipelines import PipelineRepository
from parlour.core.encoding import dumps, loads
from parlour.core.message_policy.references import PolicyReferences
from parlour.core.message_policy.schema import MessagePolicy
from parlour.core.model.ids import AgentId, PipelineId
from parlour.core.model.plugin_manager import PluginError, PluginManager
from parlour.core.secrets import SecretBox

from ..message_policies.endpoints import check_policy
from .mapping import invalid_field
from .webhook_schemas import StrictBody, WebhookHandlerBody

HandlerType = Literal["agent", "pipeline", "webhook", "plugin", "drop"]
Outcome = tuple[str, dict[str, Any]]
"""Code of an outcome, and its values."""


class AgentHandlerBody(StrictBody):
    agent_id: AgentId = Field(min_length=1, max_length=255)
    message_policy: MessagePolicy | None = None


class PipelineHandlerBody(StrictBody):
    pipeline_id: PipelineId = Field(min_length=1, max_length=255)


class PluginHandlerBody(StrictBody):
    """Hands the event to listeners of these plugins; an empty list means all plugins."""

    plugins: list[str] = Field(default=[], max_length=1000)


class DropHandlerBody(StrictBody):
    pass


class HandlerForm:
    """Maps the configuration of one handler type. The defaults are for a type without checks and secrets.

    The docstring of a form is its row in the guide: the effect, and after `Configuration:` the fields.
    """

    body: ClassVar[type[StrictBody]]
    """Schema of `handler_config`."""
    outcomes: ClassVar[Mapping[str, str]] = {"outcome_handled": "the handler of this route takes it"}
    """English texts of the outcomes of a dry run, by their codes."""

    def __init__(
        self,
        agents: AgentRepository,
        pipelines: PipelineRepository,
        references: PolicyReferences,
        plugins: PluginManager,
        secrets: SecretBox,
    ) -> None:
        self._agents = agents
        self._pipelines = pipelines
        self._references = references
        self._plugins = plugins
        self._secrets = secrets

    def to_config(self, field_path: str, config: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the configuration to store. `before` is the stored one of the same route, and `field_path`
        the route's place in the request. Raises a Problem that names an invalid field.
        """
        return config

    def _with_policy(self, field_path: str, config: dict[str, Any]) -> dict[str, Any]:
        """Returns the configuration with the fields of its message policy that were given, or without a policy."""
        given = config.pop("message_policy", None)
        if given is None:
            return config
        policy = MessagePolicy.model_validate(given)
        check_policy(policy, self._references, f"{field_path}.handler_config.message_policy")
        return {**config, "message_policy": policy.given_fields()}

    @classmethod
    def to_response(cls, config: dict[str, Any]) -> dict[str, Any]:
        """Returns the stored configuration without secrets."""
        return dict(config)

    @classmethod
    def outcome(cls, decision: Any, has_listeners: bool) -> Outcome:
        """Returns the outcome of a decision for this handler. `has_listeners` says whether a plugin listens."""
        return next(iter(cls.outcomes)), {}


class AgentForm(HandlerForm):
    """Runs the agent.

    Configuration: `agent_id`, `message_policy` (fields that hold in place of the agent's own)
    """

    body = AgentHandlerBody
    outcomes: ClassVar = {"outcome_answers": "agent '{agent}' answers"}

    def to_config(self, field_path: str, config: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
        if self._agents.get(config["agent_id"]) is None:
            message = f"there is no agent '{config['agent_id']}'; GET /api/v1/agents lists them"
            raise invalid_field(f"{field_path}.handler_config.agent_id", message)
        return self._with_policy(field_path, config)

    @classmethod
    def outcome(cls, decision: Any, has_listeners: bool) -> Outcome:
        return "outcome_answers", {"agent": decision.binding.agent.name}


class PipelineForm(HandlerForm):
    """Runs the agent of the pipeline, with the pipeline's message policy and extensions.

    Configuration: `pipeline_id`
    """

    body = PipelineHandlerBody
    outcomes: ClassVar = {"outcome_answers": "agent '{agent}' answers"}

    def to_config(self, field_path: str, config: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
        if self._pipelines.get(config["pipeline_id"]) is None:
            message = f"there is no pipeline '{config['pipeline_id']}'; GET /api/v1/pipelines lists them"
            raise invalid_field(f"{field_path}.handler_config.pipeline_id", message)
        return config


class PluginForm(HandlerForm):
    """Passes it to listeners by priority; a listener can stop it.

    Configuration: `plugins`, each installed (empty: all)
    """

    body = PluginHandlerBody
    outcomes: ClassVar = {
        "outcome_plugins": "it goes to the listeners of {plugins}",
        "outcome_all_plugins": "it goes to the listeners of all plugins",
        "outcome_unheard": "no plugin listens to it, so nobody answers",
    }

    def to_config(self, field_path: str, config: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
        """Checks that newly named plugins are installed. A plugin that the route named before may have been removed
        since; it is accepted, so that the other routes can still be changed."""
        plugins = config["plugins"]
        added_plugins = [each for each in plugins if each not in before.get("plugins", ())]
        try:
            installed = {info.plugin_id for info in self._plugins.all()} if added_plugins else set()
        except PluginError:  # unknown while the plugin runtime is unavailable
            return config
        for number, plugin_id in enumerate(plugins):
            if plugin_id in added_plugins and plugin_id not in installed:
                message = f"there is no plugin '{plugin_id[:200]}'; GET /api/v1/plugins lists them"
                raise invalid_field(f"{field_path}.handler_config.plugins.{number}", message)
        return config

    @classmethod
    def outcome(cls, decision: Any, has_listeners: bool) -> Outcome:
        if not has_listeners:
            return "outcome_unheard", {}
        if decision.plugins:
            return "outcome_plugins", {"plugins": ", ".join(decision.plugins)}
        return "outcome_all_plugins", {}


class WebhookForm(HandlerForm):
    """Sends the event to a URL. Secrets are sealed, and masked in responses.

    Configuration: [see below](#webhooks)
    """

    body = WebhookHandlerBody
    outcomes: ClassVar = {"outcome_hooked": "it is sent to {url}"}

    def to_config(self, field_path: str, config: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
        """Seals the secret and the header values; values that are left out or masked keep what is stored."""
        secret, headers = config.pop("secret"), config.pop("headers")
        if secret is None:
            config["sealed_secret"] = before.get("sealed_secret", "")
        else:
            config["sealed_secret"] = self._secrets.seal(secret) if secret else ""
        if SECRET_MASK in headers.values():
            stored_headers = loads(self._secrets.open(before["sealed_headers"])) if before.get("sealed_headers") else {}
            unknown = next(
                (name for name, value in headers.items() if value == SECRET_MASK and name not in stored_headers), None
            )
            if unknown is not None:
                message = "its value is not known here; a mask stands for what the route of this route_id has already"
                raise invalid_field(f"{field_path}.handler_config.headers.{unknown}", message)
            headers = {name: stored_headers[name] if value == SECRET_MASK else value for name, value in headers.items()}
        config["header_names"] = sorted(headers)
        config["sealed_headers"] = self._secrets.seal(dumps(headers)) if headers else ""
        return config

    @classmethod
    def to_response(cls, config: dict[str, Any]) -> dict[str, Any]:
        response = dict(config)
        response["secret_set"] = bool(response.pop("sealed_secret"))
        response["headers"] = dict.fromkeys(response.pop("header_names"), SECRET_MASK)
        response.pop("sealed_headers")
        return response

    @classmethod
    def outcome(cls, decision: Any, has_listeners: bool) -> Outcome:
        return "outcome_hooked", {"url": decision.route.handler_config["url"]}


class DropForm(HandlerForm):
    """Ignores the event."""

    body = DropHandlerBody
    outcomes: ClassVar = {"outcome_dropped": "nobody answers, on purpose"}


HANDLER_FORMS: dict[str, type[HandlerForm]] = {
    "agent": AgentForm,
    "pipeline": PipelineForm,
    "webhook": WebhookForm,
    "plugin": PluginForm,
    "drop": DropForm,
}
"""Forms by handler type. Each type has its handler in `core/handlers`."""
