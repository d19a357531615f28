"""The form of a configuration: how a runner or an adapter asks for its settings."""

from typing import Any, Literal

from .base import I18nText, Strict

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


class FormOption(Strict):
    value: str
    label: I18nText | None = None


class FormItem(Strict):
    name: str
    label: I18nText
    description: I18nText | None = None
    type: FormType
    required: bool = False
    default: Any = None
    options: list[FormOption] | None = None
    show_if: dict[str, Any] | None = None
    display: bool = False
