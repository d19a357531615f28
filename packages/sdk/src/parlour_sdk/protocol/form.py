"""The form of a configuration: how a runner or an adapter asks for its settings."""

from typing import Any, Literal

from .base import I18nText, Request

FormType = Literal[
    "string",
    "text",
    "secret",
    "integer",
    "number",
    "boolean",
    "select",
    "multi-select",
    "json",
    "prompt-editor",
    "llm-model-selector",
    "model-fallback-selector",
    "rerank-model-selector",
    "embedding-model-selector",
    "knowledge-base-multi-selector",
    "tool-multi-selector",
    "skill-multi-selector",
    "file",
    "array[file]",
    "array[string]",
]


class FormOption(Request):
    """One choice of a select."""

    value: str
    label: I18nText | None = None


class FormItem(Request):
    """One setting of a form. What a selector selects is added to a run's grants."""

    name: str
    label: I18nText
    description: I18nText | None = None
    type: FormType
    required: bool = False
    default: Any = None
    options: list[FormOption] | None = None
    show_if: dict[str, Any] | None = None
    """Shown only when the named items have these values; true is any value but an empty one."""
    minimum: float | None = None
    """The least that an integer or number may be."""
    maximum: float | None = None
    """The most that an integer or number may be."""
    display: bool = False
    """Shows a fact of the Host, such as an address to copy, and holds no value."""
