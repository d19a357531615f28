"""Builds the images of the container tests, and runs containers, in a store that belongs to the tests."""

import os
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.support.harness import ROOT, bearer, eventually

PACKAGES = (
    *("buildah", "podman", "debootstrap", "runc", "catatonit"),
    *("netavark", "aardvark-dns", "iptables"),  # networks in which containers find each other by name
)
BASE = "docker.io/library/debian:12-slim"
"""The name that the Containerfile has by default. No registry is asked, since an image with this name is there."""
IMAGE = "localhost/parlour:0.1.0"
POSTGRES = "localhost/parlour-test-postgres:15"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
READY = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:5300/readyz', timeout=4).status)"
CONFIGURATION = """
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
network_config_dir = "{folder}/networks"
"""
"""Containers in a container may not raise limits, and have no systemd that manages control groups."""
POSTGRES_IMAGE = f"""
FROM {BASE}
RUN apt-get update -qq && apt-get install --yes --no-install-recommends postgresql
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/data
COPY entrypoint.sh /entrypoint.sh
ENTRYPOINT ["sh", "/entrypoint.sh"]
"""
POSTGRES_ENTRYPOINT = """
# Reads the variables of the official image.
set -e
as="setpriv --reuid postgres --regid postgres --clear-groups"
mkdir -p "$PGDATA" /var/run/postgresql
chown -R postgres "$PGDATA" /var/run/postgresql
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    install -o postgres -m 600 "$POSTGRES_PASSWORD_FILE" /tmp/password
    $as initdb -D "$PGDATA" --username "$POSTGRES_USER" --pwfile /tmp/password \\
        --auth-local trust --auth-host scram-sha-256 $POSTGRES_INITDB_ARGS
    echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
    echo "CREATE DATABASE \\"$POSTGRES_DB\\"" | $as postgres --single -D "$PGDATA" postgres >/dev/null
fi
exec $as postgres -D "$PGDATA" -c "listen_addresses=*"
"""

OBJECTS = "localhost/parlour-test-objects"
OBJECTS_IMAGE = f"""
FROM {IMAGE}
USER 0
RUN SSL_CERT_FILE=/etc/ssl/machine.crt uv pip install --quiet --python /opt/parlour/bin/python "moto[server]"
COPY minio /usr/local/bin/minio
RUN chmod 755 /usr/local/bin/minio
"""
OBJECTS_SERVER = """#!/bin/sh
# Serves a bucket on the port of MinIO, which no package repository of this machine has.
moto_server --host 0.0.0.0 --port 9000 &
make="import urllib.request as r; r.urlopen(r.Request('http://127.0.0.1:9000/parlour', method='PUT'))"
until python3 -c "$make" 2>/dev/null; do sleep 0.2; done
wait
"""


class Engine:
    """Runs podman and others with a store and a configuration of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        storage = f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/root"\nrunroot = "{folder}/run"\n'
        (folder / "storage.conf").write_text(storage)
        (folder / "containers.conf").write_text(CONFIGURATION.format(folder=folder))
        self.environment = {
            **os.environ,
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
            "BUILDAH_ISOLATION": "chroot",
        }

    def run(self, *command: object, check: bool = True, **environment: str) -> str:
        """Returns what the command printed."""
        words = [str(word) for word in command]
        variables = {**self.environment, **environment}
        finished = subprocess.run(words, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
        assert finished.returncode == 0 or not check, finished.stdout[-2000:] + finished.stderr[-3000:]
        return finished.stdout if check else finished.stdout + finished.stderr

    def podman(self, *words: object, check: bool = True) -> str:
        return self.run("podman", *words, check=check).strip()

    def is_ready(self, container: str) -> bool:
        return self.podman("exec", container, "python3", "-c", READY, check=False) == "200"

    def parlour(self, container: str, *words: str) -> str:
        return self.podman("exec", container, "parlour", *words, "--data", "/data")

    def build_base(self) -> None:
        """Makes a minimal Debian with this machine's package sources and certificates."""
        root = self.folder / "base"
        self.run("debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", root)
        trusted = Path("etc", "ssl", "machine.crt")  # a path that no package writes
        shutil.copy(CERTIFICATES, root / trusted)
        (root / "etc" / "pip.conf").write_text(f"[global]\ncert = /{trusted}\n")
        shutil.copytree("/etc/apt/apt.conf.d", root / "etc" / "apt" / "apt.conf.d", dirs_exist_ok=True)
        self.run("tar", "--create", "--file", f"{root}.tar", "--directory", root, ".")
        self.podman("import", f"{root}.tar", BASE)

    def build_postgres(self) -> None:
        folder = self.folder / "postgres"
        folder.mkdir()
        (folder / "Containerfile").write_text(POSTGRES_IMAGE)
        (folder / "entrypoint.sh").write_text(POSTGRES_ENTRYPOINT)
        self.podman("build", "--quiet", "--format=docker", "--tag", POSTGRES, folder)

    def build_objects(self) -> None:
        folder = self.folder / "objects"
        folder.mkdir()
        (folder / "Containerfile").write_text(OBJECTS_IMAGE)
        (folder / "minio").write_text(OBJECTS_SERVER)
        self.podman("build", "--quiet", "--format=docker", "--tag", OBJECTS, folder)

    def close(self) -> None:
        self.podman("pod", "rm", "--all", "--force", check=False)
        self.podman("rm", "--all", "--force", "--time=2", check=False)
        self.podman("network", "prune", "--force", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def running(engine: Engine, *options: str, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Runs the image with these options; yields the container's id when the Host is ready."""
    container = engine.podman("run", "--detach", *options, IMAGE, *words)
    try:
        eventually(lambda: engine.is_ready(container), "the Host in the container is ready", seconds=90)
        yield container
    finally:
        engine.podman("rm", "--force", "--time=10", container, check=False)


def answers(address: str, headers: Mapping[str, str] | None = None) -> bool:
    """True if a server outside answers with success."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=dict(headers or {})), timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def answered(address: str, key: str) -> str:
    """Returns the answer of the built-in agent of the Host at this address."""
    with httpx.Client(base_url=f"{address}/api/v1", headers=bearer(key), timeout=90) as client:
        [agent] = eventually(lambda: client.get("/agents").json()["items"], "the built-in agent is there", seconds=60)
        event = {"agent_id": agent["agent_id"], "input": {"text": "hello"}}
        said = client.post("/events", params={"wait": "result"}, json=event)
        assert said.status_code == 200, said.text
    return str(said.json()["messages"])
