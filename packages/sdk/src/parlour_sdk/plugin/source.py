"""Holds the data of a file together with the line of each field, and validates it against protocol models."""

from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from types import UnionType
from typing import Any, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from parlour_sdk.protocol.manifest import Capabilities, Permissions, PluginPermissions

from ..values import dataclass
from . import problems
from .problems import API_VERSION, Place

Model = TypeVar("Model", bound=BaseModel)
Keys: TypeAlias = tuple[str | int, ...]
GRANTS = (Capabilities, Permissions, PluginPermissions)
"""Models in which an unknown key is an error instead of a warning."""


def dotted(keys: Keys) -> str:
    return ".".join(str(key) for key in keys)


@dataclass(frozen=True, slots=True)
class Source:
    """The data of a file, with functions that return the line and the display name of a field."""

    file: Path
    data: Any
    line: Callable[[Keys], int | None] = lambda keys: None
    shown: Callable[[Keys], str] = dotted
    """Returns the name of a field as the plugin author wrote it."""
    warnings: list[str] = field(default_factory=list)

    def place(self, *keys: str | int) -> Place:
        return Place(self.file, self.line(keys) if keys else None)


def checked(source: Source, model: type[Model], *below: str | int) -> Model:
    """Validates the source's data, or the part below these keys, and returns the model."""
    data = source.data
    for key in below:
        data = data.get(key, {})
    if isinstance(data, dict) and "apiVersion" in model.model_fields:
        _check_version(source, data)
    try:
        return model.model_validate(_known(source, model, data, below))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        keys = (*below, *first["loc"])
        raise problems.wrong_field(source.place(*keys), source.shown(keys), first) from error


def _check_version(source: Source, data: dict[str, Any]) -> None:
    version = data.get("apiVersion")
    if isinstance(version, str) and version != API_VERSION:
        raise problems.another_version(source.place("apiVersion"), version)


def _known(source: Source, model: type[BaseModel], data: Any, keys: Keys) -> Any:
    """Returns the data without unknown keys; they cause a warning, or an error in permissions and capabilities."""
    if not isinstance(data, dict):
        return data
    kept: dict[str, Any] = {}
    for key, value in data.items():
        if key in model.model_fields:
            kept[key] = _inner(source, model.model_fields[key].annotation, value, (*keys, key))
            continue
        place, shown = source.place(*keys, key), source.shown((*keys, key))
        if model in GRANTS:
            raise problems.unknown_grant(place, shown, model.model_fields)
        source.warnings.append(problems.unknown_key(place, shown, model.model_fields))
    return kept


def _inner(source: Source, annotation: Any, value: Any, keys: Keys) -> Any:
    for inner in _models(annotation):
        return _known(source, inner, value, keys)
    if get_origin(annotation) is list and isinstance(value, list):
        return [_inner(source, get_args(annotation)[0], each, (*keys, place)) for place, each in enumerate(value)]
    if get_origin(annotation) in (Union, UnionType):
        listed = next((each for each in get_args(annotation) if get_origin(each) is list), None)
        return _inner(source, listed, value, keys) if listed is not None else value
    return value


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yields the model of a field, also if the field is optional."""
    candidates = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    for each in candidates:
        if isinstance(each, type) and issubclass(each, BaseModel):
            yield each
