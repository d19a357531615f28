"""Reads an agent's configuration, and checks what the form can't check."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parlour_sdk.protocol.limits import RERANK_DOCUMENTS

from .errors import TurnError

ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class LocalAgentSettings:
    models: tuple[str, ...]
    """Model ids, the primary one first."""
    prompt: tuple[tuple[str, str], ...]
    """Pairs of role and text."""
    knowledge_bases: tuple[str, ...]
    retrieve_top_k: int
    rerank_model: str | None
    rerank_top_k: int
    max_tool_rounds: int
    context_tokens: int
    """Maximum tokens of the history; 0 for as many as the model accepts."""
    show_thinking: bool
    event_templates: Mapping[str, str]
    streaming: bool


def read(config: Mapping[str, Any]) -> LocalAgentSettings:
    """Reads the settings. Raises TurnError for invalid values. The selected tools are in the run's resources."""
    return LocalAgentSettings(
        models=_models(config.get("model")),
        prompt=_prompt(config.get("prompt")),
        knowledge_bases=tuple(config.get("knowledge_bases") or ()),
        retrieve_top_k=_number(config, "retrieve_top_k", 5, 1, RERANK_DOCUMENTS),
        rerank_model=config.get("rerank_model") or None,
        rerank_top_k=_number(config, "rerank_top_k", 3, 1, RERANK_DOCUMENTS),
        max_tool_rounds=_number(config, "max_tool_rounds", 128, 0, 1000),
        context_tokens=_number(config, "context_tokens", 16_000, 0, 10_000_000),
        show_thinking=config.get("thinking") == "show",
        event_templates=_templates(config.get("event_templates")),
        streaming=config.get("streaming") is not False,
    )


def _models(value: Any) -> tuple[str, ...]:
    match value:
        case None:
            return ()
        case {"primary": str() | None as primary}:
            fallbacks = value.get("fallbacks") or []
            if isinstance(fallbacks, list) and all(isinstance(each, str) for each in fallbacks):
                return tuple(dict.fromkeys(each for each in (primary, *fallbacks) if each))
    raise _invalid_setting("model", 'must be {"primary": a model id, "fallbacks": [model ids]}')


def _prompt(value: Any) -> tuple[tuple[str, str], ...]:
    match value:
        case None | "":
            return ()
        case str():
            return (("system", value),)
        case list() if all(_is_part(each) for each in value):
            return tuple((each["role"], each["content"]) for each in value)
    raise _invalid_setting(
        "prompt", f"must be a text or a list of {{role, content}}, with the roles {', '.join(ROLES)}"
    )


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and value.get("role") in ROLES and isinstance(value.get("content"), str)


def _templates(value: Any) -> Mapping[str, str]:
    given = value or {}
    if isinstance(given, dict) and all(isinstance(text, str) for text in given.values()):
        return given
    raise _invalid_setting("event_templates", "must be an object with a text for each event type")


def _number(config: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    value = config.get(name)
    if value is None:
        return default
    if isinstance(value, int) and least <= value <= most:
        return value
    raise _invalid_setting(name, f"must be a whole number from {least} to {most}")


def _invalid_setting(name: str, sentence: str) -> TurnError:
    return TurnError("local-agent.configuration", f"The agent's setting '{name}' {sentence}.")
