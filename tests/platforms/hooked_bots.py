"""Creates bots in a real Host whose platform calls them, for the tests of single platforms."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from parlour.testing.adapter_suite import PlatformDriver
from tests.platforms.onebot11.qq import eventually, to_agent
from tests.support.harness import Host


@asynccontextmanager
async def hooked_bot(host: Host, driver: PlatformDriver, agent_id: str, **config: Any) -> AsyncIterator[str]:
    """Starts the platform and yields the id of its connected bot, which answers with an agent."""
    async with driver.running():
        name = driver.manifest.name
        body = {"name": name, "adapter": name, "adapter_config": {**driver.config, **config}}
        made = host.http().post("/bots", json=body)
        assert made.status_code == 201, made.text
        bot_id = made.json()["bot_id"]
        driver.called_at(f"{host.address}/hooks/{bot_id}")
        assert host.http().put(f"/bots/{bot_id}/routes", json=to_agent(agent_id)).status_code == 200
        await eventually(lambda: host.http().get(f"/bots/{bot_id}").json()["status"]["state"] == "connected", "online")
        try:
            yield bot_id
        finally:
            host.http().delete(f"/bots/{bot_id}")
