"""A model that agents can use, and the service that answers for it, as values. A key is sealed here and stays so."""

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any, Literal

from parlour.core.encoding import dumps, loads
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.values import dataclass

ModelType = Literal["llm", "embedding", "rerank"]
MILLION = 1_000_000
ANSWER_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
"""Parameters by which services limit the tokens of an answer."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Of a million tokens each, in the operator's currency."""

    input: float = 0
    output: float = 0
    cached_input: float | None = None

    def cost_micros(self, usage: Usage) -> int:
        """Rounded up: a millionth of what a million costs is what one token costs in micro-units."""
        cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
        cheaper = self.input if self.cached_input is None else self.cached_input
        parts = (
            ((usage.prompt_tokens - cached), self.input),
            (cached, cheaper),
            (usage.completion_tokens, self.output),
        )
        return -(-sum(tokens * round(price * MILLION) for tokens, price in parts) // MILLION)


@dataclass(frozen=True, slots=True)
class Provider:
    provider_id: str
    name: str
    kind: str
    base_url: str = ""
    """Empty: the kind's own."""
    sealed_keys: tuple[str, ...] = ()

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "Provider":
        fields = loads(text)
        return cls(**{**fields, "sealed_keys": tuple(fields["sealed_keys"])})


@dataclass(frozen=True, slots=True)
class Model:
    model_id: str
    provider_id: str
    name: str
    """The provider's own."""
    type: ModelType = "llm"
    context_window: int = 0
    """In tokens; 0 when nobody knows."""
    max_output_tokens: int = 0
    abilities: tuple[str, ...] = ()
    prices: Prices | None = None
    """None when nobody knows what it costs."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Goes with every request, unless the request says otherwise."""

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "Model":
        fields = loads(text)
        prices = None if fields["prices"] is None else Prices(**fields["prices"])
        return cls(**{**fields, "abilities": tuple(fields["abilities"]), "prices": prices})

    def with_own_parameters(self, extra: Mapping[str, Any] | None) -> dict[str, Any]:
        """Returns the parameters of a request: the model's own, and those of the request in their place.

        A limit of the answer in the request replaces that of the model, whichever name each of them has.
        """
        extra = extra or {}
        own = _without_answer_limits(self.parameters) if _limits_answer(extra) else self.parameters
        return {**own, **extra}

    def cost_micros(self, usage: Usage) -> int | None:
        return None if self.prices is None else self.prices.cost_micros(usage)

    def resource(self, provider_name: str) -> ModelResource:
        """As runs see it."""
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
    kept = {name: value for name, value in parameters.items() if name not in ANSWER_LIMITS}
    settings = kept.get("generationConfig")
    if isinstance(settings, dict):
        kept["generationConfig"] = _without_answer_limits(settings)
    return kept
