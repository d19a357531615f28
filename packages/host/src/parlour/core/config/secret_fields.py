"""Handles secrets in an agent's configuration: sealed when it is saved, opened when a run starts, masked otherwise."""

from typing import Any, Final

from parlour.core.secrets import SecretBox
from parlour_sdk.protocol.form import FormItem

from .form_validation import SECRET_MASK, mask_form_secrets

SEALED_KEY: Final = "parlour.sealed"
"""Key of an object that contains nothing but a sealed value of a configuration."""


def merge_masked(form: list[FormItem], config: dict[str, Any], stored: dict[str, Any]) -> dict[str, Any]:
    """Replaces masked secrets of a submitted configuration by their stored values."""
    masked = {name for name in _secret_names(form) if config.get(name) == SECRET_MASK and stored.get(name)}
    return {name: stored[name] if name in masked else value for name, value in config.items()}


def seal_secrets(form: list[FormItem], config: dict[str, Any], secret_box: SecretBox) -> dict[str, Any]:
    """Returns the configuration with its plain secrets sealed."""
    secret = {name for name in _secret_names(form) if isinstance(config.get(name), str) and config[name]}
    return {name: {SEALED_KEY: secret_box.seal(value)} if name in secret else value for name, value in config.items()}


def open_secrets(config: dict[str, Any], secret_box: SecretBox) -> dict[str, Any]:
    """Returns the configuration with its secrets opened. Raises SecretUnreadable."""
    if not any(_is_sealed(value) for value in config.values()):
        return config
    return {name: secret_box.open(value[SEALED_KEY]) if _is_sealed(value) else value for name, value in config.items()}


def mask_secrets(form: list[FormItem] | None, config: dict[str, Any]) -> dict[str, Any]:
    """Returns the configuration with its secrets masked, for operators and the audit."""
    masked = mask_form_secrets(form, config)
    return {name: SECRET_MASK if _is_sealed(value) else value for name, value in masked.items()}


def _secret_names(form: list[FormItem]) -> set[str]:
    return {item.name for item in form if item.type == "secret"}


def _is_sealed(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {SEALED_KEY}
