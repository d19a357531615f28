"""Tests the A2A door with the unmodified client of a2a-sdk, which has an environment of its own."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.harness import PUPPET, Host, Json
from tests.support.peers import SERVICES

CLIENT = Path(__file__).parent / "peers" / "a2a_sdk_client.py"
Publish = Callable[..., str]

pytestmark = pytest.mark.long
both_versions = pytest.mark.parametrize("version", ["1.0", "0.3"])


async def use(host: Host, agent_id: str, version: str, *texts: str, key: str = "") -> tuple[Json, str]:
    """Says texts to an agent; returns what the client printed, and its errors."""
    address = f"{host.address}/a2a/{agent_id}"
    command = (SERVICES / "a2a/bin/python", CLIENT, address, key or host.key("chat"), version, *texts)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    output, errors = await process.communicate()
    return (json.loads(output) if output else {}), errors.decode()


@both_versions
async def test_the_sdk_talks_to_an_agent_in_one_context(host: Host, publish: Publish, version: str) -> None:
    agent = publish(door="a2a", name="Repeater", config={"remember": True})

    used, errors = await use(host, agent, version, "a", "b")

    assert used, errors
    assert used["name"] == "Repeater"
    assert [(each["text"], each["state"]) for each in used["turns"]] == [
        ("1 a", "TASK_STATE_COMPLETED"),
        ("2 b", "TASK_STATE_COMPLETED"),
    ]
    assert used["listed"] == (2 if version == "1.0" else None)
    assert used["missing"] == "TaskNotFoundError"


@both_versions
async def test_the_sdk_cancels_a_task_and_reads_a_dropped_stream_again(
    host: Host, publish: Publish, gate_file: Path, version: str
) -> None:
    agent = publish(PUPPET, door="a2a", restart_policy="never")

    used, errors = await use(host, agent, version, f"again:gate {gate_file}", "fail", "cancel:sleep")

    assert used, errors
    again, failed, cancelled = used["turns"]
    assert (again["text"], again["state"]) == ("waiting is over", "TASK_STATE_COMPLETED")
    assert failed["state"] == "TASK_STATE_FAILED"
    assert cancelled["state"] == "TASK_STATE_CANCELED"


async def test_the_sdk_reports_a_wrong_key_and_an_unknown_agent(host: Host, publish: Publish) -> None:
    agent = publish(door="a2a")

    for agent_id, key, status in ((agent, "parlour_wrong", "401"), ("nobody", "", "404")):
        used, errors = await use(host, agent_id, "1.0", "hello", key=key)
        assert not used
        assert "AgentCardResolutionError" in errors
        assert status in errors
