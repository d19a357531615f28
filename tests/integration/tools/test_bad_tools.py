"""Tests hostile tools and pages with a real Host and local agent, and a model service that calls the tools.

The tests check the model's input, the user's answer, the addresses that were not reached, and the Host's memory.
"""

import json
import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from parlour.testing.model_server import ModelServer, Say
from tests.integration.models.test_plain_models import local
from tests.support.harness import ROOT, Json, eventually, texts
from tests.support.internet import INSIDE, PUBLIC, Inside, InternetHost, Web, web
from tests.support.scripted_models import LOCAL_PLUGIN

from .test_tools import BORROWING, arguments_of, connected

MIB = 1024 * 1024
NAMES = {
    "page.test": [[PUBLIC]],
    "inside.test": [[INSIDE]],
    "both.test": [[INSIDE, PUBLIC]],
    "changing.test": [[PUBLIC], [INSIDE]],
    "turning.test": [[PUBLIC], [INSIDE]],
}
MCP = ROOT / "packages" / "host" / "tests" / "providers" / "tools" / "mcp" / "hostile_server.py"
HOSTILE = {"name": "hostile", "command": sys.executable, "arguments": [str(MCP), "garbage"]}
INSTALLED = ROOT / ".tools" / "mcp-servers" / "node_modules" / "@modelcontextprotocol"
EVERYTHING = {
    "name": "everything",
    "command": "node",
    "arguments": [str(INSTALLED / "server-everything" / "dist" / "index.js"), "stdio"],
}
LONG = "everything.trigger-long-running-operation"
TOOLS = [
    *("web.fetch", "test/borrowing.garbled", "hostile.noise", "hostile.controls", "hostile.large"),
    *("everything.echo", LONG),
]
APOLOGY = "I could not read it."
REFUSED = "is not a public address, and the operator did not allow it"


@pytest.fixture(scope="module")
def pages() -> Iterator[Web]:
    with web() as pages:
        yield pages


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def inside() -> Iterator[Inside]:
    inside = Inside()
    yield inside
    inside.close()


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, pages: Web) -> Iterator[InternetHost]:
    folder = tmp_path_factory.mktemp("small internet")
    host = InternetHost(folder, NAMES, pages.port, PARLOUR__MCP__ALLOW_UNSANDBOXED="true")
    host.install(LOCAL_PLUGIN)
    host.install(BORROWING)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def agent(host: InternetHost, server: ModelServer) -> str:
    """Creates an agent with tools of every kind."""
    for body in (HOSTILE, EVERYTHING):
        made = host.http().post("/mcp-servers", json={**body, "transport": "stdio"})
        assert made.status_code == 201, made.text
        eventually(partial(connected, host, made.json()["server_id"]), f"{body['name']} is connected", 60)
    return local(host, f"{server.address}/v1", tools=TOOLS)


@pytest.fixture(autouse=True)
def reset_requests(pages: Web, server: ModelServer) -> None:
    pages.forget()
    server.forget()


