"""Provides clients of doors."""

from collections.abc import Callable
from typing import Any

import openai
import pytest

from tests.support.harness import Host

OpenAi = Callable[..., openai.OpenAI]


@pytest.fixture
def openai_client(host: Host) -> OpenAi:
    """Builds unmodified OpenAI clients of the shared Host."""

    def build(key: str | None = None, **options: Any) -> openai.OpenAI:
        options = {"max_retries": 0, "timeout": 30, **options}
        return openai.OpenAI(base_url=f"{host.address}/v1", api_key=host.key("chat") if key is None else key, **options)

    return build


@pytest.fixture
def publish(host: Host) -> Callable[..., str]:
    """Creates published agents."""

    def create(*arguments: Any, door: str = "openai", **fields: Any) -> str:
        return host.agent(*arguments, published=[door], **fields)

    return create
