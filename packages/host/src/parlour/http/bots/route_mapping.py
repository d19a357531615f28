"""Builds routes from request bodies, or raises a Problem that names an invalid field; serializes routes without their
secrets."""

from typing import Any, cast

from pydantic import ValidationError

from parlour.core.config.agents import AgentRepository
from parlour.core.config.pipelines import PipelineRepository
from parlour.core.config.routes import Route
from parlour.core.message_policy.references import PolicyReferences
from parlour.core.model.ids import NO_ROUTE
from parlour.core.model.plugin_manager import PluginManager
from parlour.core.secrets import SecretBox

from ..validation_errors import field_errors
from .handler_types import HANDLER_FORMS, HandlerForm, HandlerType
from .mapping import invalid_fields
from .responses import RouteResponse
from .route_schemas import RouteBody


class RouteMapper:
    def __init__(
        self,
        agents: AgentRepository,
        pipelines: PipelineRepository,
        references: PolicyReferences,
        plugins: PluginManager,
        secrets: SecretBox,
    ) -> None:
        self._forms = {
            name: form(agents, pipelines, references, plugins, secrets) for name, form in HANDLER_FORMS.items()
        }

    def to_routes(self, bodies: list[RouteBody], before: list[Route]) -> list[Route]:
        existing = {route.route_id: route for route in before}
        return [self._route(f"{number}", body, existing.get(body.route_id)) for number, body in enumerate(bodies)]

    def _route(self, field_path: str, body: RouteBody, before: Route | None) -> Route:
        form = self._forms[body.handler_type]
        stored = before.handler_config if before is not None else {}
        return Route(
            event_type=body.event_type,
            handler_type=body.handler_type,
            handler_config=form.to_config(field_path, _config(field_path, body, form), stored),
            enabled=body.enabled,
            priority=body.priority,
            description=body.description,
            filters=body.filters.model_dump(mode="json", exclude_none=True),
            route_id=before.route_id if before is not None else NO_ROUTE,
        )


def _config(field_path: str, body: RouteBody, form: HandlerForm) -> dict[str, Any]:
    try:
        parsed = form.body.model_validate(body.handler_config)
    except ValidationError as error:
        config_path, errors = (
            f"{field_path}.handler_config",
            field_errors(error.errors(include_url=False), body.handler_config),
        )
        raise invalid_fields([(f"{config_path}.{each['field']}", each["message"]) for each in errors]) from None
    return {**parsed.model_dump(mode="json"), **_given_policy(body)}


def _given_policy(body: RouteBody) -> dict[str, Any]:
    """Returns the message policy as it was given: a field that was left out must not override the agent's own."""
    policy = body.handler_config.get("message_policy")
    return {"message_policy": policy} if policy else {}


def to_response(route: Route) -> RouteResponse:
    """Serializes a route. The configuration of a handler type that this version does not know may be secret."""
    form = HANDLER_FORMS.get(route.handler_type)
    return {
        "event_type": route.event_type,
        "handler_type": cast("HandlerType", route.handler_type),
        "enabled": route.enabled,
        "priority": route.priority,
        "description": route.description,
        "filters": route.filters,
        "route_id": route.route_id,
        "handler_config": form.to_response(dict(route.handler_config)) if form is not None else {},
    }
