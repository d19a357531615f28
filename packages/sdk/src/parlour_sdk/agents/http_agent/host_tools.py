"""Gives a service the token with which it uses the Host's tools for one answer."""

from collections.abc import Mapping
from typing import Any

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.errors import AgentAPIException

from .config import ConfigT
from .errors import ServiceFailure

PLACEHOLDER = "{{run_token}}"
"""Stands for the token in the values of a configuration, such as the inputs of an app."""


async def with_run_token(config: ConfigT, api: AgentRunAPI) -> tuple[ConfigT, str]:
    """Returns the configuration with the token of this run in its values, and the token; empty if it is off.

    Raises ServiceFailure if the Host has no gateway for services.
    """
    if not config.gateway:
        return config, ""
    try:
        access = await api.gateway.open_for_service(writes=config.gateway == "all")
    except AgentAPIException as refusal:
        raise ServiceFailure("config", f"gateway: {refusal.error.message}") from None
    values = {name: getattr(config, name) for name in type(config).model_fields}
    filled = {name: _filled(value, access.token) for name, value in values.items() if isinstance(value, Mapping)}
    return config.model_copy(update=filled), access.token


def _filled(value: Any, token: str) -> Any:
    """Returns a value with the token in place of the placeholder, at any depth."""
    if isinstance(value, str):
        return value.replace(PLACEHOLDER, token)
    if isinstance(value, Mapping):
        return {name: _filled(each, token) for name, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, token) for each in value]
    return value
