"""The E2B backend with the service's own library against a simulator: the contract of backends, files, and orphans."""

import os
import site
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parlour.box.backend import BackendUnavailable, SandboxFolders
from parlour.box.e2b_service.backend import LIFE_SECONDS, E2bBackend
from parlour.box.errors import BoxError, SandboxGone
from parlour.box.mount_policy import MountPolicy
from parlour.core.box.messages import E2bAccount
from parlour.providers.box.results import decoded_output
from parlour.testing.box_backend_contract import BackendContract, MakeBackend, run, spec, started
from parlour.testing.e2b_simulator import E2bSimulator

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
KEY = "e2b_0123456789abcdef"
PACKAGES = Path(__file__).parents[4] / ".tools" / "peers" / "e2b"
WORKSPACE_MB = 32


@pytest.fixture(scope="module", autouse=True)
def library() -> None:
    """Makes the library of `make peers` importable, after the project's own packages."""
    [folder] = PACKAGES.glob("lib/python*/site-packages")
    site.addsitedir(str(folder))


@pytest.fixture
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[E2bSimulator]:
    async with E2bSimulator(tmp_path_factory.mktemp("service"), KEY).serving() as service:
        yield service


def backend_of(
    service: E2bSimulator, root: Path, key: str = KEY, wheels: Path | None = None, mounts: MountPolicy | None = None
) -> E2bBackend:
    account = E2bAccount(api_key=key, api_url=service.address, sandbox_url=service.address)
    return E2bBackend(account, root, WORKSPACE_MB, wheels, mounts)


class TestE2b(BackendContract):
    @pytest.fixture
    def make_backend(self, service: E2bSimulator, tmp_path_factory: pytest.TempPathFactory) -> MakeBackend:
        root = tmp_path_factory.mktemp("workspaces")
        return lambda: backend_of(service, root)


@pytest.fixture
async def backend(service: E2bSimulator, tmp_path: Path) -> E2bBackend:
    backend = backend_of(service, tmp_path)
    await backend.probe()
    return backend


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


async def test_sandboxes_say_whose_they_are_and_have_the_network_of_their_session(
    backend: E2bBackend, service: E2bSimulator, workspace: Path
) -> None:
    async with started(backend, workspace):
        [sandbox] = service.sandboxes.values()
        assert sandbox.body["metadata"]["session"] == "test"
        assert sandbox.body["allow_internet_access"] is False
        assert service.timeouts == [LIFE_SECONDS]
    assert service.sandboxes == {}
    async with started(backend, workspace, network=True):
        [sandbox] = service.sandboxes.values()
        assert sandbox.body["allow_internet_access"] is True


async def test_changed_new_and_deleted_files_come_back(backend: E2bBackend, workspace: Path) -> None:
    (workspace / "folder").mkdir()
    for name in ("same", "changed", "deleted", "folder/same"):
        (workspace / name).write_text(f"{name} before")
    before = (workspace / "same").stat().st_ino
    async with started(backend, workspace) as sandbox:
        await run(
            sandbox, "echo after > changed; rm deleted; mkdir -p new/deep; echo new > new/deep/file; chmod 700 changed"
        )
        await run(sandbox, "ln -s changed link; ln -s /etc/passwd outside; mkfifo pipe")
    assert names(workspace) == {
        "same",
        "changed",
        "folder",
        "folder/same",
        "new",
        "new/deep",
        "new/deep/file",
        "link",
        "outside",
    }
    assert (workspace / "changed").read_text() == "after\n"
    assert (workspace / "folder" / "same").read_text() == "folder/same before"
    assert (workspace / "same").stat().st_ino == before, "it was not copied"
    assert os.access(workspace / "changed", os.X_OK)
    assert (workspace / "link").is_symlink()
    assert [path.name for path in workspace.parent.iterdir()] == ["workspace"]


async def test_files_that_lead_out_of_the_workspace_are_not_written(
    backend: E2bBackend, workspace: Path, tmp_path: Path
) -> None:
    script = (
        "import tarfile, io\\n"
        "t = tarfile.open('/tmp/parlour-changes.tar', 'w')\\n"
        "i = tarfile.TarInfo('../stolen'); i.size = 1; t.addfile(i, io.BytesIO(b'x')); t.close()\\n"
        "print('[]')"
    )
    (workspace / "kept").write_text("kept")
    async with started(backend, workspace) as sandbox:
        await run(sandbox, f'printf "{script}" > /run/parlour-agent/collect.py')
    assert (workspace / "kept").read_text() == "kept"
    assert not (tmp_path / "stolen").exists()


async def test_more_files_than_the_quota_are_neither_taken_nor_sent(backend: E2bBackend, workspace: Path) -> None:
    (workspace / "kept").write_text("kept")
    async with started(backend, workspace) as sandbox:
        await run(sandbox, f"head -c {2 * WORKSPACE_MB}M /dev/zero > big")
    assert os.listdir(workspace) == ["kept"]
    with (workspace / "big").open("wb") as file:
        file.truncate(2 * WORKSPACE_MB * 1024 * 1024)
    with pytest.raises(BoxError) as refused:
        await started(backend, workspace).__aenter__()
    assert refused.value.code == "quota_exceeded"


