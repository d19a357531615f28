"""Settings: defaults, then a YAML file, then `PARLOUR__SECTION__KEY` from the environment."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

PREFIX = "PARLOUR__"


class ConfigurationInvalid(Exception):
    """The configuration can't be used."""

    code = "configuration_invalid"


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HttpSettings(Section):
    host: str = "127.0.0.1"
    port: int = Field(default=5300, ge=0, le=65535)
    body_bytes: int = Field(default=10 * 1024 * 1024, ge=1024)
    chat_frame_bytes: int = Field(default=1024 * 1024, ge=1024)


class RunSettings(Section):
    concurrent: int = Field(default=256, ge=1)
    per_person: int = Field(default=8, ge=1)


class PluginSettings(Section):
    start_seconds: float = Field(default=30, gt=0)
    stop_seconds: float = Field(default=5, gt=0)
    first_restart_seconds: float = Field(default=1, ge=0)
    longest_restart_seconds: float = Field(default=60, ge=0)
    give_up_after: int = Field(default=5, ge=1)
    give_up_within_seconds: float = Field(default=600, gt=0)
    frames_per_second: int = Field(default=5000, ge=1)
    bytes_per_second: int = Field(default=16 * 1024 * 1024, ge=1024)


class Settings(Section):
    data: Path = Path("data")
    http: HttpSettings = HttpSettings()
    runs: RunSettings = RunSettings()
    plugins: PluginSettings = PluginSettings()


def load(file: Path | None, overrides: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Settings:
    """`overrides` (the command line) win over the environment, which wins over the file."""
    values = _read(file) if file else {}
    for name, value in environment.items():
        if name.startswith(PREFIX):
            _put(values, name.removeprefix(PREFIX).lower().split("__"), value, name)
    for name, value in overrides.items():
        if value is not None:
            _put(values, name.split("."), value, name)
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigurationInvalid(f"setting '{key}': {first['msg']}") from error


def _read(file: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationInvalid(f"{file} can't be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationInvalid(f"{file} is not YAML: {' '.join(str(error).split())}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigurationInvalid(f"{file} must hold settings by name, such as `http: {{port: 5300}}`")
    return values


def _put(values: dict[str, Any], path: list[str], value: Any, name: str) -> None:
    *sections, key = path
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise ConfigurationInvalid(f"{name}: '{section}' is not a section")
    values[key] = value
