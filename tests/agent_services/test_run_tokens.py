"""Tests that each service that may use the Host's tools gets the token of the run, and no other service does."""

import json
from typing import Any

import pytest

from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.services import FakeAgentPlatform, FakeCoze, FakeDashScope, FakeDify, FakeLangflow, FakeN8n
from tests.support.peers import ROOT

TOKEN = "pgw_fake"
VALUES = {"nested": {"token": "{{run_token}}"}}
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "dify": (FakeDify, {"api_key": "k", "inputs": VALUES}),
    "n8n": (FakeN8n, {"extra": VALUES}),
    "coze": (FakeCoze, {"api_key": "k", "bot_id": "bot-1", "variables": {"token": "{{run_token}}"}}),
    "dashscope": (FakeDashScope, {"api_key": "k", "app_id": "app-1", "biz_params": VALUES}),
    "langflow": (FakeLangflow, {"flow_id": "flow-1", "tweaks": VALUES}),
    "litellm-agent-platform": (FakeAgentPlatform, {"api_key": "k", "agent_id": "agent-1"}),
}
ADDRESSES = {"n8n": "webhook_url", "coze": "api_base"}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("gateway", ["read", ""])
async def test_the_token_is_sent_where_the_agent_allows_it(name: str, gateway: str) -> None:
    make, config = CASES[name]
    async with make() as service:
        address = {ADDRESSES.get(name, "base_url"): getattr(service, "webhook_url", service.url)}
        run = await FakeHost().run(
            ROOT / "plugins" / f"{name}-agent", "hello", config={**address, **config, "gateway": gateway}
        )
        sent = json.dumps([each.json for each in service.requests if each.body])

    assert run.status == "completed", run.error
    assert (TOKEN in sent) is (gateway != "")
    assert ("{{run_token}}" in sent) is (gateway == "" and name != "litellm-agent-platform")