class UserWithModel:
    """Represents a user who asks, and a model that calls one tool and then apologizes."""

    def __init__(self, host: InternetHost, agent: str, server: ModelServer) -> None:
        self._host = host
        self._agent = agent
        self._server = server

    def output_of(self, name: str, **arguments: Any) -> str:
        """Returns the tool's output as the model received it. The user must get the final answer and nothing else."""
        wire_name = name.replace(".", "_").replace("/", "_")
        function = {"name": wire_name, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": "call-1", "type": "function", "function": function}
        self._server.will(Say("", tool_calls=[call]), Say(APOLOGY))
        result = self._host.ask(self._agent, "please")
        assert (result["run"]["status"], texts(result)) == ("completed", [APOLOGY])
        message: Json = self._server.requests[-1].body["messages"][-1]
        assert message["role"] == "tool"
        return str(message["content"])

    def fetch_output(self, url: str) -> str:
        return self.output_of("web.fetch", url=url)


@pytest.fixture
def person(host: InternetHost, agent: str, server: ModelServer) -> UserWithModel:
    return UserWithModel(host, agent, server)


@pytest.mark.parametrize(
    ("url", "named", "requested"),
    [
        ("http://127.0.0.1:{port}/", INSIDE, []),
        ("http://inside.test:{port}/", "inside.test", []),
        ("http://page.test/to?url=http://127.0.0.1:{port}/", INSIDE, ["page.test/to"]),
        ("http://page.test/to?url=http://inside.test:{port}/", "inside.test", ["page.test/to"]),
        ("http://turning.test:{port}/to?url=http://turning.test:{port}/", "turning.test", ["turning.test/to"]),
    ],
    ids=["address", "name", "redirect to an address", "redirect to a name", "redirect to a name that has changed"],
)
def test_an_internal_address_is_not_reached_and_the_model_receives_the_reason(
    person: UserWithModel, pages: Web, inside: Inside, url: str, named: str, requested: list[str]
) -> None:
    assert person.fetch_output(url.format(port=inside.port)) == f"Error: '{named}' {REFUSED}"
    assert (pages.requested_urls, inside.was_reached()) == (requested, False)


def test_a_name_that_changes_to_an_internal_address_is_not_fetched_again(
    person: UserWithModel, pages: Web, inside: Inside
) -> None:
    url = f"http://changing.test:{inside.port}/"
    assert person.fetch_output(url) == f"{url}\n\na public page"
    assert person.fetch_output(url) == f"Error: 'changing.test' {REFUSED}"
    assert (pages.requested_urls, inside.was_reached()) == (["changing.test/"], False)


def test_only_the_public_address_of_a_name_is_contacted(person: UserWithModel, pages: Web, inside: Inside) -> None:
    assert "a public page" in person.fetch_output(f"http://both.test:{inside.port}/")
    assert (pages.requested_urls, inside.was_reached()) == (["both.test/"], False)


@pytest.mark.parametrize("page", ["gigabyte", "endless"])
def test_only_a_part_of_an_endless_page_is_loaded_and_memory_stays_bounded(
    host: InternetHost, person: UserWithModel, pages: Web, page: str
) -> None:
    person.fetch_output("http://page.test/")  # this loads everything that a fetch needs
    with highest(host) as memory:
        output = person.fetch_output(f"http://page.test/{page}")
    assert output.startswith(f"http://page.test/{page}\n\nall work and no play")
    assert "(the whole output is artifact " in output
    assert len(output) < MIB
    eventually(pages.left.is_set, "the service sees that the client has disconnected")
    assert pages.sent < 32 * MIB
    assert memory.growth < 30 * MIB


@pytest.mark.long
def test_a_page_that_arrives_slowly_without_end_is_cut_after_its_time(person: UserWithModel, pages: Web) -> None:
    output = person.fetch_output("http://page.test/dripping")
    assert output.startswith("http://page.test/dripping\n\nmore more")
    assert output.endswith("[cut because the page took too long]")
    eventually(pages.left.is_set, "the service sees that the client has disconnected")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("binary", "[1000 characters of binary data, which is not text]"),
        ("controls", "a bell rings in a long sentence"),
        (
            "large",  # 10 MB
            "Error: The tool gave no result: the tool 'test/borrowing.garbled' gave more than can be passed on: "
            "the frame has 10000135 bytes, at most 2097152 are allowed",
        ),
    ],
)
def test_an_invalid_answer_of_a_tool_reaches_the_model_bounded_and_readable(
    person: UserWithModel, kind: str, expected: str
) -> None:
    assert person.output_of("test/borrowing.garbled", kind=kind) == expected


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("noise", "[5120 characters of binary data, which is not text]"),
        ("controls", "a plain sentence [31mwith colour in it"),
    ],
)
def test_an_invalid_answer_of_an_mcp_server_reaches_the_model_readable(
    person: UserWithModel, tool: str, expected: str
) -> None:
    assert person.output_of(f"hostile.{tool}") == expected


def test_the_model_gets_a_part_of_a_large_mcp_answer_and_the_artifact_of_the_rest(
    host: InternetHost, person: UserWithModel
) -> None:
    output = person.output_of("hostile.large")
    whole = r"\(the whole output is artifact (\S+), hostile\.large\.txt; read on with artifact\.read\)"
    left_out = r"\n\.\.\. \(\d+ of \d+ bytes left out\) \.\.\.\n"
    artifact_id = re.fullmatch(rf"x{{11264}}{left_out}x+\n\[the tool answered [^\]]+; cut\]\n{whole}", output)
    assert artifact_id, output[-200:]
    saved = host.http().get(f"/artifacts/{artifact_id[1]}/content")
    assert 4 * MIB < len(saved.content) < 4 * MIB + 200
    assert saved.text.endswith("[the tool answered with more than is taken, 4194304 bytes; cut]")


def test_a_kill_of_an_mcp_server_during_a_call_is_reported_and_the_next_call_works(
    host: InternetHost, person: UserWithModel
) -> None:
    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(person.output_of, LONG, duration=60, steps=60)
        eventually(lambda: call.done() or killed(host, "server-everything"), "its process was killed", 60)
        while not wait([call], 3).done:
            killed(host, "server-everything")  # the call had not reached the server yet
    assert "went away during the call; whether it acted is not known" in call.result()
    assert person.output_of("everything.echo", message="again") == "Echo: again"


def killed(host: InternetHost, words: str) -> bool:
    """Kills the server's process and returns whether it was in the middle of a tool call."""
    runs = host.items("/runs", status="running")
    started = runs and [each for each in host.items(f"/runs/{runs[0]['run_id']}/events") if "tool.call" in each["type"]]
    found = [each for each in host.process.children(recursive=True) if words in " ".join(arguments_of(each))]
    for process in found if started else ():
        process.kill()
    return bool(started and found)


class Memory:
    def __init__(self, before: int) -> None:
        self._before = before
        self.highest = before

    @property
    def growth(self) -> int:
        return self.highest - self._before


@contextmanager
def highest(host: InternetHost) -> Iterator[Memory]:
    """Measures the highest memory of the Host while the context is open."""
    process, stopped = host.process, threading.Event()
    memory = Memory(process.memory_info().rss)

    def look() -> None:
        while not stopped.wait(0.005):
            memory.highest = max(memory.highest, process.memory_info().rss)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield memory
    finally:
        stopped.set()
        looking.join()
        memory.highest = max(memory.highest, process.memory_info().rss)
