"""Endpoints to create, read, change, delete and test models."""

from operator import attrgetter

from fastapi import APIRouter

from parlour.core.access import audit
from parlour.core.config.agents import AgentRepository
from parlour.core.config.default_model import DefaultModelAssigner
from parlour.core.config.models import ModelRepository
from parlour.core.config.resource_usage import ResourceReferences
from parlour.core.journal import Insert
from parlour.core.model.ids import ModelId, ProviderId
from parlour.core.model.model_config import Model
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors
from parlour_sdk.values import dataclass

from ..api_router import ApiRouter
from ..auth import Operator, Viewer
from ..crud import ConfigResource, CrudOperations, CrudSchemas, Verbs, add_crud_routes, without_wait
from ..errors import Problem
from ..pagination import Cursor, Limit
from ..principals import Principal
from ..responses import PageResponse
from .connection_test import ModelTest
from .mapping import ModelMapper, model_response
from .schemas import ModelBody, ModelResponse, ModelTestResponse

GENERAL_VERBS: Verbs = ("create", "read", "replace", "delete")
MAX_NAMED_AGENTS = 5


@dataclass(frozen=True, slots=True)
class ModelAgents:
    """Finds the agents that use a model, and gives a new model to a default agent that has none."""

    repository: AgentRepository
    default_agent: DefaultModelAssigner
    references: ResourceReferences
    clock: Clock

    async def offer(self, principal: Principal, model: Model) -> None:
        offered = await self.default_agent.assignment_for(model)
        if offered is None:
            return
        before, after = ({"runner_config": {"model": each.runner_config.get("model")}} for each in offered)
        agent, now = offered[1], self.clock.now()
        entry = audit.change_entry(principal.owner, "agent.replace", agent.agent_id, before, after, now)
        await self.repository.replace(agent, entry)

    def check_unused(self, model: Model) -> None:
        users = self.references.agents_using(model.model_id)
        if users:
            message = f"model '{model.name}' is used by {_name_list(users)}; let them use another one first"
            raise Problem(409, "in_use", message, {"agents": users})


def router(
    repository: ModelRepository,
    forms: ModelMapper,
    test: ModelTest,
    agents: ModelAgents,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = ApiRouter(tags=["models"])
    resource = ConfigResource(
        "model", "/models", repository.model, attrgetter("model_id"), model_response, cursors, clock
    )

    def build(model_id: ModelId, body: ModelBody, before: Model | None, principal: Principal) -> Model:
        return forms.to_model(model_id, body)

    async def remove(model_id: ModelId, entry: Insert) -> None:
        agents.check_unused(resource.get_or_404(model_id))
        await repository.remove_model(model_id, entry)

    async def after_change(principal: Principal, before: Model | None, after: Model | None) -> None:
        if before is None and after is not None:
            await agents.offer(principal, after)

    add_crud_routes(
        routes,
        resource,
        CrudSchemas("model", "model_id", ModelBody, ModelResponse),
        CrudOperations(
            repository.models,
            build,
            repository.put_model,
            repository.put_model,
            remove,
            without_wait(model_response),
            after_change,
        ),
        lambda: ModelId(ids.new()),
        GENERAL_VERBS,
    )

    @routes.get("/models")
    async def list_models(
        principal: Viewer, provider_id: ProviderId | None = None, limit: Limit = 50, cursor: Cursor = None
    ) -> PageResponse[ModelResponse]:
        return resource.list_page(repository.models(provider_id), model_response, limit, cursor)

    @routes.post("/models/{model_id}/test")
    async def test_model(model_id: ModelId, principal: Operator) -> ModelTestResponse:
        return await test.run(resource.get_or_404(model_id))

    return routes


def _name_list(agents: list[str]) -> str:
    listed_names = ", ".join(f"the agent '{name}'" for name in agents[:MAX_NAMED_AGENTS])
    return (
        listed_names if len(agents) <= MAX_NAMED_AGENTS else f"{listed_names} and {len(agents) - MAX_NAMED_AGENTS} more"
    )
