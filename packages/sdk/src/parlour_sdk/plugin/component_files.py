"""Reads and checks single components: the component file, the name, the spec and the code that it names."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from parlour_sdk.protocol.component_specs import SPECS
from parlour_sdk.protocol.manifest import ComponentManifest

from . import problems
from .files import Component, RunnerSpec
from .source import Source, checked
from .yaml_file import read_yaml


def read_component(folder: Path, file: Path, warnings: list[str]) -> Component:
    source = read_yaml(file, warnings)
    if isinstance(source.data, dict) and source.data.get("kind") == "Page":
        source.data.setdefault("execution", {})
    manifest = checked_component(source)
    if manifest.kind == "Page":
        _require_page(folder, manifest, source)
    else:
        _require_code(folder, manifest, source)
    return Component(file, manifest)


def checked_component(source: Source) -> ComponentManifest:
    """Validates a component's manifest, and its spec by the rules of its kind."""
    manifest = checked(source, ComponentManifest)
    require_name(source, manifest.metadata.name, "metadata", "name")
    spec: type[BaseModel] = RunnerSpec if manifest.kind == "AgentRunner" else SPECS[manifest.kind]
    known = checked(source, spec, "spec").model_dump(mode="json", exclude_unset=True)
    if manifest.kind == "Tool":
        _require_schema(source, known.get("parameters"))
    return manifest.model_copy(update={"spec": known})


def require_name(source: Source, name: str, *keys: str) -> None:
    if not name or name.startswith(".") or not all(each.isalnum() or each in "-_." for each in name):
        raise problems.bad_name(source.place(*keys), source.shown(keys), name)


def inside(folder: Path, relative: str, source: Source, *keys: str | int) -> Path:
    try:
        file = (folder / relative).resolve()
    except (OSError, ValueError):
        raise problems.no_file(source.place(*keys), source.shown(keys), repr(relative), "a file") from None
    if not file.is_relative_to(folder.resolve()):
        raise problems.leaves_folder(source.place(*keys), relative)
    return file


def require_python(folder: Path, relative: str, source: Source) -> Path:
    keys = ("execution", "python", "path")
    file = inside(folder, relative, source, *keys)
    if not file.is_file() or file.suffix != ".py":
        raise problems.no_file(source.place(*keys), source.shown(keys), relative, "a Python file")
    return file


def _require_code(folder: Path, manifest: ComponentManifest, source: Source) -> None:
    entry = manifest.execution.python
    if entry is None:
        raise problems.no_entry(source.place("execution"), "execution.python")
    if entry.attr is None:
        raise problems.no_entry(source.place("execution", "python"), "execution.python.attr")
    require_python(folder, entry.path, source)


def _require_page(folder: Path, manifest: ComponentManifest, source: Source) -> None:
    path = manifest.spec["path"]
    if not inside(folder, path, source, "spec", "path").is_file():
        raise problems.no_file(source.place("spec", "path"), source.shown(("spec", "path")), path, "a file")


def _require_schema(source: Source, schema: dict[str, Any] | None) -> None:
    keys = ("spec", "parameters")
    place, shown = source.place(*keys), source.shown(keys)
    if schema is None:
        return
    if schema.get("type") != "object":
        raise problems.no_schema(place, shown, f"its type is {schema.get('type')!r}")
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        raise problems.no_schema(place, shown, "its properties are no mapping, or what is required no list")
    for name in required:
        if name not in properties:
            raise problems.no_schema(place, shown, f"'{name}' is required and not among its properties")
