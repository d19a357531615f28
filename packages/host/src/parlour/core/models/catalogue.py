"""Describes the model services and models that are known before any is configured. The data is elsewhere."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Protocol

from parlour.core.config.models import ModelRepository
from parlour.core.model.model_config import Model, ModelType, Prices
from parlour_sdk.values import dataclass

DialectName = Literal["openai", "openai-responses", "anthropic", "gemini", "baidu-censor", "moderation-webhook", "demo"]
MODERATION_DIALECTS: tuple[DialectName, ...] = ("baidu-censor", "moderation-webhook")
"""Dialects of services that moderate and have no other models."""


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """Defaults for a model of a service."""

    name: str
    type: ModelType = "llm"
    context_window: int = 0
    max_output_tokens: int = 0
    abilities: tuple[str, ...] = ()
    prices: Prices | None = None


@dataclass(frozen=True, slots=True)
class ModelServiceKind:
    """A model service, or a family of servers with the same wire format."""

    kind: str
    label: str
    dialect: DialectName
    base_url: str = ""
    """Default address; empty if each installation has its own."""
    needs_key: bool = True
    key_page: str = ""
    """Address of the web page where an API key is created."""
    free: bool = False
    """True if the service runs on the operator's own machines and costs nothing per call."""
    currency: str = "USD"
    rerank_path: str = "/rerank"
    limit_word: str = "max_tokens"
    """Name of the service's parameter that limits the length of an answer."""
    caches_by_key: bool = False
    """True if the service takes `prompt_cache_key`, which names requests that begin alike."""
    returns_reasoning: bool = False
    """True if the service requires its own reasoning to be sent back with the tool calls that followed from it."""
    models: tuple[CatalogueModel, ...] = ()

    def find_model(self, name: str) -> CatalogueModel | None:
        return next((each for each in self.models if each.name == name), None)


class ModelCatalogue(Protocol):
    def kinds(self) -> Sequence[ModelServiceKind]: ...

    def get(self, kind: str) -> ModelServiceKind | None: ...


def apply_catalogue_defaults(model: Model, kind: ModelServiceKind, has_abilities: bool) -> Model:
    """Fills in what the configuration of a model leaves out, from what the catalogue knows of a model of this name."""
    catalogue_model = kind.find_model(model.name) or CatalogueModel(model.name)
    free = Prices() if kind.free else None
    return replace(
        model,
        context_window=model.context_window or catalogue_model.context_window,
        max_output_tokens=model.max_output_tokens or catalogue_model.max_output_tokens,
        abilities=model.abilities if has_abilities else catalogue_model.abilities,
        prices=model.prices or catalogue_model.prices or free,
    )


def common_currency(repository: ModelRepository, catalogue: ModelCatalogue) -> str:
    """Returns the code that all providers with priced models share; empty if they differ or none has prices."""
    kinds = [
        catalogue.get(provider.kind)
        for provider in repository.providers()
        if any(_costs(model.prices) for model in repository.models(provider.provider_id))
    ]
    currencies = {kind.currency for kind in kinds if kind is not None}
    return currencies.pop() if len(currencies) == 1 else ""


def _costs(prices: Prices | None) -> bool:
    return prices is not None and bool(prices.input or prices.output)
