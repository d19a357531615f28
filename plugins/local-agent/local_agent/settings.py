"""Reads an agent's configuration, and checks what the form can't check."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parlour_sdk.agents.errors import TurnError
from parlour_sdk.agents.history import GroupContext
from parlour_sdk.agents.interim import InterimMode
from parlour_sdk.agents.knowledge import KnowledgeSelection
from parlour_sdk.agents.models import selected_models
from parlour_sdk.protocol.limits import RERANK_DOCUMENTS

ROLES = ("system", "user", "assistant")
INTERIM_MODES: tuple[InterimMode, ...] = ("hide", "first", "all")
EFFORTS = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class LocalAgentSettings:
    models: tuple[str, ...]
    """Model ids, the primary one first."""
    prompt: tuple[tuple[str, str], ...]
    """Pairs of role and text."""
    knowledge: KnowledgeSelection
    max_tool_rounds: int
    context_tokens: int
    """Maximum tokens of the history; 0 for as many as the model accepts."""
    show_thinking: bool
    event_templates: Mapping[str, str]
    streaming: bool
    guidance: bool
    """True if the agent adds place, rules and the date to the operator's instructions, and brings its own tools."""
    group_context: GroupContext
    interim: InterimMode
    summary_model: str | None
    parameters: dict[str, Any]
    """Parameters of every request of this agent, such as `temperature`."""


def read(config: Mapping[str, Any]) -> LocalAgentSettings:
    """Reads the settings. Raises TurnError for invalid values. The selected tools are in the run's resources."""
    return LocalAgentSettings(
        models=selected_models(config.get("model")),
        prompt=_prompt(config.get("prompt")),
        knowledge=KnowledgeSelection(
            tuple(config.get("knowledge_bases") or ()),
            _number(config, "retrieve_top_k", 5, 1, RERANK_DOCUMENTS),
            config.get("rerank_model") or None,
            _number(config, "rerank_top_k", 3, 1, RERANK_DOCUMENTS),
        ),
        max_tool_rounds=_number(config, "max_tool_rounds", 25, 0, 1000),
        context_tokens=_number(config, "context_tokens", 16_000, 0, 10_000_000),
        show_thinking=config.get("thinking") == "show",
        event_templates=_templates(config.get("event_templates")),
        streaming=config.get("streaming") is not False,
        guidance=config.get("guidance") is not False,
        group_context=_group_context(config.get("group_context")),
        interim=_interim(config.get("interim")),
        summary_model=config.get("summary_model") or None,
        parameters=_parameters(config),
    )


def _group_context(value: Any) -> GroupContext:
    limits, fields = value or {}, ("messages", "minutes", "tokens")
    is_valid = isinstance(limits, dict) and all(
        name in fields and isinstance(limit, int) and limit >= 0 for name, limit in limits.items()
    )
    if not is_valid:
        raise _invalid_setting(
            "group_context", 'must be an object such as {"messages": 30, "minutes": 60, "tokens": 2000}'
        )
    return GroupContext(**limits)


def _interim(value: Any) -> InterimMode:
    for mode in INTERIM_MODES:
        if value in (None, "", mode):
            return mode
    raise _invalid_setting("interim", f"must be one of {', '.join(INTERIM_MODES)}")


def _parameters(config: Mapping[str, Any]) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    temperature, effort = config.get("temperature"), config.get("reasoning_effort")
    if temperature is not None:
        if isinstance(temperature, bool) or not isinstance(temperature, int | float) or not 0 <= temperature <= 2:
            raise _invalid_setting("temperature", "must be a number from 0 to 2")
        parameters["temperature"] = temperature
    if limit := _number(config, "max_tokens", 0, 0, 1_000_000):
        parameters["max_tokens"] = limit
    if effort:
        if effort not in EFFORTS:
            raise _invalid_setting("reasoning_effort", f"must be one of {', '.join(EFFORTS)}")
        parameters["reasoning_effort"] = effort
    return parameters


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
    templates = value or {}
    if isinstance(templates, dict) and all(isinstance(text, str) for text in templates.values()):
        return templates
    raise _invalid_setting("event_templates", "must be an object with a text for each event type")


def _number(config: Mapping[str, Any], name: str, default: int, minimum: int, maximum: int) -> int:
    value = config.get(name)
    if value is None:
        return default
    if isinstance(value, int) and minimum <= value <= maximum:
        return value
    raise _invalid_setting(name, f"must be a whole number from {minimum} to {maximum}")


def _invalid_setting(name: str, sentence: str) -> TurnError:
    return TurnError("configuration", f"The agent's setting '{name}' {sentence}.")
