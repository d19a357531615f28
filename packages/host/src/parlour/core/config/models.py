"""Repository of models and providers, cached in memory and written through: they are few and read for every run."""

from collections.abc import Sequence

from parlour.core.journal import Delete, Insert, Journal, Select, Statement, Table, Unit, Update, where
from parlour.core.model.model_config import Model, Provider
from parlour.core.model.ports import Clock
from parlour.core.store.tables import MODEL_PROVIDERS, MODELS
from parlour_sdk.protocol.resources import ModelResource


class ModelRepository:
    """All models and providers. A caller that changes one passes further statements for the unit: the audit entry."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._providers: dict[str, Provider] = {}
        self._models: dict[str, Model] = {}
        self._resources: tuple[ModelResource, ...] | None = None

    async def load(self) -> None:
        rows = await self._journal.read(Select(MODEL_PROVIDERS, order=("provider_id",)))
        self._providers = {row["provider_id"]: Provider.decode(row["definition"]) for row in rows}
        rows = await self._journal.read(Select(MODELS, order=("model_id",)))
        self._models = {row["model_id"]: Model.decode(row["definition"]) for row in rows}
        self._resources = None

    def provider(self, provider_id: str) -> Provider | None:
        return self._providers.get(provider_id)

    def providers(self) -> list[Provider]:
        return [self._providers[provider_id] for provider_id in sorted(self._providers)]

    def model(self, model_id: str) -> Model | None:
        return self._models.get(model_id)

    def models(self, provider_id: str | None = None) -> list[Model]:
        listed = [self._models[model_id] for model_id in sorted(self._models)]
        return [each for each in listed if provider_id is None or each.provider_id == provider_id]

    def resources(self) -> Sequence[ModelResource]:
        """Returns all models as resources of runs; the list is cached, since every run reads it."""
        if self._resources is None:
            self._resources = tuple(each.resource(self._providers[each.provider_id].name) for each in self.models())
        return self._resources

    async def put_provider(self, provider: Provider, *also: Statement) -> None:
        key = {"provider_id": provider.provider_id}
        known = provider.provider_id in self._providers
        await self._put(MODEL_PROVIDERS, key, provider.encode(), known, *also)
        self._providers[provider.provider_id] = provider
        self._resources = None

    async def put_model(self, model: Model, *also: Statement) -> None:
        key = {"model_id": model.model_id}
        known = model.model_id in self._models
        await self._put(MODELS, key, model.encode(), known, *also, provider_id=model.provider_id)
        self._models[model.model_id] = model
        self._resources = None

    async def remove_provider(self, provider_id: str, *also: Statement) -> None:
        """Removes a provider; the caller has checked that it has no models."""
        remove = Delete(MODEL_PROVIDERS, where(provider_id=provider_id))
        await self._journal.commit(Unit("provider.remove", (remove, *also)))
        self._providers.pop(provider_id, None)

    async def remove_model(self, model_id: str, *also: Statement) -> None:
        await self._journal.commit(Unit("model.remove", (Delete(MODELS, where(model_id=model_id)), *also)))
        self._models.pop(model_id, None)
        self._resources = None

    async def _put(
        self, table: Table, key: dict[str, str], definition: str, known: bool, *also: Statement, **more: str
    ) -> None:
        now = self._clock.now()
        values: dict[str, str | int] = {**more, "definition": definition, "updated_at": now}
        statement: Statement
        if known:
            statement = Update(table, {**values}, where(**key))
        else:
            statement = Insert(table, {**key, **values, "created_at": now})
        await self._journal.commit(Unit(f"{table.name}.put", (statement, *also)))
