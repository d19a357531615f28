"""What tools and pages may do to a run: a real Host and local agent, and a model service that calls the tools.

Looked at is what the model is told, what the person gets, where nobody went, and how much the Host took on itself.
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

from .harness import ROOT, Json, eventually, texts
from .internet import INSIDE, PUBLIC, Inside, InternetHost, Web, web
from .test_plain_models import local
from .test_tools import BORROWING, arguments_of, connected
from .written import LOCAL_PLUGIN

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
SORRY = "I could not read it."
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
    """With tools of every kind."""
    for body in (HOSTILE, EVERYTHING):
        made = host.http().post("/mcp-servers", json={**body, "transport": "stdio"})
        assert made.status_code == 201, made.text
        eventually(partial(connected, host, made.json()["server_id"]), f"{body['name']} is connected", 60)
    return local(host, f"{server.address}/v1", tools=TOOLS)


@pytest.fixture(autouse=True)
def forgotten(pages: Web, server: ModelServer) -> None:
    pages.forget()
    server.forget()


class Asking:
    """A person who asks, and a model that calls a tool for it and then says it is sorry."""

    def __init__(self, host: InternetHost, agent: str, server: ModelServer) -> None:
        self._host = host
        self._agent = agent
        self._server = server

    def calling(self, name: str, **arguments: Any) -> str:
        """What the model was told by the tool. The person got an answer and nothing else."""
        wire_name = name.replace(".", "_").replace("/", "_")
        function = {"name": wire_name, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": "call-1", "type": "function", "function": function}
        self._server.will(Say("", tool_calls=[call]), Say(SORRY))
        result = self._host.ask(self._agent, "please")
        assert (result["run"]["status"], texts(result)) == ("completed", [SORRY])
        told: Json = self._server.asked[-1].body["messages"][-1]
        assert told["role"] == "tool"
        return str(told["content"])

    def reading(self, url: str) -> str:
        return self.calling("web.fetch", url=url)


@pytest.fixture
def person(host: InternetHost, agent: str, server: ModelServer) -> Asking:
    return Asking(host, agent, server)


@pytest.mark.parametrize(
    ("url", "named", "asked"),
    [
        ("http://127.0.0.1:{port}/", INSIDE, []),
        ("http://inside.test:{port}/", "inside.test", []),
        ("http://page.test/to?url=http://127.0.0.1:{port}/", INSIDE, ["page.test/to"]),
        ("http://page.test/to?url=http://inside.test:{port}/", "inside.test", ["page.test/to"]),
        ("http://turning.test:{port}/to?url=http://turning.test:{port}/", "turning.test", ["turning.test/to"]),
    ],
    ids=["address", "name", "redirect to an address", "redirect to a name", "redirect to a name that has changed"],
)
def test_nobody_gets_inside_and_the_model_is_told_why(
    person: Asking, pages: Web, inside: Inside, url: str, named: str, asked: list[str]
) -> None:
    assert person.reading(url.format(port=inside.port)) == f"Error: '{named}' {REFUSED}"
    assert (pages.asked, inside.was_reached()) == (asked, False)


def test_a_name_that_changes_to_an_address_inside_is_not_read_again(person: Asking, pages: Web, inside: Inside) -> None:
    url = f"http://changing.test:{inside.port}/"
    assert person.reading(url) == f"{url}\n\na public page"
    assert person.reading(url) == f"Error: 'changing.test' {REFUSED}"
    assert (pages.asked, inside.was_reached()) == (["changing.test/"], False)


def test_of_a_names_addresses_only_the_public_one_is_gone_to(person: Asking, pages: Web, inside: Inside) -> None:
    assert "a public page" in person.reading(f"http://both.test:{inside.port}/")
    assert (pages.asked, inside.was_reached()) == (["both.test/"], False)


@pytest.mark.parametrize("page", ["gigabyte", "endless"])
def test_of_what_has_no_end_a_part_is_loaded_and_the_host_does_not_grow(
    host: InternetHost, person: Asking, pages: Web, page: str
) -> None:
    person.reading("http://page.test/")  # whatever is loaded for it is there now
    with highest(host) as memory:
        told = person.reading(f"http://page.test/{page}")
    assert told.startswith(f"http://page.test/{page}\n\nall work and no play")
    assert "(the whole output is artifact " in told
    assert len(told) < MIB
    eventually(pages.left.is_set, "the service sees that nobody reads on")
    assert pages.sent < 32 * MIB
    assert memory.growth < 30 * MIB


@pytest.mark.long
def test_of_a_page_that_comes_slowly_without_end_is_told_what_came_in_time(person: Asking, pages: Web) -> None:
    told = person.reading("http://page.test/dripping")
    assert told.startswith("http://page.test/dripping\n\nmore more")
    assert told.endswith("[cut because the page took too long]")
    eventually(pages.left.is_set, "the service sees that nobody reads on")


@pytest.mark.parametrize(
    ("kind", "told"),
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
def test_what_a_tool_should_not_answer_reaches_the_model_bounded_and_readable(
    person: Asking, kind: str, told: str
) -> None:
    assert person.calling("test/borrowing.garbled", kind=kind) == told


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        ("noise", "[5120 characters of binary data, which is not text]"),
        ("controls", "a plain sentence [31mwith colour in it"),
    ],
)
def test_what_an_mcp_server_should_not_answer_reaches_the_model_readable(person: Asking, tool: str, told: str) -> None:
    assert person.calling(f"hostile.{tool}") == told


def test_of_a_large_answer_of_an_mcp_server_the_model_gets_a_part_and_where_the_whole_is(
    host: InternetHost, person: Asking
) -> None:
    told = person.calling("hostile.large")
    artifact_id = re.fullmatch(r"x{16384}\n\(the whole output is artifact (\S+), hostile\.large\.txt\)", told)
    assert artifact_id, told[-200:]
    kept = host.http().get(f"/artifacts/{artifact_id[1]}/content")
    assert 4 * MIB < len(kept.content) < 4 * MIB + 200
    assert kept.text.endswith("[the tool answered with more than is taken, 4194304 bytes; cut]")


def test_an_mcp_server_that_is_killed_in_mid_call_is_told_and_there_again_for_the_next(
    host: InternetHost, person: Asking
) -> None:
    with ThreadPoolExecutor(1) as thread:
        calling = thread.submit(person.calling, LONG, duration=60, steps=60)
        eventually(lambda: calling.done() or killed(host, "server-everything"), "its process was killed", 60)
        while not wait([calling], 3).done:
            killed(host, "server-everything")  # the call had not come to it yet
    assert "went away during the call; whether it acted is not known" in calling.result()
    assert person.calling("everything.echo", message="again") == "Echo: again"


def killed(host: InternetHost, words: str) -> bool:
    """Whether there was a process of its that is in the middle of a tool call."""
    runs = host.items("/runs", status="running")
    begun = runs and [each for each in host.items(f"/runs/{runs[0]['run_id']}/events") if "tool.call" in each["type"]]
    found = [each for each in host.process.children(recursive=True) if words in " ".join(arguments_of(each))]
    for process in found if begun else ():
        process.kill()
    return bool(begun and found)


class Memory:
    def __init__(self, before: int) -> None:
        self._before = before
        self.highest = before

    @property
    def growth(self) -> int:
        return self.highest - self._before


@contextmanager
def highest(host: InternetHost) -> Iterator[Memory]:
    """The most that the Host itself holds meanwhile."""
    process, over = host.process, threading.Event()
    memory = Memory(process.memory_info().rss)

    def look() -> None:
        while not over.wait(0.005):
            memory.highest = max(memory.highest, process.memory_info().rss)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield memory
    finally:
        over.set()
        looking.join()
        memory.highest = max(memory.highest, process.memory_info().rss)
