"""Configured models and their providers, as values. Their keys are always sealed here."""

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any, Literal

from parlour.core.encoding import dumps, loads
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.values import dataclass

from .ids import ModelId, ProviderId

ModelType = Literal["llm", "embedding", "rerank", "moderation"]
MILLION = 1_000_000
ANSWER_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
"""Names of the parameters that limit the tokens of an answer, of all services."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices per million tokens, in the operator's currency."""

    input: float = 0
    output: float = 0
    cached_input: float | None = None

    def cost_micros(self, usage: Usage) -> int:
        """Returns the cost in micro-units, rounded up. The price per million equals micro-units per token."""
        cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
        cached_price = self.input if self.cached_input is None else self.cached_input
        parts = (
            ((usage.prompt_tokens - cached), self.input),
            (cached, cached_price),
            (usage.completion_tokens, self.output),
        )
        return -(-sum(tokens * round(price * MILLION) for tokens, price in parts) // MILLION)


@dataclass(frozen=True, slots=True)
class Provider:
    """A configured model service with its keys."""

    provider_id: ProviderId
    name: str
    kind: str
    base_url: str = ""
    """Address of the service; empty means the default of its kind."""
    sealed_keys: tuple[str, ...] = ()

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "Provider":
        fields = loads(text)
        return cls(**{**fields, "sealed_keys": tuple(fields["sealed_keys"])})


@dataclass(frozen=True, slots=True)
class Model:
    """A model of a provider, with limits, prices and parameters."""

    model_id: ModelId
    provider_id: ProviderId
    name: str
    """Name of the model at its provider."""
    type: ModelType = "llm"
    context_window: int = 0
    """Size in tokens; 0 if unknown."""
    max_output_tokens: int = 0
    abilities: tuple[str, ...] = ()
    prices: Prices | None = None
    """None if the prices are unknown."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Parameters of every request, unless the request overrides them."""

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "Model":
        fields = loads(text)
        prices = None if fields["prices"] is None else Prices(**fields["prices"])
        return cls(**{**fields, "abilities": tuple(fields["abilities"]), "prices": prices})

    def with_own_parameters(self, extra: Mapping[str, Any] | None) -> dict[str, Any]:
        """Returns the parameters of a request: the model's own, overridden by those of the request.

        An answer limit in the request replaces that of the model, even if the two have different names.
        """
        extra = extra or {}
        defaults = _without_answer_limits(self.parameters) if _limits_answer(extra) else self.parameters
        return {**defaults, **extra}

    def cost_micros(self, usage: Usage) -> int | None:
        return None if self.prices is None else self.prices.cost_micros(usage)

    def resource(self, provider_name: str) -> ModelResource:
        """Returns the model as a resource of a run."""
        assert self.type != "moderation", "plugins see no moderation models"
        return ModelResource(
            model_id=self.model_id,
            name=self.name,
            type=self.type,
            provider=provider_name,
            context_window=self.context_window or None,
            max_output_tokens=self.max_output_tokens or None,
            abilities=list(self.abilities),
        )


def _limits_answer(parameters: Mapping[str, Any]) -> bool:
    return any(isinstance(parameters.get(name), int) for name in ANSWER_LIMITS)


def _without_answer_limits(parameters: Mapping[str, Any]) -> dict[str, Any]:
    remaining = {name: value for name, value in parameters.items() if name not in ANSWER_LIMITS}
    settings = remaining.get("generationConfig")
    if isinstance(settings, dict):
        remaining["generationConfig"] = _without_answer_limits(settings)
    return remaining
