"""Reads a plugin (a folder or a single file) and reports what is wrong and where. Imports none of its code."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from parlour_sdk.protocol.manifest import PluginManifest

from . import errors
from .component_files import read_component, require_name, require_python, resolve_inside
from .errors import SourceLocation
from .manifest_files import ComponentDefinition, PluginDefinition
from .source_map import SourceDocument, validate
from .yaml_file import read_yaml

MANIFEST_FILE = "manifest.yaml"
REQUIREMENTS_FILE = "requirements.txt"
COMPONENTS_FOLDER = "components"
MAX_REPORTED_FILES = 200
HEAD_BYTES = 4096
_KIND = re.compile(
    r"^kind:\s*['\"]?(AgentRunner|EventListener|Tool|Command|KnowledgeEngine|Parser|Page)\b", re.MULTILINE
)


def read_plugin(path: Path) -> PluginDefinition:
    """Reads a plugin. Raises PluginInvalid with file, line and remedy; minor problems are in its `warnings`."""
    if path.is_file() and path.suffix == ".py":
        return _read_file(path)
    if not path.is_dir():
        raise errors.not_a_plugin(path)
    return _read_folder(path)


def _read_file(file: Path) -> PluginDefinition:
    from .declarations import Declarations

    warnings: list[str] = []
    declarations = Declarations.from_file(file, file.name, warnings)
    manifest, requirements = declarations.manifest(), declarations.requirements()
    warnings += _event_warnings(manifest, SourceLocation(file))
    components = tuple(_require_distinct(declarations.components()))
    warnings += _default_warnings(manifest, components, SourceLocation(file))
    return PluginDefinition(file.parent, manifest, components, file, requirements, tuple(warnings))


def _read_folder(folder: Path) -> PluginDefinition:
    warnings: list[str] = []
    source = read_yaml(folder / MANIFEST_FILE, warnings)
    manifest = validate(source, PluginManifest)
    for part in ("author", "name"):
        require_name(source, getattr(manifest.metadata, part), "metadata", part)
    _check_named_files(folder, manifest, source)
    warnings += _event_warnings(manifest, source.location("spec", "permissions", "events"))
    component_files = [
        read_component(folder, resolve_inside(folder, relative, source, "spec", "components", index), warnings)
        for index, relative in enumerate(manifest.spec.components)
    ]
    warnings += _unlisted_warnings(folder, [each.file for each in component_files])
    components = tuple(_require_distinct([*component_files, *_declared_components(folder, manifest, source)]))
    warnings += _default_warnings(manifest, components, SourceLocation(folder / MANIFEST_FILE))
    return PluginDefinition(folder, manifest, components, warnings=tuple(warnings))


def _unlisted_warnings(folder: Path, listed_files: Iterable[Path]) -> Iterable[str]:
    """Builds a warning for each component file beside the listed ones, or below `components`, that is not listed."""
    listed_paths = {file.resolve() for file in listed_files}
    siblings = [file for each in {file.parent for file in listed_paths} for file in each.glob("*.yaml")]
    candidates = {file.resolve() for file in [*siblings, *(folder / COMPONENTS_FOLDER).rglob("*.yaml")]}
    for file in sorted(candidates - listed_paths)[:MAX_REPORTED_FILES]:
        kind = _component_kind(file)
        if kind and file.is_relative_to(folder.resolve()):
            yield errors.unlisted_component(SourceLocation(file), kind, file.relative_to(folder.resolve()).as_posix())


def _component_kind(file: Path) -> str:
    """Returns the kind of a component file; empty for any other file."""
    try:
        head = file.read_bytes()[:HEAD_BYTES].decode(errors="replace")
    except OSError:
        return ""
    match = _KIND.search(head) if errors.API_VERSION in head else None
    return match[1] if match else ""


def _default_warnings(
    manifest: PluginManifest, components: Sequence[ComponentDefinition], location: SourceLocation
) -> list[str]:
    if not manifest.spec.config_schema and not any(each.manifest.spec.get("config_schema") for each in components):
        return []
    from .forms import default_warnings, own_default_warnings

    own = own_default_warnings(manifest.spec.config_schema, location)
    return [*own, *default_warnings(manifest.identity, components)]


def _check_named_files(folder: Path, manifest: PluginManifest, source: SourceDocument) -> None:
    icon, requirements = manifest.metadata.icon, manifest.execution.requirements
    if icon is not None and not resolve_inside(folder, icon, source, "metadata", "icon").is_file():
        source.warnings.append(errors.no_icon(source.location("metadata", "icon"), icon))
    keys = ("execution", "requirements")
    if requirements is not None and not resolve_inside(folder, requirements, source, *keys).is_file():
        raise errors.no_file(source.location(*keys), source.field_name(keys), requirements, "a file")
    if requirements is None and (folder / REQUIREMENTS_FILE).is_file():
        source.warnings.append(errors.unnamed_requirements(source.location("execution"), REQUIREMENTS_FILE))


def _event_warnings(manifest: PluginManifest, location: SourceLocation) -> list[str]:
    if not manifest.spec.permissions.events:
        return []
    from .event_checks import pattern_warnings

    return list(pattern_warnings(location, manifest.spec.permissions.events))


def _declared_components(folder: Path, manifest: PluginManifest, source: SourceDocument) -> list[ComponentDefinition]:
    """Returns the components that decorators in the folder's main file declare; none if there is no main file."""
    entry = manifest.execution.python
    if entry is None:
        return []
    from .declarations import Declarations

    declarations = Declarations.from_file(require_python(folder, entry.path, source), entry.path, source.warnings)
    declarations.warn_if_different(manifest)
    return declarations.components()


def _require_distinct(components: Iterable[ComponentDefinition]) -> Iterable[ComponentDefinition]:
    locations: dict[tuple[str, str], SourceLocation] = {}
    for component in components:
        kind = component.manifest.kind
        if kind == "KnowledgeEngine" and any(seen_kind == kind for seen_kind, _ in locations):
            raise errors.duplicate_engine(
                component.location,
                next(location for (seen_kind, _), location in locations.items() if seen_kind == kind),
            )
        for name in (component.name, *component.manifest.spec.get("aliases", ())):
            if (kind, name) in locations:
                raise errors.duplicate_component(component.location, kind, name, locations[kind, name])
            locations[kind, name] = component.location
        yield component
