"""Request and response schemas of model providers and models."""

import re
from typing import Annotated, Any, Literal, NotRequired
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from parlour.core.model.ids import ProviderId

from ..responses import Id, Micros

MAX_KEY_LENGTH = 4096
_PLAIN = re.compile(r"[\x21-\x7e]+")


def _require_key(key: str) -> str:
    """Rejects a key with a space or a line break: every service would refuse it, with a less helpful message."""
    if not _PLAIN.fullmatch(key):
        raise PydanticCustomError(
            "api_key", "has a space, a line break or a letter that no key has in it; paste the key alone"
        )
    return key


def _require_address(address: str) -> str:
    address = address.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if address and (not usable or re.search(r"\s", address)):
        raise PydanticCustomError("base_url", "must look like https://api.example.org/v1")
    if address and (parts.username or parts.query or parts.fragment):
        raise PydanticCustomError("base_url", "takes no user, query or fragment; keys belong into api_keys")
    for suffix in ("/chat/completions", "/embeddings", "/v1/messages", "/rerank", "/moderations"):
        if address.endswith(suffix):
            raise PydanticCustomError("base_url", "ends too late: leave out '{end}', which is added", {"end": suffix})
    return address


Key = Annotated[str, Field(min_length=1, max_length=MAX_KEY_LENGTH), AfterValidator(_require_key)]
Ability = Literal["vision", "audio", "files", "tools", "reasoning", "json"]


class ProviderBody(BaseModel):
    """`api_keys` are never shown again; left out, or each as `********`, they stay as they are."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "Demo", "kind": "demo"}]})

    name: str = Field(min_length=1, max_length=200)
    kind: str = Field(min_length=1, max_length=100)
    base_url: Annotated[str, Field(max_length=2000), AfterValidator(_require_address)] = ""
    api_keys: list[Key] | None = Field(default=None, max_length=50)


class PricesBody(BaseModel):
    """Of a million tokens each, in your currency."""

    model_config = ConfigDict(extra="forbid")

    input: float = Field(default=0, ge=0, le=1_000_000)
    output: float = Field(default=0, ge=0, le=1_000_000)
    cached_input: float | None = Field(default=None, ge=0, le=1_000_000)


class ModelBody(BaseModel):
    """What is left out is taken from the catalogue, if it knows the model. `name` is the provider's own."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"provider_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41", "name": "gpt-5-mini"}]},
    )

    provider_id: ProviderId = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=300)
    type: Literal["llm", "embedding", "rerank", "moderation"] = "llm"
    context_window: int | None = Field(default=None, ge=1, le=100_000_000)
    max_output_tokens: int | None = Field(default=None, ge=1, le=100_000_000)
    abilities: list[Ability] | None = None
    prices: PricesBody | None = Field(default=None, description="Without, and unknown to the catalogue: unknown costs")
    parameters: dict[str, Any] = {}


ModelType = Literal["llm", "embedding", "rerank", "moderation"]


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
