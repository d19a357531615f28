"""Runs an S3 server for tests that checks signatures: a third-party program (moto), started on a port of its own."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from types import TracebackType

from parlour.stores.objects.signature import S3Account

START_SECONDS = 30
BUCKET = "parlour"
_PREPARATIONS = 4
"""Number of requests that the server accepts without a signature, with which its accounts are set up."""
_EVERYTHING = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'


class S3Server:
    def __enter__(self) -> "S3Server":
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.endpoint = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            env={**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": str(_PREPARATIONS)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait(port)
        self._access_key, self._secret_key = self._prepare()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def account(self, prefix: str = "", secret_key: str = "", bucket: str = BUCKET) -> S3Account:
        return S3Account(self.endpoint, bucket, self._access_key, secret_key or self._secret_key, prefix=prefix)

    def _wait(self, port: int) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                assert self._process.poll() is None, "the S3 server ended; is moto installed?"
                assert time.monotonic() < deadline, "the S3 server did not start"
                time.sleep(0.02)

    def _prepare(self) -> tuple[str, str]:
        self._administer("CreateUser", UserName="host")
        self._administer("PutUserPolicy", UserName="host", PolicyName="all", PolicyDocument=_EVERYTHING)
        answer = self._administer("CreateAccessKey", UserName="host")
        self._ask(urllib.request.Request(f"{self.endpoint}/{BUCKET}", method="PUT"))
        return _between(answer, "AccessKeyId"), _between(answer, "SecretAccessKey")

    def _administer(self, action: str, **parameters: str) -> str:
        body = urllib.parse.urlencode({"Action": action, "Version": "2010-05-08", **parameters}).encode()
        scope = "AWS4-HMAC-SHA256 Credential=nobody/20200101/us-east-1/iam/aws4_request"
        headers = {"Authorization": f"{scope}, SignedHeaders=host, Signature=none"}
        return self._ask(urllib.request.Request(self.endpoint, body, headers))

    def _ask(self, request: urllib.request.Request) -> str:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return str(answer.read().decode())


def _between(document: str, name: str) -> str:
    match = re.search(f"<{name}>(.*?)</{name}>", document)
    assert match is not None, f"the server did not tell {name}"
    return match[1]
