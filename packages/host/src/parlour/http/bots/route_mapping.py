"""Builds routes from request bodies, or raises a Problem that names an invalid field; serializes routes without their
secrets."""

from typing import Any

from pydantic import ValidationError

from parlour.core.config.agents import AgentRepository
from parlour.core.config.form_validation import SECRET_MASK
from parlour.core.config.routes import Route
from parlour.core.encoding import dumps, loads
from parlour.core.model.plugin_manager import PluginError, PluginManager
from parlour.core.secrets import SecretBox

from ..validation_errors import field_errors
from .mapping import invalid_field, invalid_fields
from .responses import RouteResponse
from .route_schemas import HANDLER_BODIES, RouteBody


class RouteMapper:
    def __init__(self, agents: AgentRepository, plugins: PluginManager, secrets: SecretBox) -> None:
        self._agents = agents
        self._plugins = plugins
        self._secrets = secrets

    def to_routes(self, bodies: list[RouteBody], before: list[Route]) -> list[Route]:
        known = {route.route_id: route for route in before}
        return [self._route(f"{number}", body, known.get(body.route_id)) for number, body in enumerate(bodies)]

    def _route(self, place: str, body: RouteBody, before: Route | None) -> Route:
        config = self._config(place, body)
        if body.handler_type == "agent" and self._agents.get(config["agent_id"]) is None:
            message = f"there is no agent '{config['agent_id']}'; GET /api/v1/agents lists them"
            raise invalid_field(f"{place}.handler_config.agent_id", message)
        if body.handler_type == "plugin":
            self._check_installed(place, config["plugins"], before.handler_config if before is not None else {})
        if body.handler_type == "webhook":
            config = self._seal_secrets(place, config, before.handler_config if before is not None else {})
        return Route(
            event_type=body.event_type,
            handler_type=body.handler_type,
            handler_config=config,
            enabled=body.enabled,
            priority=body.priority,
            description=body.description,
            filters=body.filters.model_dump(mode="json", exclude_none=True),
            route_id=before.route_id if before is not None else "",
        )

    def _config(self, place: str, body: RouteBody) -> dict[str, Any]:
        try:
            return HANDLER_BODIES[body.handler_type].model_validate(body.handler_config).model_dump(mode="json")
        except ValidationError as error:
            where, told = f"{place}.handler_config", field_errors(error.errors(include_url=False), body.handler_config)
            raise invalid_fields([(f"{where}.{each['field']}", each["message"]) for each in told]) from None

    def _check_installed(self, place: str, plugins: list[str], before: dict[str, Any]) -> None:
        """Checks that newly named plugins are installed. A plugin that the route named before may have been removed
        since; it is accepted, so that the other routes can still be changed."""
        named = [each for each in plugins if each not in before.get("plugins", ())]
        try:
            known = {facts.plugin_id for facts in self._plugins.all()} if named else set()
        except PluginError:  # unknown while the plugin runtime is unavailable
            return
        for number, plugin_id in enumerate(plugins):
            if plugin_id in named and plugin_id not in known:
                message = f"there is no plugin '{plugin_id[:200]}'; GET /api/v1/plugins lists them"
                raise invalid_field(f"{place}.handler_config.plugins.{number}", message)

    def _seal_secrets(self, place: str, config: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
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


def to_response(route: Route) -> RouteResponse:
    config = dict(route.handler_config)
    if route.handler_type == "webhook":
        config["secret_set"] = bool(config.pop("sealed_secret"))
        config["headers"] = dict.fromkeys(config.pop("header_names"), SECRET_MASK)
        config.pop("sealed_headers")
    return {
        "event_type": route.event_type,
        "handler_type": route.handler_type,
        "enabled": route.enabled,
        "priority": route.priority,
        "description": route.description,
        "filters": route.filters,
        "route_id": route.route_id,
        "handler_config": config,
    }
