"""Tests the configuration of a plugin itself: form, values, secrets, and the restart after a change."""

from collections.abc import Iterator

import pytest

from tests.support.chat import Chat
from tests.support.harness import ECHO, ECHO_PLUGIN, ROOT, Host, error_code, eventually, named_fields, texts

CONFIGURED = ROOT / "tests" / "fixtures" / "plugins" / "configured.py"
PATH = "/plugins/test/configured/config"


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("configured"))
    host.install(ECHO_PLUGIN)
    host.install(CONFIGURED)
    yield host.start()
    host.close()


def starts(host: Host) -> int:
    return len(host.shared_file("starts.txt", "test/configured").read_text().splitlines())


def test_form_and_defaults_are_read(configured: Host) -> None:
    plugin = configured.http().get("/plugins/test/configured").json()
    body = configured.http().get(PATH).json()
    assert plugin["configurable"] is True
    assert [item["name"] for item in body["config_schema"]] == ["city", "token", "days"]
    assert body["config"] == {"city": "Berlin", "days": 3}
    assert configured.http().get("/plugins/parlour/echo-agent/config").json() == {"config_schema": [], "config": {}}


async def test_change_restarts_the_plugin_and_keeps_secrets_from_readers(configured: Host) -> None:
    before = starts(configured)
    changed = configured.http().put(PATH, json={"config": {"city": "Rome", "token": "s3cret-canary"}})
    assert changed.json()["config"] == {"city": "Rome", "days": 3, "token": "********"}
    eventually(lambda: starts(configured) > before, "the plugin is started again")
    again = configured.http().put(PATH, json={"config": {"city": "Oslo", "token": "********"}})
    assert again.status_code == 200, again.text
    assert again.json()["config"]["token"] == "********"

    async with Chat(configured, configured.agent(ECHO)) as chat:
        await chat.say("/settings")
        assert (await chat.until("message"))["message"]["content"] == "Oslo 3 s3cret-canary"
    audit = [entry for entry in configured.items("/audit") if entry["action"] == "plugin.configure"]
    assert len(audit) == 2
    assert "s3cret-canary" not in str(audit)


def test_command_and_reply_over_http_are_part_of_the_result(configured: Host) -> None:
    agent = configured.agent(ECHO)
    told = configured.ask(agent, "/settings", event_id="http command")
    assert (told["outcome"], told["run"]) == ("control", None)
    assert texts(told)[0].endswith(("token", "canary"))
    assert texts(configured.ask(agent, "/settings", event_id="http command")) == texts(told)
    assert texts(configured.ask(agent, "/agent"))[0].startswith("tester answers here.")
    configured.ask(agent, "ping", event_id="http reply")
    eventually(
        lambda: "pong" in texts(configured.ask(agent, "ping", event_id="http reply")), "the reply is with the result"
    )
    why = configured.http().get("/events/http reply/why").json()["steps"]
    assert "A plugin replied to it." in [step["text"] for step in why]


def test_wrong_values_are_refused_by_name(configured: Host) -> None:
    http = configured.http()
    assert named_fields(http.put(PATH, json={"config": {"days": 9}})) == ["config.days"]
    assert named_fields(http.put(PATH, json={"config": {"town": "Rome"}})) == ["config.town"]
    stale = http.put(PATH, json={"config": {"city": "Rome"}}, headers={"If-Match": '"abc"'})
    assert (stale.status_code, error_code(stale)) == (412, "changed_meanwhile")
    viewer = configured.http(configured.key("viewer"))
    assert viewer.put(PATH, json={"config": {}}).status_code == 403
    assert viewer.get(PATH).json()["config"].get("token") in (None, "********")
    without = http.put("/plugins/parlour/echo-agent/config", json={"config": {}})
    assert (without.status_code, error_code(without)) == (409, "conflict")
