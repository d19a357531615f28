"""Repository of models and their providers."""

from collections.abc import Sequence

from parlour.core.journal import Journal, Statement
from parlour.core.model.ids import ModelId, ProviderId
from parlour.core.model.model_config import Model, Provider
from parlour.core.model.ports import Clock
from parlour.core.store.tables import MODEL_PROVIDERS, MODELS
from parlour_sdk.protocol.resources import ModelResource

from .cached_repository import CachedRepository, RowMapping, UnitNames

PROVIDER_ROWS = RowMapping[ProviderId, Provider](
    MODEL_PROVIDERS,
    UnitNames(add="model_providers.put", replace="model_providers.put", remove="provider.remove"),
    item_id=lambda provider: provider.provider_id,
    encode=lambda provider: {"definition": provider.encode()},
    decode=lambda row: Provider.decode(row["definition"]),
)
MODEL_ROWS = RowMapping[ModelId, Model](
    MODELS,
    UnitNames(add="models.put", replace="models.put", remove="model.remove"),
    item_id=lambda model: model.model_id,
    encode=lambda model: {"provider_id": model.provider_id, "definition": model.encode()},
    decode=lambda row: Model.decode(row["definition"]),
)


class ModelRepository:
    """All models and providers. A caller that changes one passes further statements for the unit: the audit entry."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._providers = CachedRepository(journal, clock, PROVIDER_ROWS)
        self._models = CachedRepository(journal, clock, MODEL_ROWS)
        self._resources: tuple[ModelResource, ...] | None = None

    async def load(self) -> None:
        await self._providers.load()
        await self._models.load()
        self._resources = None

    def provider(self, provider_id: ProviderId) -> Provider | None:
        return self._providers.get(provider_id)

    def providers(self) -> list[Provider]:
        return self._providers.all()

    def model(self, model_id: ModelId) -> Model | None:
        return self._models.get(model_id)

    def models(self, provider_id: ProviderId | None = None) -> list[Model]:
        """Returns all models, or those of one provider."""
        return [each for each in self._models.all() if provider_id is None or each.provider_id == provider_id]

    def resources(self) -> Sequence[ModelResource]:
        """Returns the models that runs may use: all but those for moderation, which belong to the Host's filters.

        The list is cached, since every run reads it.
        """
        if self._resources is None:
            names = {provider.provider_id: provider.name for provider in self.providers()}
            self._resources = tuple(
                each.resource(names[each.provider_id]) for each in self.models() if each.type != "moderation"
            )
        return self._resources

    async def put_provider(self, provider: Provider, *extra_statements: Statement) -> None:
        """Adds a provider, or replaces the one of the same id."""
        await self._providers.put(provider, *extra_statements)
        self._resources = None

    async def put_model(self, model: Model, *extra_statements: Statement) -> None:
        """Adds a model, or replaces the one of the same id."""
        await self._models.put(model, *extra_statements)
        self._resources = None

    async def remove_provider(self, provider_id: ProviderId, *extra_statements: Statement) -> None:
        """Removes a provider; the caller has checked that it has no models."""
        await self._providers.remove(provider_id, *extra_statements)

    async def remove_model(self, model_id: ModelId, *extra_statements: Statement) -> None:
        await self._models.remove(model_id, *extra_statements)
        self._resources = None
