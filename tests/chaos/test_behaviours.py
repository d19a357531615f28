"""Tests the visible effects of each behaviour for users, for the operator and in the ledger, and
what stays unreached.
"""

import re
import socket

import psutil
import pytest

from tests.support.harness import Host, eventually, texts

from .chaos import CHAOS_ID, Chaos
from .expectations import ANSWERED, ENDED, STOPPED, Answered, Ended


@pytest.mark.parametrize("expected", ENDED, ids=lambda each: each.behaviour)
def test_a_plugin_that_harms_itself_is_ended_with_a_reason_and_serves_again(chaos: Chaos, expected: Ended) -> None:
    result = chaos.run(expected.behaviour)

    assert (result["outcome"], result["reason"]) == ("failed", "runner.crashed")
    assert chaos.host.transcript(result["conversation_id"])[-1] == ("notice", STOPPED)
    run = chaos.host.run(result["run"]["run_id"])
    assert (run["status"], run["status_reason"]) == ("failed", "runner.crashed")
    assert re.search(f"lost during the run: {expected.lost or expected.reason}", run["error"])
    chaos.check_recovery()
    chaos.wait_for_reason(f"started again after this: {expected.reason}")
    assert chaos.host.process.pid == chaos.pid


@pytest.mark.parametrize("expected", ANSWERED, ids=lambda each: each.behaviour)
def test_a_plugin_that_attacks_other_parts_completes_its_own_run_only(chaos: Chaos, expected: Answered) -> None:
    result = chaos.run(expected.behaviour)

    assert result["outcome"] == "answered"
    [text] = texts(result)
    assert re.fullmatch(expected.text, text)
    assert chaos.host.transcript(result["conversation_id"])[1:] == [("assistant", text)]
    assert chaos.host.run(result["run"]["run_id"])["status"] == "completed"
    chaos.check_recovery()
    assert chaos.plugin()["status"] == "ready"
    assert chaos.host.process.pid == chaos.pid


def test_a_run_that_ignores_its_cancellation_is_cancelled_at_once_and_its_process_is_replaced(
    chaos: Chaos,
) -> None:
    before = chaos.pids()
    assert before

    result = chaos.run("ignore_cancel")

    assert (result["run"]["status"], result["run"]["status_reason"]) == ("cancelled", "cancelled")
    chaos.wait_for_reason("went on for 0.5 s after their cancellation.*a fresh process took over")
    chaos.check_recovery()
    eventually(lambda: not before & chaos.pids(), "the old process is gone")


def test_each_invalid_result_is_dropped_and_named_in_the_log(chaos: Chaos) -> None:
    result = chaos.run("invalid_results")

    run_id = result["run"]["run_id"]
    dropped = [line for line in chaos.host.log().splitlines() if run_id in line and "is dropped" in line]
    assert len(dropped) == 6
    assert texts(result) == ["after all that, an answer"]


def test_printed_lines_are_in_the_plugins_log_and_nowhere_else(chaos: Chaos) -> None:
    chaos.run("print_stdout")

    def logged() -> str:
        return str(chaos.host.http().get(f"/plugins/{CHAOS_ID}/logs").json())

    eventually(lambda: "line 999 on what it takes for the wire" in logged(), "its last line is there")
    assert "what it takes for the wire" not in chaos.host.log()


def test_children_that_left_their_parent_end_with_the_plugin(chaos: Chaos) -> None:
    before = chaos.pids()
    assert before

    chaos.run("fork_children")
    chaos.check_recovery()

    chaos.wait_for_reason("exit status 1")
    assert chaos.pids() & before == set()
    assert len(_descendants(chaos.host)) < 20


def test_neither_the_hosts_database_nor_its_port_is_reached_although_both_exist(chaos: Chaos) -> None:
    host = chaos.host
    database = host.data / "parlour.db"
    assert database.exists()
    address, port = host.address.removeprefix("http://").split(":")
    socket.create_connection((address, int(port)), 5).close()

    assert texts(chaos.run("read_host_database", str(database)))[0].startswith("not reached: ")
    assert texts(chaos.run("connect_out", f"{address}:{port}"))[0].startswith("not reached: ")


def _descendants(host: Host) -> list[psutil.Process]:
    return host.process.children(recursive=True)
