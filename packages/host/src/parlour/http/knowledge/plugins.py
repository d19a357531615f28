"""Checks what bases and files say about engines and parsers of plugins, and lists both."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from typing_extensions import TypedDict

from parlour.core.config import form_validation, secret_fields
from parlour.core.model.knowledge import BUILTIN_ENGINE, BUILTIN_PARSER, KnowledgeBase
from parlour.core.plugin_hooks.components import ComponentRegistry, RegisteredComponent
from parlour.core.secrets import SecretBox
from parlour_sdk.protocol.component_specs import KnowledgeEngineSpec, ParserSpec

from ..errors import Problem, invalid_field
from ..responses import Json, LocalizedText


class EngineResponse(TypedDict):
    engine: str
    label: LocalizedText
    description: LocalizedText
    files: str
    """What it takes of a file: `text`, `content`, or `none` if it has its own documents."""
    config_schema: list[Json]
    retrieval_schema: list[Json]


class EngineListResponse(TypedDict):
    items: list[EngineResponse]
    next_cursor: None


class ParserResponse(TypedDict):
    parser: str
    label: LocalizedText
    extensions: list[str]
    mime_types: list[str]


class ParserListResponse(TypedDict):
    items: list[ParserResponse]
    next_cursor: None


class PluginKnowledge:
    """The engines and parsers of the plugins that run."""

    def __init__(self, components: ComponentRegistry, secrets: SecretBox) -> None:
        self._components = components
        self._secrets = secrets

    def engines(self) -> EngineListResponse:
        items: list[EngineResponse] = [
            {
                "engine": each.plugin_id,
                "label": dict(each.label or {}),
                "description": dict(each.description or {}),
                "files": each.spec.files,
                "config_schema": [item.model_dump(mode="json", exclude_none=True) for item in each.spec.config_schema],
                "retrieval_schema": [
                    item.model_dump(mode="json", exclude_none=True) for item in each.spec.retrieval_schema
                ],
            }
            for each in self._components.knowledge_engines()
        ]
        return {"items": items, "next_cursor": None}

    def parsers(self) -> ParserListResponse:
        items: list[ParserResponse] = [
            {
                "parser": _name(each),
                "label": dict(each.label or {}),
                "extensions": list(each.spec.extensions),
                "mime_types": list(each.spec.mime_types),
            }
            for each in self._components.parsers()
        ]
        return {"items": items, "next_cursor": None}

    def checked(self, base: KnowledgeBase, before: KnowledgeBase | None) -> KnowledgeBase:
        """Returns a base with the secrets of its engine sealed. Raises Problem."""
        for parser in base.parsers.values():
            self._check_parser("settings.parsers", parser)
        if before is not None and before.engine != base.engine:
            raise invalid_field("engine", f"it is '{before.engine}' and can't be changed; add another base")
        if base.is_builtin:
            if base.engine_config or base.engine_settings:
                raise invalid_field("engine_config", "only engines of plugins have a configuration")
            return base
        spec = self._engine(base.engine).spec
        stored = dict(before.engine_config) if before is not None else {}
        config = secret_fields.merge_masked(spec.config_schema, dict(base.engine_config), stored)
        plain = {name: "" if isinstance(value, dict) else value for name, value in config.items()}
        _check_form("engine_config", form_validation.validate(spec.config_schema, plain, "engine"))
        settings = self.search_settings(base, base.engine_settings)
        complete = form_validation.with_defaults(spec.config_schema, config)
        sealed = secret_fields.seal_secrets(spec.config_schema, complete, self._secrets)
        return replace(base, engine_config=sealed, engine_settings=settings)

    def search_settings(self, base: KnowledgeBase, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Returns settings of a search with the defaults of the engine's form. Raises Problem."""
        form = self._engine(base.engine).spec.retrieval_schema
        complete = form_validation.with_defaults(form, dict(settings))
        _check_form("settings", form_validation.validate(form, complete, "engine"))
        return complete

    def masked_config(self, base: KnowledgeBase) -> dict[str, Any]:
        """Returns the engine's configuration without its secrets; without its form, every value is hidden."""
        found = [each for each in self._components.knowledge_engines() if each.plugin_id == base.engine]
        form = found[0].spec.config_schema if found else None
        return secret_fields.mask_secrets(form, dict(base.engine_config)) if base.engine_config else {}

    def problem(self, base: KnowledgeBase) -> str:
        """Returns why a base can't be searched; empty if it can."""
        if base.is_builtin or any(each.plugin_id == base.engine for each in self._components.knowledge_engines()):
            return ""
        return f"the engine {base.engine} is not there; is its plugin installed and running?"

    def check_takes_files(self, base: KnowledgeBase) -> None:
        """Raises Problem if the engine of the base has documents of its own."""
        if not base.is_builtin and self._engine(base.engine).spec.files == "none":
            message = f"the engine {base.engine} takes no files; add them in its own system"
            raise Problem(409, "not_supported", message)

    def checked_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Returns the options of a file. Raises Problem if they name a parser that is not there."""
        if "parser" in options:
            self._check_parser("parser", options["parser"])
        return options

    def _engine(self, engine: str) -> RegisteredComponent[KnowledgeEngineSpec]:
        for each in self._components.knowledge_engines():
            if each.plugin_id == engine:
                return each
        known = ", ".join([BUILTIN_ENGINE, *(each.plugin_id for each in self._components.knowledge_engines())])
        raise invalid_field("engine", f"no plugin that runs has this engine; there are {known}")

    def _check_parser(self, field: str, parser: str) -> None:
        known = [BUILTIN_PARSER, *map(_name, self._components.parsers())]
        if parser not in known:
            raise invalid_field(field, f"no plugin that runs has this parser; there are {', '.join(known)}")


def _name(component: RegisteredComponent[ParserSpec]) -> str:
    return f"{component.plugin_id}.{component.name}"


def _check_form(field: str, problems: list[form_validation.FieldProblem]) -> None:
    if problems:
        fields = [{"field": f"{field}.{name}", "message": message} for name, message in problems]
        first = fields[0]
        raise Problem(422, "invalid_argument", f"{first['field']}: {first['message']}", {"fields": fields})
