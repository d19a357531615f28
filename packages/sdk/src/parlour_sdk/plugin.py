"""Reads a plugin's folder: its manifest, its components, their classes. Says what is wrong and where."""

import importlib.util
import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from .components import AgentRunner
from .protocol.manifest import AgentRunnerManifest, ComponentManifest, PluginManifest, PythonEntry

Model = TypeVar("Model", bound=BaseModel)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class PluginInvalid(Exception):
    """A plugin's files are not as the contract wants them."""

    code = "plugin_invalid"


@dataclass(frozen=True, slots=True)
class Component:
    file: Path
    manifest: ComponentManifest


@dataclass(frozen=True, slots=True)
class Plugin:
    folder: Path
    manifest: PluginManifest
    components: tuple[Component, ...]

    def runner_manifests(self) -> dict[str, dict[str, Any]]:
        """By runner name, as `list_agent_runners` tells them; the Host validates each on its own."""
        return {
            component.manifest.metadata.name: {
                "id": f"plugin:{self.manifest.identity}/{component.manifest.metadata.name}",
                "name": component.manifest.metadata.name,
                "label": component.manifest.metadata.label or {"en_US": component.manifest.metadata.name},
                "description": component.manifest.metadata.description,
                **component.manifest.spec,
            }
            for component in self.components
            if component.manifest.kind == "AgentRunner"
        }


def read_plugin(folder: Path) -> Plugin:
    """Reads and validates the files; imports nothing."""
    if not folder.is_dir():
        raise PluginInvalid(f"{folder} is not a folder; a plugin is a folder with a manifest.yaml")
    manifest = _read(folder / "manifest.yaml", PluginManifest)
    components: list[Component] = []
    seen: set[tuple[str, str]] = set()
    for relative in manifest.spec.components:
        file = _inside(folder, relative, folder / "manifest.yaml")
        component = Component(file, _read(file, ComponentManifest))
        name = (component.manifest.kind, component.manifest.metadata.name)
        if name in seen:
            raise PluginInvalid(f"{file}: a second {name[0]} named '{name[1]}'; give each its own metadata.name")
        seen.add(name)
        if component.manifest.execution.python is not None:
            _code(folder, component.manifest.execution.python, file)
        components.append(component)
    plugin = Plugin(folder, manifest, tuple(components))
    files = {each.manifest.metadata.name: each.file for each in components if each.manifest.kind == "AgentRunner"}
    for runner, fields in plugin.runner_manifests().items():
        try:
            AgentRunnerManifest.model_validate(fields)
        except ValidationError as error:
            raise PluginInvalid(f"{files[runner]}: runner '{runner}': {_first(error)}") from error
    return plugin


def load_runners(plugin: Plugin) -> dict[str, AgentRunner]:
    """Imports the plugin's code and makes one instance of each runner."""
    sys.path.insert(0, str(plugin.folder))
    return {
        component.manifest.metadata.name: _instantiate(plugin, component)
        for component in plugin.components
        if component.manifest.kind == "AgentRunner"
    }


def _instantiate(plugin: Plugin, component: Component) -> AgentRunner:
    entry = component.manifest.execution.python
    if entry is None:
        raise PluginInvalid(f"{component.file}: execution.python is missing; it names the file and the class")
    made = getattr(_module(plugin.folder, entry, component.file), entry.attr, None)
    if not (inspect.isclass(made) and issubclass(made, AgentRunner)):
        raise PluginInvalid(f"{component.file}: {entry.path} has no class '{entry.attr}' derived from AgentRunner")
    if not inspect.isasyncgenfunction(made.run):
        raise PluginInvalid(f"{entry.path}: {entry.attr}.run must be an async generator: `async def` with `yield`")
    return made()


def _module(folder: Path, entry: PythonEntry, named_in: Path) -> ModuleType:
    file = _code(folder, entry, named_in)
    name = "plugin_" + "_".join(Path(entry.path).with_suffix("").parts).replace("-", "_")
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(file):
        return known
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise _no_code(entry, named_in)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _code(folder: Path, entry: PythonEntry, named_in: Path) -> Path:
    file = _inside(folder, entry.path, named_in)
    if not file.is_file():
        raise _no_code(entry, named_in)
    return file


def _no_code(entry: PythonEntry, named_in: Path) -> PluginInvalid:
    return PluginInvalid(f"{named_in}: execution.python.path names {entry.path}, which is not a Python file here")


def _inside(folder: Path, relative: str, named_in: Path) -> Path:
    file = (folder / relative).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise PluginInvalid(f"{named_in}: '{relative}' leaves the plugin's folder; use a path inside it")
    return file


def _read(file: Path, model: type[Model]) -> Model:
    try:
        content = yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)
    except OSError as error:
        raise PluginInvalid(f"{file} can't be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PluginInvalid(f"{file} is not YAML: {' '.join(str(error).split())}") from error
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise PluginInvalid(f"{file}: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in detail['loc']) or 'the file'}: {detail['msg']}"
