"""Tests `parlour keys` with a running Host and without one."""

import re
from pathlib import Path

from tests.support.commands import parlour, parlour_here, refusal
from tests.support.harness import Host, error_code

KEY = re.compile(r"parlour_[A-Za-z0-9_-]{43}\n")


def listed(data: Path) -> dict[str, tuple[str, str, str]]:
    """Returns id, state and scope of each key by name."""
    lines = parlour_here("keys", "list", "--data", data).stdout.splitlines()
    return {name: (key_id, state, scope) for key_id, state, scope, name in (line.split(maxsplit=3) for line in lines)}


def test_creating_a_key_prints_only_the_key_in_a_new_data_directory(tmp_path: Path) -> None:
    made = parlour("keys", "create", "--name", "first", "--data", tmp_path / "new")

    assert made.returncode == 0
    assert KEY.fullmatch(made.stdout)
    assert made.stderr == ""


def test_a_key_made_while_the_host_runs_works_at_once(host: Host) -> None:
    made = parlour("keys", "create", "--name", "made live", "--scope", "viewer", "--data", host.data)

    assert KEY.fullmatch(made.stdout)
    assert host.http(made.stdout.strip()).get("/agents").status_code == 200


def test_a_revoked_key_fails_on_its_next_request_and_is_listed_as_revoked(host: Host) -> None:
    key = host.key("viewer", "to be revoked")
    assert host.http(key).get("/agents").status_code == 200
    key_id, state, scope = listed(host.data)["to be revoked"]
    assert (state, scope) == ("active", "viewer")

    revoked = parlour("keys", "revoke", key_id, "--data", host.data)

    assert (revoked.returncode, revoked.stdout, revoked.stderr) == (0, "", "")
    answer = host.http(key).get("/agents")
    assert (answer.status_code, error_code(answer)) == (401, "unauthenticated")
    assert listed(host.data)["to be revoked"] == (key_id, "revoked", "viewer")


def test_revoking_an_unknown_key_says_how_to_find_the_known_ones(tmp_path: Path) -> None:
    sentence = refusal("keys", "revoke", "nobody", "--data", tmp_path)

    assert "'nobody'" in sentence
    assert "keys list" in sentence


def test_a_list_never_shows_a_key_itself(tmp_path: Path) -> None:
    key = parlour_here("keys", "create", "--name", "hidden", "--data", tmp_path).stdout.strip()

    assert key not in parlour_here("keys", "list", "--data", tmp_path).stdout
