"""Tests programs that the Host starts for plugins: what they see, what is refused, and that nothing of them stays."""

import os
import time
from pathlib import Path

import pytest

from tests.integration.conftest import MakeHost
from tests.support.harness import ROOT, Host, eventually, texts
from tests.support.rogue import QUICK, sleepers

PROGRAM_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "program-agent"
PROGRAM_ID = "test/program-agent"
PROGRAM = f"plugin:{PROGRAM_ID}/default"
NO_ASKING = "processes:shell,processes:reader"


def made(make_host: MakeHost, **settings: object) -> Host:
    host = make_host(**QUICK, **settings)
    host.install(PROGRAM_PLUGIN, "--grant", NO_ASKING)
    return host.start()


def said(host: Host, text: str) -> str:
    [answer] = texts(host.ask(host.agent(PROGRAM, restart_policy="never"), text))
    return answer


def sleeping(host: Host) -> str:
    """Has a program start a `sleep` in a session of its own, and returns its argument."""
    unique = f"86400.{time.time_ns()}{os.getpid()}"
    assert said(host, f"keep setsid sleep {unique} & trap '' TERM; echo up; cat; sleep {unique}") == "up"
    eventually(lambda: sleepers(unique), "the program's child runs")
    return unique


def test_a_program_sees_its_folders_and_what_it_was_given_and_nothing_else(make_host: MakeHost, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the operator's")
    mine = tmp_path / "project"
    mine.mkdir()
    host = made(make_host, PARLOUR__PROGRAMS__WORKSPACE_FOLDERS=str(tmp_path), SECRET="of the Host")

    assert said(host, "shell cat deep/given.txt; echo; echo $FROM_PLUGIN; pwd") == (
        f"given by the plugin\ngiven\n{host.home}/programs/workspaces/{PROGRAM_ID}/default"
    )
    assert said(host, "shell echo kept > ~/note") == "0"
    assert said(host, "shell cat ~/note; echo $SECRET") == "kept"
    assert said(host, f"shell ls {host.home}/parlour.db {secret} 2>/dev/null").endswith("[2]")
    assert said(host, "reader touch x 2>/dev/null").endswith("[1]")
    assert said(host, "shell cat /proc/net/dev | grep -c :") == "1"
    assert said(host, f"at {mine} echo done > result") == "0"
    assert (mine / "result").read_text() == "done\n"
    assert said(host, f"cat {'x' * 10}") == str(10 * 100_000 + len("to a file"))

    assert said(host, "call nothing sh").startswith("unauthorized: processes: 'nothing' was not granted")
    assert said(host, "call shell bash").startswith("unauthorized: command: 'bash' was not granted")
    assert said(host, "set LD_PRELOAD").startswith("invalid_argument: environment: 'LD_PRELOAD'")
    assert said(host, "at /etc true").startswith("unauthorized: workspace: '/etc'")
    assert said(host, "at ../x true").startswith("invalid_argument: workspace")
    assert said(host, "write ../out.txt").startswith("invalid_argument: file")
    assert said(host, f"shell ln -s {tmp_path} link") == "0"
    assert said(host, "write link/out.txt").startswith("runtime_error: file: 'link/out.txt' can't be written")
    assert not (tmp_path / "out.txt").exists()


def test_nothing_is_started_without_a_grant_and_the_page_names_all_of_it(make_host: MakeHost) -> None:
    host = make_host(**QUICK)
    host.install(PROGRAM_PLUGIN, "--grant", "processes:reader")
    host.start()

    assert said(host, "shell true").startswith("unauthorized: processes: 'shell' was not granted")
    assert said(host, "reader echo here") == "here"
    [plugin] = [each for each in host.items("/plugins") if each["id"] == PROGRAM_ID]
    assert plugin["permissions"]["ungranted"] == {
        "processes": ["shell: runs sh; writes workspace; home own; network off"]
    }
    assert [each["key"] for each in plugin["permissions"]["words"]["ungranted"]] == [
        "processes.program",
        "processes.workspace",
        "processes.home",
    ]
    host.http().put(f"/plugins/{PROGRAM_ID}", json={"granted": ["processes:shell"]}).raise_for_status()
    assert said(host, "shell echo here") == "here"
    assert said(host, "reader true").startswith("unauthorized: processes: 'reader' was not granted")


@pytest.mark.parametrize(
    "sandbox", ["auto", pytest.param("off", marks=pytest.mark.long)], ids=["in a sandbox", "without a sandbox"]
)
def test_the_end_of_a_program_its_plugin_or_the_host_leaves_nothing(make_host: MakeHost, sandbox: str) -> None:
    host = made(make_host, PARLOUR__PLUGINS__SANDBOX=sandbox)

    ended = sleeping(host)
    assert said(host, "end now") == "ended"
    eventually(lambda: not sleepers(ended), "nothing of an ended program runs")

    orphaned = sleeping(host)
    host.plugin_process(PROGRAM_ID).kill()
    eventually(lambda: not sleepers(orphaned), "nothing runs after the plugin was killed")

    left = sleeping(host)
    host.kill()
    eventually(lambda: not sleepers(left), "nothing runs after the Host was killed")


def test_a_program_that_uses_too_much_is_ended_and_says_why(make_host: MakeHost) -> None:
    host = made(make_host, PARLOUR__PROGRAMS__WORKSPACE_MB=1, PARLOUR__PLUGINS__DATA_LOOK_SECONDS=0.1)

    assert "holds more than 1 MB" in said(host, "shell head -c 3000000 /dev/zero > big; exec sleep 600")


def test_the_folders_of_a_conversation_go_with_it_and_its_programs_end(make_host: MakeHost) -> None:
    host = made(make_host)
    asked = host.ask(host.agent(PROGRAM, restart_policy="never"), "mine echo here > note; sleep 600 & echo up; wait")
    [up] = texts(asked)
    conversation_id = asked["conversation_id"]
    other = host.ask(host.agent(PROGRAM, restart_policy="never"), "mine echo up")["conversation_id"]
    root = host.home / "programs" / "workspaces" / PROGRAM_ID
    mine, kept = (root / f"{each}-work" for each in (conversation_id, other))
    assert up == "up"
    assert (mine / "note").read_text() == "here\n"

    host.http().delete(f"/conversations/{conversation_id}").raise_for_status()

    eventually(lambda: not mine.exists(), "the folder is deleted")
    assert kept.is_dir()
