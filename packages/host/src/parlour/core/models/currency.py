"""Finds the currency that the configured models are priced in."""

from parlour.core.config.models import ModelRepository
from parlour.core.model.model_config import Prices

from .catalogue import ModelCatalogue


def common_currency(book: ModelRepository, catalogue: ModelCatalogue) -> str:
    """Returns the code that all providers with priced models share; empty if they differ or none has prices."""
    kinds = [
        catalogue.get(provider.kind)
        for provider in book.providers()
        if any(_costs(model.prices) for model in book.models(provider.provider_id))
    ]
    found = {kind.currency for kind in kinds if kind is not None}
    return found.pop() if len(found) == 1 else ""


def _costs(prices: Prices | None) -> bool:
    return prices is not None and bool(prices.input or prices.output)