async def test_read_only_workspace_and_skills_are_there(backend: E2bBackend, workspace: Path, tmp_path: Path) -> None:
    skill = tmp_path / "skill"
    skill.mkdir()
    (skill / "SKILL.md").write_text("how to")
    async with started(backend, workspace, skills={"greet": skill}) as sandbox:
        output, _ = await run(sandbox, "cat .skills/greet/SKILL.md")
        assert output == "how to"
    assert os.listdir(workspace) == [], "skills are not copied back"


async def test_files_of_the_machine_are_copied_and_links_in_them_are_not_followed(
    service: E2bSimulator, workspace: Path, tmp_path: Path
) -> None:
    shown, secret = tmp_path / "shown", tmp_path / "secret"
    (shown / "empty").mkdir(parents=True)
    (shown / "deep").mkdir()
    (shown / "deep" / "notes").write_text("as it is")
    secret.write_text("secret")
    (shown / "way out").symlink_to(secret)
    os.mkfifo(shown / "pipe")
    backend = backend_of(service, tmp_path, mounts=MountPolicy([shown], [secret]))
    await backend.probe()
    async with started(backend, workspace, mounts=[str(shown)]) as sandbox:
        output, _ = await run(sandbox, f"cd {shown} && find . | sort && cat deep/notes")
        assert output.split() == [".", "./deep", "./deep/notes", "./empty", "./way", "out", "as", "it", "is"]
        await run(sandbox, f"echo changed > {shown}/deep/notes")
    assert (shown / "deep" / "notes").read_text() == "as it is", "what is shown is a copy"
    async with started(backend, workspace, mounts=[str(shown / "deep" / "notes")]) as sandbox:
        assert (await run(sandbox, f"cat {shown}/deep/notes"))[0] == "as it is"
    for path in ("/etc/hosts", str(secret)):
        with pytest.raises(BoxError) as refused:
            await started(backend, workspace, mounts=[path]).__aenter__()
        assert refused.value.code == "mount_refused"
    (shown / "large").write_bytes(bytes((WORKSPACE_MB + 1) * 1024 * 1024))
    with pytest.raises(BoxError) as refused:
        await started(backend, workspace, mounts=[str(shown)]).__aenter__()
    assert refused.value.code == "quota_exceeded"
    assert service.sandboxes == {}


async def test_wheels_of_some_requirements_and_of_the_operator_are_copied_when_they_are_there(
    service: E2bSimulator, workspace: Path, tmp_path: Path
) -> None:
    wheels, digest, other = tmp_path / "wheels", "a" * 64, "b" * 64
    (wheels / other).mkdir(parents=True)
    (wheels / other / "other.whl").touch()
    (wheels / "operator.whl").touch()
    backend = backend_of(service, tmp_path, wheels=wheels)
    await backend.probe()
    listing = {"command": "cd /run/parlour-wheels && find . -type f | sort", "workdir": "/workspace", "timeout": 20}
    async with started(backend, workspace) as sandbox:
        first = await sandbox.request("exec", {**listing, "wheels": digest})
        (wheels / digest).mkdir()
        (wheels / digest / "needed.whl").write_bytes(b"wheel")
        second = await sandbox.request("exec", {**listing, "wheels": digest})
    assert [decoded_output(each["stdout"]).split() for each in (first, second)] == [
        ["./operator.whl"],
        [f"./{digest}/needed.whl", "./operator.whl"],
    ]


async def test_sandbox_that_the_service_has_ended_is_known_to_be_gone(
    backend: E2bBackend, service: E2bSimulator, workspace: Path
) -> None:
    (workspace / "kept").write_text("kept")
    async with started(backend, workspace) as sandbox:
        await run(sandbox, "true")
        [sandbox_id] = service.sandboxes
        await service.end(sandbox_id)
        await sandbox.closed.wait()
        with pytest.raises(SandboxGone):
            await run(sandbox, "true")
    assert (workspace / "kept").read_text() == "kept"


async def test_sandboxes_of_an_earlier_box_are_removed_and_those_of_others_stay(
    backend: E2bBackend, service: E2bSimulator, workspace: Path, tmp_path: Path
) -> None:
    other = backend_of(service, tmp_path / "other")
    await other.probe()
    await backend.start(spec(), SandboxFolders(workspace), lambda event: None)
    async with started(other, workspace):
        assert len(service.sandboxes) == 2
        assert await backend.remove_orphans() == 1
        [sandbox] = service.sandboxes.values()
    assert sandbox.sandbox_id == "sandbox2"


async def test_what_is_wrong_is_said(service: E2bSimulator, tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable) as denied:
        await backend_of(service, tmp_path, "e2b_other").probe()
    assert denied.value.problem == "denied"
    with pytest.raises(BackendUnavailable) as unset:
        await backend_of(service, tmp_path, "").probe()
    assert unset.value.problem == "not_installed"
    assert KEY not in repr(E2bAccount(api_key=KEY))
