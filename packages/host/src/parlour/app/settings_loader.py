"""Loads the settings from a file, the environment and the command line."""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from .settings import ConfigurationInvalid, HostSettings

ENVIRONMENT_PREFIX = "PARLOUR__"


def load(file: Path | None, overrides: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> HostSettings:
    """Loads the settings. `overrides` (the command line) win over the environment, which wins over the file.

    The file is the one that is named, or `config.yaml` in the data directory.
    """
    settings_file = file or _find_settings_file(overrides, environment)
    values = _read(settings_file) if settings_file else {}
    values.setdefault("data", default_data_directory(environment))
    for name, value in environment.items():
        if name.startswith(ENVIRONMENT_PREFIX):
            path, parsed = _setting_from_variable(name, value)
            _set_value(values, path, parsed, name)
    for name, value in overrides.items():
        if value is not None:
            _set_value(values, name.split("."), value, name)
    try:
        return HostSettings.model_validate(values)
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(str(part) for part in first_error["loc"])
        raise ConfigurationInvalid(f"setting '{key}': {first_error['msg']}") from error


def default_settings_file(data: Path) -> Path:
    """Returns the path of the settings file that is read if no other is named."""
    return data / "config.yaml"


def default_data_directory(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Returns `data` in the current folder if it exists, and otherwise the user's folder for data of Parlour."""
    here = HostSettings.model_fields["data"].default
    if here.is_dir():
        return Path(here)
    home = Path(environment.get("HOME") or "~").expanduser()
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "Parlour"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "Parlour"
    shared = Path(environment.get("XDG_DATA_HOME", ""))
    return (shared if shared.is_absolute() else home / ".local" / "share") / "parlour"


def _find_settings_file(overrides: Mapping[str, Any], environment: Mapping[str, str]) -> Path | None:
    data = overrides.get("data") or environment.get(f"{ENVIRONMENT_PREFIX}DATA") or default_data_directory(environment)
    file = default_settings_file(Path(data).expanduser())
    return file if file.is_file() else None


def _setting_from_variable(name: str, value: str) -> tuple[list[str], str]:
    """Returns the setting and the value of a variable.

    `..._FILE` names a file that contains the value, as is usual for secrets in containers.
    """
    path = name.removeprefix(ENVIRONMENT_PREFIX).lower().split("__")
    if not path[-1].endswith("_file") or _is_setting(path):
        return path, value
    try:
        content = Path(value).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationInvalid(f"{name}: '{value}' can't be read: {error}") from error
    if not content:
        raise ConfigurationInvalid(f"{name}: '{value}' is empty; write the value into it, or unset {name}")
    return [*path[:-1], path[-1].removesuffix("_file")], content


def _is_setting(path: list[str]) -> bool:
    section: Any = HostSettings
    for name in path:
        field = getattr(section, "model_fields", {}).get(name)
        if field is None:
            return False
        section = field.annotation
    return True


def _read(file: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationInvalid(f"{file} can't be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationInvalid(f"{file} is not YAML: {_yaml_problem(error)}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigurationInvalid(f"{file} must hold settings by name, such as `http: {{port: 5300}}`")
    return values


def _yaml_problem(error: Exception) -> str:
    """Describes a YAML error and its position without quoting the file: the line may contain a secret."""
    mark = getattr(error, "problem_mark", None)
    problem = re.sub(r"'[^']{2,}'", "a word", str(getattr(error, "problem", None) or "it can't be read"))
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}" if mark is not None else problem


def _set_value(values: dict[str, Any], path: list[str], value: Any, name: str) -> None:
    *sections, key = path
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise ConfigurationInvalid(f"{name}: '{section}' is not a section")
    values[key] = value
