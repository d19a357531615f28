"""Builds the model subsystem: configured models, the catalogue of known ones, and the clients that call them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from parlour.core.config.models import ModelRepository
from parlour.core.journal import Journal
from parlour.core.model.ports import Clock
from parlour.core.models.catalogue import ModelCatalogue
from parlour.core.secrets import SecretBox
from parlour.providers.models.catalogue import ShippedCatalogue
from parlour.providers.models.model_service import ConfiguredModels
from parlour.providers.models.timeouts import ModelTimeouts
from parlour_sdk.values import dataclass

from .settings import ModelSettings


@dataclass(frozen=True, slots=True)
class ModelSubsystem:
    """The models of a Host."""

    repository: ModelRepository
    catalogue: ModelCatalogue
    models: ConfiguredModels


@asynccontextmanager
async def open_models(
    settings: ModelSettings, journal: Journal, secrets: SecretBox, clock: Clock
) -> AsyncIterator[ModelSubsystem]:
    repository, catalogue = ModelRepository(journal, clock), ShippedCatalogue()
    await repository.load()
    timeouts = ModelTimeouts(
        connect=settings.connect_seconds,
        first_token=settings.first_token_seconds,
        stall=settings.stall_seconds,
        total=settings.total_seconds,
        attempts=settings.attempts,
        longest_wait=settings.longest_wait_seconds,
        answer_bytes=settings.answer_bytes,
    )
    models = ConfiguredModels(repository, catalogue, secrets, timeouts)
    try:
        yield ModelSubsystem(repository, catalogue, models)
    finally:
        await models.close()
