"""Reads a plugin (a folder or a single file) and reports what is wrong and where. Imports none of its code."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from parlour_sdk.protocol.manifest import PluginManifest

from . import problems
from .component_files import inside, read_component, require_name, require_python
from .files import Component, Plugin
from .problems import Place
from .source import Source, checked
from .yaml_file import read_yaml

MANIFEST = "manifest.yaml"
REQUIREMENTS = "requirements.txt"
COMPONENTS = "components"
MOST_FILES = 200
HEAD_BYTES = 4096
_KIND = re.compile(
    r"^kind:\s*['\"]?(AgentRunner|EventListener|Tool|Command|KnowledgeEngine|Parser|Page)\b", re.MULTILINE
)


def read_plugin(path: Path) -> Plugin:
    """Reads a plugin. Raises PluginInvalid with file, line and remedy; minor problems are in its `warnings`."""
    if path.is_file() and path.suffix == ".py":
        return _read_file(path)
    if not path.is_dir():
        raise problems.not_a_plugin(path)
    return _read_folder(path)


def _read_file(file: Path) -> Plugin:
    from .declarations import Declarations

    warnings: list[str] = []
    declarations = Declarations.of(file, file.name, warnings)
    manifest, requirements = declarations.manifest(), declarations.requirements()
    warnings += _odd_events(manifest, Place(file))
    components = tuple(_distinct(declarations.components()))
    warnings += _odd_defaults(manifest, components)
    return Plugin(file.parent, manifest, components, file, requirements, tuple(warnings))


def _read_folder(folder: Path) -> Plugin:
    warnings: list[str] = []
    source = read_yaml(folder / MANIFEST, warnings)
    manifest = checked(source, PluginManifest)
    for part in ("author", "name"):
        require_name(source, getattr(manifest.metadata, part), "metadata", part)
    _check_named_files(folder, manifest, source)
    warnings += _odd_events(manifest, source.place("spec", "permissions", "events"))
    named = [
        read_component(folder, inside(folder, relative, source, "spec", "components", place), warnings)
        for place, relative in enumerate(manifest.spec.components)
    ]
    warnings += _unlisted(folder, [each.file for each in named])
    components = tuple(_distinct([*named, *_declared(folder, manifest, source)]))
    warnings += _odd_defaults(manifest, components)
    return Plugin(folder, manifest, components, warnings=tuple(warnings))


def _unlisted(folder: Path, listed: Iterable[Path]) -> Iterable[str]:
    """Builds a warning for each component file beside the listed ones, or below `components`, that is not listed."""
    known = {file.resolve() for file in listed}
    beside = [file for each in {file.parent for file in known} for file in each.glob("*.yaml")]
    found = {file.resolve() for file in [*beside, *(folder / COMPONENTS).rglob("*.yaml")]}
    for file in sorted(found - known)[:MOST_FILES]:
        kind = _component_kind(file)
        if kind and file.is_relative_to(folder.resolve()):
            yield problems.unlisted(Place(file), kind, file.relative_to(folder.resolve()).as_posix())


def _component_kind(file: Path) -> str:
    """Returns the kind of a component file; empty for any other file."""
    try:
        head = file.read_bytes()[:HEAD_BYTES].decode(errors="replace")
    except OSError:
        return ""
    found = _KIND.search(head) if problems.API_VERSION in head else None
    return found[1] if found else ""


def _odd_defaults(manifest: PluginManifest, components: Sequence[Component]) -> list[str]:
    if not any(each.manifest.spec.get("config_schema") for each in components):
        return []
    from .forms import odd_defaults

    return odd_defaults(manifest.identity, components)


def _check_named_files(folder: Path, manifest: PluginManifest, source: Source) -> None:
    icon, requirements = manifest.metadata.icon, manifest.execution.requirements
    if icon is not None and not inside(folder, icon, source, "metadata", "icon").is_file():
        source.warnings.append(problems.no_icon(source.place("metadata", "icon"), icon))
    keys = ("execution", "requirements")
    if requirements is not None and not inside(folder, requirements, source, *keys).is_file():
        raise problems.no_file(source.place(*keys), source.shown(keys), requirements, "a file")
    if requirements is None and (folder / REQUIREMENTS).is_file():
        source.warnings.append(problems.unnamed_requirements(source.place("execution"), REQUIREMENTS))


def _odd_events(manifest: PluginManifest, place: Place) -> list[str]:
    if not manifest.spec.permissions.events:
        return []
    from .event_names import unknown_patterns

    return list(unknown_patterns(place, manifest.spec.permissions.events))


def _declared(folder: Path, manifest: PluginManifest, source: Source) -> list[Component]:
    """Returns the components that decorators in the folder's main file declare; none if there is no main file."""
    entry = manifest.execution.python
    if entry is None:
        return []
    from .declarations import Declarations

    declarations = Declarations.of(require_python(folder, entry.path, source), entry.path, source.warnings)
    declarations.compare(manifest)
    return declarations.components()


def _distinct(components: Iterable[Component]) -> Iterable[Component]:
    seen: dict[tuple[str, str], Place] = {}
    for component in components:
        kind = component.manifest.kind
        if kind == "KnowledgeEngine" and any(other == kind for other, _ in seen):
            raise problems.second_engine(component.place, next(at for (other, _), at in seen.items() if other == kind))
        for name in (component.name, *component.manifest.spec.get("aliases", ())):
            if (kind, name) in seen:
                raise problems.second(component.place, kind, name, seen[kind, name])
            seen[kind, name] = component.place
        yield component
