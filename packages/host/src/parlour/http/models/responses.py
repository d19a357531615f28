"""Response schemas of model providers, models and the result of a model test."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from ..responses import Id, Micros

ModelType = Literal["llm", "embedding", "rerank"]


class PricesResponse(TypedDict):
    """Of a million tokens each."""

    input: float
    output: float
    cached_input: float | None


class KnownModelResponse(TypedDict):
    name: str
    type: ModelType
    context_window: int
    """In tokens; 0 when nobody knows."""
    max_output_tokens: int
    abilities: list[str]
    prices: PricesResponse | None
    """Null when nobody knows what it costs."""


class ModelKind(TypedDict):
    """A service, or a family of servers that speak alike."""

    kind: str
    label: str
    base_url: str
    """Empty when everybody has their own."""
    needs_key: bool
    key_page: str
    """Where a key is made."""
    currency: str
    models: list[KnownModelResponse]


class ProviderResponse(TypedDict):
    provider_id: Id
    name: str
    kind: str
    base_url: str
    api_keys: list[str]
    """A mask for each key that there is."""


class ModelResponse(TypedDict):
    model_id: Id
    provider_id: Id
    name: str
    """The provider's own."""
    type: ModelType
    context_window: int | None
    max_output_tokens: int | None
    abilities: list[str]
    prices: PricesResponse | None
    """Null when nobody knows what it costs."""
    parameters: dict[str, Any]
    """Sent with every request, unless the request says otherwise."""


class ModelUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: NotRequired[int]
    reasoning_tokens: NotRequired[int]
    cost_micros: NotRequired[Micros]


class ModelTestResponse(TypedDict):
    ok: bool
    message: str
    """What it answered, or exactly what is wrong."""
    milliseconds: int
    code: NotRequired[str]
    usage: NotRequired[ModelUsage | None]
