"""Tests that the image is built on a minimal Debian, and that podman runs it hardened, with sandboxes if wanted."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from parlour.testing.network import free_port
from parlour.testing.onebot_simulator import Simulator
from tests.support.harness import ROOT, bearer, eventually

from .containers import IMAGE, READY, Engine, running

pytestmark = [pytest.mark.long, pytest.mark.root, pytest.mark.timeout(1800)]

HARDENED = (
    "--read-only",
    "--tmpfs=/tmp:mode=1777",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--memory=768m",
    "--no-healthcheck",
)
ALONE = (*HARDENED, "--network=none")
MAX_IMAGE_BYTES = 900_000_000
TOKEN = "a-token-of-the-implementation"


def test_the_image_runs_hardened_and_keeps_its_volume(engine: Engine) -> None:
    volume = "--volume=parlour-test-data:/data"
    with running(engine, *ALONE, volume) as container:
        assert engine.podman("exec", container, "python3", "-c", READY.replace("readyz", "healthz")) == "200"
        engine.parlour(container, "keys", "create", "--name", "kept")
        status = engine.podman("exec", container, "cat", "/proc/1/status")
        assert "CapEff:\t0000000000000000" in status
        assert "NoNewPrivs:\t1" in status
        engine.podman("stop", "--time=20", container)
        assert json.loads(engine.podman("inspect", container))[0]["State"]["ExitCode"] == 0
    with running(engine, *ALONE, volume) as container:
        assert "kept" in engine.parlour(container, "keys", "list")


def test_any_user_of_group_root_can_run_the_image(engine: Engine) -> None:
    with running(engine, *ALONE, "--user=1000730000:0", "--tmpfs=/data:mode=1777") as container:
        assert engine.podman("exec", container, "id", "-u") == "1000730000"


def test_the_image_says_how_its_plugins_are_isolated(engine: Engine) -> None:
    with running(engine, *ALONE) as container:
        assert "Plugins run without a sandbox" in engine.podman("logs", container, check=False)


def test_the_shipped_profile_gives_plugins_sandboxes(engine: Engine) -> None:
    profile = f"--security-opt=seccomp={ROOT / 'deploy' / 'image' / 'seccomp.json'}"
    with running(engine, *ALONE, profile, "--security-opt=unmask=ALL") as container:
        status = engine.podman("exec", container, "cat", "/proc/1/status")
        assert "CapEff:\t0000000000000000" in status
        assert "Seccomp:\t2" in status
        assert "plugins run in bubblewrap, with a system call filter" in engine.parlour(container, "doctor")
        assert "Plugins run without a sandbox" not in engine.podman("logs", container, check=False)


def test_the_image_has_no_pip_and_no_compiler(engine: Engine) -> None:
    found = "for each in pip pip3 gcc cc make; do command -v $each; done; true"
    assert (
        engine.podman("run", "--rm", "--network=none", "--no-healthcheck", "--entrypoint=sh", IMAGE, "-c", found) == ""
    )


def test_the_image_is_small(engine: Engine) -> None:
    assert int(engine.podman("image", "inspect", "--format", "{{.Size}}", IMAGE)) < MAX_IMAGE_BYTES


async def test_a_onebot_implementation_outside_the_container_connects(engine: Engine, tmp_path: Path) -> None:
    port = free_port()
    with running(engine, *HARDENED, f"--publish=127.0.0.1:{port}:5300") as container:
        key = engine.parlour(container, "keys", "create", "--name", "test")
        bot = await asyncio.to_thread(new_onebot_bot, f"http://127.0.0.1:{port}/api/v1", key)
        simulator = Simulator(10001, TOKEN)
        async with asyncio.timeout(60), simulator.connecting(f"ws://127.0.0.1:{port}/hooks/{bot}/onebot/v11/ws"):
            await simulator.say("hello from outside", user_id=11)
            [answer] = await simulator.answered(1)

    assert "add a provider" in answer.text


def new_onebot_bot(api: str, key: str) -> str:
    """Creates a bot that the built-in agent answers for, and returns its id."""
    config = {"mode": "reverse", "port": 0, "access_token": TOKEN}
    with httpx.Client(base_url=api, headers=bearer(key), timeout=60) as client:
        [agent] = eventually(lambda: client.get("/agents").json()["items"], "the built-in agent is there")
        made = client.post("/bots", json={"name": "qq", "adapter": "onebot11", "adapter_config": config})
        assert made.status_code == 201, made.text
        bot_id = str(made.json()["bot_id"])
        routes = [{"event_type": "*", "handler_type": "agent", "handler_config": {"agent_id": agent["agent_id"]}}]
        assert client.put(f"/bots/{bot_id}/routes", json=routes).status_code == 200
    return bot_id
