"""Tests that `parlour doctor` says which platforms can't be reached, and whose clock differs from this one."""

import json
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import time

import pytest

from parlour.core.platforms.manifest import AdapterManifest
from parlour.platforms._kit.server_probe import configured_servers
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.testing.network import free_port
from tests.support.commands import parlour_here

PLATFORMS = Path("packages/host/src/parlour/platforms")
MANIFESTS = BuiltinAdapterCatalogue().manifests()


@contextmanager
def platform(seconds_behind: float = 0.0) -> Iterator[str]:
    """Serves a platform whose clock is behind that of this machine, and yields its address."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked.append(str(self.headers))
            self.send_response(401)
            self.end_headers()

        def date_time_string(self, timestamp: float | None = None) -> str:
            return super().date_time_string(time() - seconds_behind)

        def log_message(self, *words: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
    assert len(asked) == 1, "bots that share a server ask it once"
    assert "uthorization" not in asked[0]


def add_bot(data: Path, name: str, adapter: str, **config: object) -> None:
    definition = {"name": name, "adapter": adapter, "config": config, "secrets": {}, "enabled": name != "Off"}
    with closing(sqlite3.connect(data / "parlour.db")) as connection:
        connection.execute("INSERT INTO bots VALUES (?, ?, 0, 0)", (name, json.dumps(definition)))
        connection.commit()


def test_servers_that_are_away_and_clocks_that_differ_are_named_with_what_to_do(tmp_path: Path) -> None:
    data, closed = tmp_path / "data", free_port()
    assert parlour_here("db", "upgrade", "--data", data).returncode == 0
    with platform() as right, platform(3600) as behind, platform(-300) as ahead:
        add_bot(data, "Ann", "line", api_base_url=f"{right}/line")
        add_bot(data, "Bob", "line", api_base_url=f"{right}/line")
        add_bot(data, "Cem", "discord", api_base_url=behind)
        add_bot(data, "Dan", "satori", endpoint=ahead)
        add_bot(data, "Eve", "irc", host="127.0.0.1", port=closed, security="tls", nick="eve")
        add_bot(data, "Fay", "mattermost", url="https://chat.example.org", proxy=f"http://127.0.0.1:{closed}")
        add_bot(data, "Off", "kook", api_base_url=f"http://127.0.0.1:{closed}")
        output = parlour_here("doctor", "--data", data, "--port", 0).stdout
    found = [line for line in output.replace("\n" + " " * 22 + "->", " ->").splitlines() if "on " in line[:60]]
    lines = {name: line for line in found for name in ("Ann", "Cem", "Dan", "Eve", "Fay") if f"bot '{name}'" in line
             and "is configured" not in line}  # fmt: skip

    assert lines["Ann"].startswith("ok ")
    assert "bot 'Bob'" in lines["Ann"]
    assert "can be reached, and its clock agrees" in lines["Ann"]
    assert re.search(r"the clock here is (3599|3600|3601) s ahead of", lines["Cem"])
    assert "-> synch" in lines["Cem"]
    assert "s behind that of" in lines["Dan"]
    assert f"127.0.0.1:{closed} can't be reached: Connect" in lines["Eve"]
    assert "host in the bot's form" in lines["Eve"]
    assert f"the proxy http://127.0.0.1:{closed} can't be reached" in lines["Fay"]
    assert "Off" not in "".join(found)


@pytest.mark.parametrize("manifest", MANIFESTS.values(), ids=lambda each: each.name)
def test_each_platform_declares_the_servers_that_its_code_uses(manifest: AdapterManifest) -> None:
    assert manifest.servers
    code = "".join(file.read_text() for file in (PLATFORMS / manifest.name).glob("*.py"))
    for declared in manifest.servers:
        assert all(f'"{address}' in code for address in declared.defaults.values())
    required = {item.name: "wss://a.example" for item in manifest.config if item.required}
    form = {item.name: item.default for item in manifest.config if item.default is not None}
    servers = list(configured_servers(manifest, {**required, **form, "mode": ""}))
    assert servers or manifest.name == "onebot11", "only a bot that waits for connections has none"
