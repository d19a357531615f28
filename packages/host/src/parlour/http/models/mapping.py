"""Builds providers and models from request bodies and serializes them. Keys are stored sealed and never returned."""

from parlour.core.config.form_validation import SECRET_MASK
from parlour.core.config.models import ModelRepository
from parlour.core.model.ids import ModelId, ProviderId
from parlour.core.model.model_config import Model, Prices, Provider
from parlour.core.models.catalogue import CatalogueModel, ModelCatalogue, ModelServiceKind, apply_catalogue_defaults
from parlour.core.secrets import SecretBox

from ..errors import Problem
from .schemas import (
    KnownModelResponse,
    ModelBody,
    ModelKind,
    ModelResponse,
    PricesResponse,
    ProviderBody,
    ProviderResponse,
)


class ModelMapper:
    def __init__(self, repository: ModelRepository, catalogue: ModelCatalogue, secrets: SecretBox) -> None:
        self._repository = repository
        self._catalogue = catalogue
        self._secrets = secrets

    def to_provider(self, provider_id: ProviderId, body: ProviderBody, before: Provider | None = None) -> Provider:
        kind = self._catalogue.get(body.kind)
        if kind is None:
            names = ", ".join(each.kind for each in self._catalogue.kinds())
            raise invalid_field("kind", f"there is no kind '{body.kind[:50]}'; known are {names}")
        base_url = body.base_url if body.base_url != kind.base_url else ""
        if not base_url and not kind.base_url and kind.dialect != "demo":
            raise invalid_field("base_url", f"{kind.label} has no address of its own: say where it is")
        is_other_address = before is not None and (before.kind, before.base_url) != (body.kind, base_url)
        sealed = self._seal_keys(body, before, is_other_address)
        if kind.needs_key and not sealed:
            raise invalid_field("api_keys", f"{kind.label} needs at least one key; they are made at {kind.key_page}")
        return Provider(provider_id, body.name, body.kind, base_url, sealed)

    def to_model(self, model_id: ModelId, body: ModelBody) -> Model:
        provider = self._repository.provider(body.provider_id)
        if provider is None:
            raise invalid_field(
                "provider_id", f"there is no provider '{body.provider_id[:50]}'; GET /api/v1/model-providers"
            )
        prices = None if body.prices is None else Prices(**body.prices.model_dump())
        model = Model(
            model_id,
            body.provider_id,
            body.name.strip(),
            body.type,
            body.context_window or 0,
            body.max_output_tokens or 0,
            tuple(body.abilities or ()),
            prices,
            body.parameters,
        )
        kind = self._catalogue.get(provider.kind)
        return model if kind is None else apply_catalogue_defaults(model, kind, body.abilities is not None)

    def _seal_keys(self, body: ProviderBody, before: Provider | None, is_other_address: bool) -> tuple[str, ...]:
        """Seals the given keys. A mask keeps the key stored at its position; after a change of address or kind masks
        are rejected, so that no key is sent to a new address unintentionally."""
        stored_keys = before.sealed_keys if before is not None else ()
        submitted = [SECRET_MASK] * len(stored_keys) if body.api_keys is None else body.api_keys
        masked = [index for index, key in enumerate(submitted) if key == SECRET_MASK]
        if any(index >= len(stored_keys) for index in masked):
            raise invalid_field("api_keys", "a mask stands for a key that is there already; give the new key itself")
        if masked and is_other_address:
            raise invalid_field("api_keys", "the address or the kind is another now: enter the keys for it anew")
        return tuple(
            stored_keys[index] if key == SECRET_MASK else self._secrets.seal(key) for index, key in enumerate(submitted)
        )


def provider_response(provider: Provider, kind: ModelServiceKind | None) -> ProviderResponse:
    return {
        "provider_id": provider.provider_id,
        "name": provider.name,
        "kind": provider.kind,
        "base_url": provider.base_url or (kind.base_url if kind else ""),
        "api_keys": [SECRET_MASK] * len(provider.sealed_keys),
    }


def model_response(model: Model) -> ModelResponse:
    """Serializes a model; unknown values are null."""
    return {
        "model_id": model.model_id,
        "provider_id": model.provider_id,
        "name": model.name,
        "type": model.type,
        "context_window": model.context_window or None,
        "max_output_tokens": model.max_output_tokens or None,
        "abilities": list(model.abilities),
        "prices": _prices(model.prices),
        "parameters": model.parameters,
    }


def kind_response(kind: ModelServiceKind) -> ModelKind:
    return {
        "kind": kind.kind,
        "label": kind.label,
        "base_url": kind.base_url,
        "needs_key": kind.needs_key,
        "key_page": kind.key_page,
        "currency": kind.currency,
        "models": [_known_model(model) for model in kind.models],
    }


def _known_model(model: CatalogueModel) -> KnownModelResponse:
    return {
        "name": model.name,
        "type": model.type,
        "context_window": model.context_window,
        "max_output_tokens": model.max_output_tokens,
        "abilities": list(model.abilities),
        "prices": _prices(model.prices),
    }


def _prices(prices: Prices | None) -> PricesResponse | None:
    if prices is None:
        return None
    return {"input": prices.input, "output": prices.output, "cached_input": prices.cached_input}


def invalid_field(field: str, message: str) -> Problem:
    return Problem(422, "invalid_argument", f"{field}: {message}", {"fields": [{"field": field, "message": message}]})
