"""Reads and checks single components: the component file, the name, the spec and the code that it names."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from parlour_sdk.protocol.component_specs import SPECS
from parlour_sdk.protocol.limits import PAGE_HTML_BYTES
from parlour_sdk.protocol.manifest import ComponentManifest

from . import errors
from .manifest_files import ComponentDefinition, RunnerSpec
from .source_map import SourceDocument, validate
from .yaml_file import read_yaml


def read_component(folder: Path, file: Path, warnings: list[str]) -> ComponentDefinition:
    source = read_yaml(file, warnings)
    if isinstance(source.data, dict) and source.data.get("kind") == "Page":
        source.data.setdefault("execution", {})
    manifest = validate_component(source)
    if manifest.kind == "Page":
        _require_page(folder, manifest, source)
    if manifest.kind != "Page" or manifest.execution.python is not None:
        _require_code(folder, manifest, source)
    return ComponentDefinition(file, manifest)


def validate_component(source: SourceDocument) -> ComponentManifest:
    """Validates a component's manifest, and its spec by the rules of its kind."""
    manifest = validate(source, ComponentManifest)
    require_name(source, manifest.metadata.name, "metadata", "name")
    spec: type[BaseModel] = RunnerSpec if manifest.kind == "AgentRunner" else SPECS[manifest.kind]
    validated = validate(source, spec, "spec").model_dump(mode="json", exclude_unset=True)
    if manifest.kind == "Tool":
        _require_schema(source, validated.get("parameters"))
    return manifest.model_copy(update={"spec": validated})


def require_name(source: SourceDocument, name: str, *keys: str) -> None:
    if not name or name.startswith(".") or not all(each.isalnum() or each in "-_." for each in name):
        raise errors.bad_name(source.location(*keys), source.field_name(keys), name)


def resolve_inside(folder: Path, relative: str, source: SourceDocument, *keys: str | int) -> Path:
    try:
        file = (folder / relative).resolve()
    except (OSError, ValueError):
        raise errors.no_file(source.location(*keys), source.field_name(keys), repr(relative), "a file") from None
    if not file.is_relative_to(folder.resolve()):
        raise errors.leaves_folder(source.location(*keys), relative)
    return file


def require_python(folder: Path, relative: str, source: SourceDocument) -> Path:
    keys = ("execution", "python", "path")
    file = resolve_inside(folder, relative, source, *keys)
    if not file.is_file() or file.suffix != ".py":
        raise errors.no_file(source.location(*keys), source.field_name(keys), relative, "a Python file")
    return file


def _require_code(folder: Path, manifest: ComponentManifest, source: SourceDocument) -> None:
    entry = manifest.execution.python
    if entry is None:
        raise errors.no_entry(source.location("execution"), "execution.python")
    if entry.attr is None:
        raise errors.no_entry(source.location("execution", "python"), "execution.python.attr")
    require_python(folder, entry.path, source)


def _require_page(folder: Path, manifest: ComponentManifest, source: SourceDocument) -> None:
    path, keys = manifest.spec["path"], ("spec", "path")
    file = resolve_inside(folder, path, source, *keys)
    if not file.is_file():
        raise errors.no_file(source.location(*keys), source.field_name(keys), path, "a file")
    if (size := file.stat().st_size) > PAGE_HTML_BYTES:
        raise errors.large_page(source.location(*keys), source.field_name(keys), path, size)


def _require_schema(source: SourceDocument, schema: dict[str, Any] | None) -> None:
    keys = ("spec", "parameters")
    location, field = source.location(*keys), source.field_name(keys)
    if schema is None:
        return
    if schema.get("type") != "object":
        raise errors.no_schema(location, field, f"its type is {schema.get('type')!r}")
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        raise errors.no_schema(location, field, "its properties are no mapping, or what is required no list")
    for name in required:
        if name not in properties:
            raise errors.no_schema(location, field, f"'{name}' is required and not among its properties")
