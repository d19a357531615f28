"""The Host's models, wired: what is configured, what the catalogue knows, and who answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from parlour_sdk.values import dataclass

from .config import ModelSettings
from .core.journal import Journal
from .core.models.book import ModelBook
from .core.models.catalogue import Catalogue
from .core.ports import Clock
from .core.secrets import SecretBox
from .providers.models.catalogue import ShippedCatalogue
from .providers.models.configured import ConfiguredModels
from .providers.models.patience import Patience


@dataclass(frozen=True, slots=True)
class ModelSide:
    book: ModelBook
    catalogue: Catalogue
    models: ConfiguredModels


@asynccontextmanager
async def open_model_side(
    settings: ModelSettings, journal: Journal, secrets: SecretBox, clock: Clock
) -> AsyncIterator[ModelSide]:
    book, catalogue = ModelBook(journal, clock), ShippedCatalogue()
    await book.load()
    patience = Patience(
        connect=settings.connect_seconds,
        first_token=settings.first_token_seconds,
        stall=settings.stall_seconds,
        total=settings.total_seconds,
        attempts=settings.attempts,
        longest_wait=settings.longest_wait_seconds,
        answer_bytes=settings.answer_bytes,
    )
    models = ConfiguredModels(book, catalogue, secrets, patience)
    try:
        yield ModelSide(book, catalogue, models)
    finally:
        await models.close()
