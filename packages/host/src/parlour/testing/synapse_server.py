"""Runs a real Synapse for tests: a Matrix homeserver in a folder of its own, on a port of this machine.

It knows no other server and has no rate limits. `make synapse` installs the program.
"""

import hashlib
import hmac
import json
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from parlour_sdk.values import dataclass

from .network import free_port

NAME = "parlour.test"
SECRET = "anybody of the tests may register"
START_SECONDS = 120.0
STOP_SECONDS = 30.0
_MANY: dict[str, Any] = {"per_second": 10_000, "burst_count": 10_000}


@dataclass(frozen=True, slots=True)
class Account:
    user_id: str
    access_token: str
    device_id: str


class SynapseServer:
    def __init__(self, folder: Path, python: Path) -> None:
        self._folder = folder
        self._python = python
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Starts the server and waits until it answers. It can be started again with all its data."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "homeserver.yaml").write_text(json.dumps(self._configuration()), encoding="utf-8")
        (self._folder / "logging.yaml").write_text(json.dumps(_LOGGING), encoding="utf-8")
        command = [str(self._python), "-m", "synapse.app.homeserver", "--config-path", "homeserver.yaml"]
        with (self._folder / "output.txt").open("ab") as output:
            self._process = subprocess.Popen(command, cwd=self._folder, stdout=output, stderr=output)
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self._process.poll() is None, self.output()
            assert time.monotonic() < deadline, self.output()
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(STOP_SECONDS)
            self._process = None

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(STOP_SECONDS)
        self._process = None

    def output(self) -> str:
        return (self._folder / "output.txt").read_text(encoding="utf-8", errors="replace")[-4000:]

    def register(self, name: str, display_name: str = "") -> Account:
        """Registers a new user and logs them in."""
        nonce = self.call("GET", "/_synapse/admin/v1/register")["nonce"]
        password = f"password of {name}"
        message = "\0".join((nonce, name, password, "notadmin"))
        proof = hmac.new(SECRET.encode(), message.encode(), hashlib.sha1).hexdigest()
        fields = {"nonce": nonce, "username": name, "password": password, "admin": False, "mac": proof}
        registered = self.call("POST", "/_synapse/admin/v1/register", {**fields, "displayname": display_name or name})
        return Account(registered["user_id"], registered["access_token"], registered["device_id"])

    def call(self, method: str, path: str, body: Any = None, account: Account | None = None) -> Any:
        headers = {"Authorization": f"Bearer {account.access_token}"} if account is not None else {}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=START_SECONDS) as answer:
            return json.loads(answer.read())

    def _answers(self) -> bool:
        try:
            self.call("GET", "/_matrix/client/versions")
        except (urllib.error.URLError, OSError):
            return False
        return True

    def _configuration(self) -> dict[str, Any]:
        folder = self._folder
        resources = [{"names": ["client"], "compress": False}]
        return {
            "server_name": NAME,
            "report_stats": False,
            "signing_key_path": str(folder / "signing.key"),
            "media_store_path": str(folder / "media"),
            "pid_file": str(folder / "synapse.pid"),
            "log_config": str(folder / "logging.yaml"),
            "database": {"name": "sqlite3", "args": {"database": str(folder / "synapse.db")}},
            "listeners": [
                {"port": self._port, "bind_addresses": ["127.0.0.1"], "type": "http", "resources": resources}
            ],
            "registration_shared_secret": SECRET,
            "macaroon_secret_key": SECRET,
            "form_secret": SECRET,
            "bcrypt_rounds": 4,
            "password_config": {"enabled": True, "policy": {"enabled": False}},
            "trusted_key_servers": [],
            "federation_domain_whitelist": [],
            "presence": {"enabled": False},
            "url_preview_enabled": False,
            "encryption_enabled_by_default_for_room_type": "off",
            "rc_message": _MANY,
            "rc_registration": _MANY,
            "rc_admin_redaction": _MANY,
            "rc_room_creation": _MANY,
            "rc_login": {"address": _MANY, "account": _MANY, "failed_attempts": _MANY},
            "rc_joins": {"local": _MANY, "remote": _MANY},
            "rc_invites": {"per_room": _MANY, "per_user": _MANY, "per_issuer": _MANY},
            "rc_media_create": _MANY,
        }


_LOGGING: dict[str, Any] = {
    "version": 1,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"level": "WARNING", "handlers": ["console"]},
}
