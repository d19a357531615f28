"""Tests settings that act at once: validated, audited, kept over a restart, and reset."""

from collections.abc import Iterator

import pytest

from tests.support.harness import ECHO_PLUGIN, Host, Json, error_code, eventually, named_fields

ENVIRONMENT = {
    "PARLOUR__RETENTION__EVENTS_DAYS": 200,
    "PARLOUR__RETENTION__FIRST_SECONDS": 0,
    "PARLOUR__RUNS__PER_PERSON": 3,
}
STOPPING = "the Host is stopping"
ONE_MILLISECOND_DAYS = 1 / (24 * 3600 * 1000)
"""One millisecond in days; a transcript that the test has just read is older than that."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("settings"), **ENVIRONMENT)
    host.install(ECHO_PLUGIN)
    host.start()
    yield host
    host.close()


def put(host: Host, **sections: Json) -> Json:
    answer = host.http().put("/settings", json=sections)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_settings_initially_come_from_file_and_environment(host: Host) -> None:
    settings = host.http(host.key("viewer")).get("/settings").json()

    assert settings["retention"]["events_days"] == 200
    assert settings["runs"] == {
        "concurrent": 256,
        "per_person": 3,
        "per_sender_per_minute": 20,
        "per_conversation_per_minute": 120,
    }
    assert settings["changed"] == []
    assert set(settings) == {"retention", "runs", "workspace", "logs", "changed"}, "no secret is among them"


def test_a_change_acts_at_once_is_audited_and_outlives_a_restart(host: Host) -> None:
    changed = put(host, workspace={"time_zone": "Asia/Tokyo", "outbound_ips": ["203.0.113.7"]}, logs={"level": "error"})

    assert changed["changed"] == ["logs.level", "workspace.outbound_ips", "workspace.time_zone"]
    info = host.http().get("/info").json()
    assert (info["time_zone"], info["outbound_ips"]) == ("Asia/Tokyo", ["203.0.113.7"])
    [entry] = host.items("/audit", action="settings.change")
    assert entry["detail"]["before"]["workspace.time_zone"] == "UTC"
    assert entry["detail"]["after"]["workspace.time_zone"] == "Asia/Tokyo"
    host.restart()
    assert host.http().get("/settings").json() == changed
    assert STOPPING not in host.log(), "the log tells of errors only"
    back = put(host, workspace={"time_zone": None, "outbound_ips": None}, logs={"level": None})
    commands = {"command_prefixes": ["/"], "command_roles": []}
    workspace = {"time_zone": "UTC", "language": "en", **commands, "outbound_ips": [], "currency": ""}
    assert (back["changed"], back["workspace"]) == ([], workspace)
    host.restart()
    assert STOPPING in host.log()


def test_a_settings_response_can_be_sent_back(host: Host) -> None:
    settings = host.http().get("/settings").json()

    again = put(host, **settings)

    assert {name: again[name] for name in settings if name != "changed"} == {
        name: settings[name] for name in settings if name != "changed"
    }
    put(host, **{name: dict.fromkeys(settings[name]) for name in ("retention", "runs", "workspace", "logs")})


def test_a_shorter_retention_deletes_older_records_at_once(host: Host) -> None:
    conversation_id = host.ask(host.agent(), "long ago")["conversation_id"]
    assert host.transcript(conversation_id)

    put(host, retention={"events_days": ONE_MILLISECOND_DAYS})

    eventually(lambda: host.transcript(conversation_id) == [], "what was said is gone")
    assert put(host, retention={"events_days": None})["retention"]["events_days"] == 200


def test_a_lower_run_limit_applies_from_the_next_run_on(host: Host) -> None:
    agent = host.agent(config={"hold_ms": 600_000})
    put(host, runs={"concurrent": 1})
    host.send(agent, "one")
    first = host.active_run(agent)
    second = host.send(agent, "two")["event_id"]
    assert "It waits for its turn." in host.http().get(f"/events/{second}/why").text
    assert [run["run_id"] for run in host.items("/runs", agent_id=agent)] == [first]

    put(host, runs={"concurrent": None})

    eventually(lambda: len(host.items("/runs", agent_id=agent, status="running")) == 2, "the other one begins")
    for run in host.items("/runs", agent_id=agent):
        assert host.http().post(f"/runs/{run['run_id']}/cancel").status_code == 200


def test_invalid_settings_are_refused_by_name_and_nothing_is_changed(host: Host) -> None:
    before = host.http().get("/settings").json()
    body = {
        "retention": {"events_days": -1},
        "runs": {"per_person": 0},
        "workspace": {"time_zone": "Mars/Olympus", "currency": "euros"},
        "http": {"port": 1},
        "logs": {"level": "warning"},
    }

    refused = host.http().put("/settings", json=body)

    assert refused.status_code == 422
    assert named_fields(refused) == [
        "retention.events_days",
        "runs.per_person",
        "workspace.time_zone",
        "workspace.currency",
        "http",
    ]
    assert host.http().get("/settings").json() == before


def test_costs_are_in_the_currency_of_the_providers_unless_another_is_set(host: Host) -> None:
    def currency() -> str:
        return str(host.http().get("/info").json()["currency"])

    def add_provider(kind: str) -> None:
        made = host.http().post("/model-providers", json={"name": kind, "kind": kind, "api_keys": ["key"]}).json()
        model = {"provider_id": made["provider_id"], "name": "large", "prices": {"input": 2, "output": 8}}
        assert host.http().post("/models", json=model).status_code == 201

    assert currency() == "", "nothing has a price"
    add_provider("deepseek")
    one = currency()
    add_provider("openai")
    assert (one, currency()) == ("CNY", ""), "two currencies can't be added up"
    put(host, workspace={"currency": "EUR"})
    assert currency() == "EUR"
    put(host, workspace={"currency": None})


def test_only_admins_change_settings(host: Host) -> None:
    refused = host.http(host.key("operator")).put("/settings", json={})

    assert (refused.status_code, error_code(refused)) == (403, "forbidden")
