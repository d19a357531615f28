"""Holds the data of a file together with the line of each field, and validates it against protocol models."""

from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from types import UnionType
from typing import Any, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from parlour_sdk.protocol.manifest import Capabilities, Permissions, PluginPermissions

from ..values import dataclass
from . import errors
from .errors import API_VERSION, SourceLocation

Model = TypeVar("Model", bound=BaseModel)
Keys: TypeAlias = tuple[str | int, ...]
STRICT_MODELS = (Capabilities, Permissions, PluginPermissions)
"""Models in which an unknown key is an error instead of a warning."""


def dotted(keys: Keys) -> str:
    return ".".join(str(key) for key in keys)


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """The data of a file, with functions that return the line and the display name of a field."""

    file: Path
    data: Any
    line_of: Callable[[Keys], int | None] = lambda keys: None
    field_name: Callable[[Keys], str] = dotted
    """Returns the name of a field as the plugin author wrote it."""
    warnings: list[str] = field(default_factory=list)

    def location(self, *keys: str | int) -> SourceLocation:
        return SourceLocation(self.file, self.line_of(keys) if keys else None)


def validate(source: SourceDocument, model: type[Model], *section: str | int) -> Model:
    """Validates the source's data, or the part below these keys, and returns the model."""
    data = source.data
    for key in section:
        data = data.get(key, {})
    if isinstance(data, dict) and "apiVersion" in model.model_fields:
        _check_version(source, data)
    try:
        return model.model_validate(_drop_unknown(source, model, data, section))
    except ValidationError as error:
        first_error = error.errors(include_url=False)[0]
        keys = (*section, *first_error["loc"])
        raise errors.wrong_field(source.location(*keys), source.field_name(keys), first_error) from error


def _check_version(source: SourceDocument, data: dict[str, Any]) -> None:
    version = data.get("apiVersion")
    if isinstance(version, str) and version != API_VERSION:
        raise errors.unsupported_version(source.location("apiVersion"), version)


def _drop_unknown(source: SourceDocument, model: type[BaseModel], data: Any, keys: Keys) -> Any:
    """Returns the data without unknown keys; they cause a warning, or an error in permissions and capabilities."""
    if not isinstance(data, dict):
        return data
    accepted: dict[str, Any] = {}
    for key, value in data.items():
        if key in model.model_fields:
            accepted[key] = _inner(source, model.model_fields[key].annotation, value, (*keys, key))
            continue
        location, field = source.location(*keys, key), source.field_name((*keys, key))
        if model in STRICT_MODELS:
            raise errors.unknown_grant(location, field, model.model_fields)
        source.warnings.append(errors.unknown_key(location, field, model.model_fields))
    return accepted


def _inner(source: SourceDocument, annotation: Any, value: Any, keys: Keys) -> Any:
    for model in _models(annotation):
        return _drop_unknown(source, model, value, keys)
    if get_origin(annotation) is list and isinstance(value, list):
        return [_inner(source, get_args(annotation)[0], each, (*keys, index)) for index, each in enumerate(value)]
    if get_origin(annotation) in (Union, UnionType):
        list_type = next((each for each in get_args(annotation) if get_origin(each) is list), None)
        return _inner(source, list_type, value, keys) if list_type is not None else value
    return value


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yields the model of a field, also if the field is optional."""
    candidates = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    for each in candidates:
        if isinstance(each, type) and issubclass(each, BaseModel):
            yield each
