"""Tests the stores whose libraries are large by the contract of vector stores, embedded and against servers."""

import site
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from parlour.providers.knowledge.stores.catalogue import StoreAccount
from parlour.testing.vector_store_contract import OpenStore, VectorStoreContract
from tests.support.harness import eventually
from tests.support.peers import ROOT, free_port

from .test_stores import opener

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
PACKAGES = ROOT / ".tools/peers/vector-stores"


@pytest.fixture(scope="module", autouse=True)
def libraries() -> Iterator[None]:
    """Makes the client libraries of `make peers` importable, after the project's own packages."""
    [folder] = PACKAGES.glob("lib/python*/site-packages")
    site.addsitedir(str(folder))
    return


class EmbeddedStore(VectorStoreContract):
    name: str

    @pytest.fixture
    def open_store(self, tmp_path: Path) -> OpenStore:
        return opener(self.name, tmp_path)


class TestQdrant(EmbeddedStore):
    name = "qdrant"


class TestChroma(EmbeddedStore):
    name = "chroma"


class TestMilvus(EmbeddedStore):
    name = "milvus"


@pytest.fixture(scope="module")
def seekdb_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns one folder for all tests: a process opens one database only."""
    return tmp_path_factory.mktemp("seekdb")


class TestSeekDb(EmbeddedStore):
    name = "seekdb"

    @pytest.fixture
    def open_store(self, seekdb_folder: Path) -> OpenStore:
        return opener(self.name, seekdb_folder)


@pytest.fixture(scope="module")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("chroma"), free_port()
    address = f"http://127.0.0.1:{port}"
    command = [
        PACKAGES / "bin/python",
        PACKAGES / "bin/chroma",
        "run",
        "--path",
        str(folder),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        eventually(lambda: _answers(f"{address}/api/v2/heartbeat", process), "the server answers", 180)
        yield address
    finally:
        process.terminate()
        process.wait()


def _answers(address: str, process: "subprocess.Popen[bytes]") -> bool:
    assert process.poll() is None, "the server ended"
    try:
        return httpx.get(address).is_success
    except httpx.TransportError:
        return False


class TestChromaServer(VectorStoreContract):
    @pytest.fixture
    def open_store(self, chroma_server: str, tmp_path: Path) -> OpenStore:
        return opener("chroma", tmp_path, StoreAccount(chroma_server))


del EmbeddedStore, VectorStoreContract
