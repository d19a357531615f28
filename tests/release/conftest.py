"""Provides the images of the container tests, which are built once."""

import shutil
from collections.abc import Iterator

import pytest

from .containers import IMAGE, PACKAGES, Engine


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Yields an engine that has the image of this commit, on a base that debootstrap made."""
    engine = Engine(tmp_path_factory.mktemp("containers"))
    if any(shutil.which(program) is None for program in ("buildah", "podman", "debootstrap", "runc", "iptables")):
        engine.run("apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES)
    try:
        engine.run("make", "release")
        engine.build_base()
        options = ("--quiet", "--layers=false", "--format=docker", f"--tag={IMAGE}")
        engine.podman("build", *options, "--file=deploy/image/Containerfile", ".")
        yield engine
    finally:
        engine.close()


@pytest.fixture(scope="session")
def images(engine: Engine) -> Engine:
    """Returns the engine with images of PostgreSQL and of an S3 server, too."""
    engine.build_postgres()
    engine.build_objects()
    return engine
