"""Tests the replacement of the secrets' key, with the process killed before and after each write and file change."""

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from parlour.app import secret_key
from parlour.app.secret_key import FileSecretBox
from parlour.app.secret_rotation import SecretRotation
from parlour.core.encoding import dumps, loads
from parlour.core.journal import Insert, Journal, Select, Table, Unit, Update, where
from parlour.core.secrets import SecretUnreadable
from parlour.core.store.tables import AGENTS, BOTS, JOBS, MODEL_PROVIDERS, ROUTES
from parlour.core.system import SystemClock
from parlour.testing.memory_journal import MemoryJournal

SECRETS = ("token of a bot", "first key", "second key", "signing secret", "header", "agent's password")


class Killed(BaseException):
    """Ends the process at one step of the replacement."""


class KillSwitch:
    """Kills the process at its nth step, before or after the step is done."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            raise Killed

    def around(self, function: Any) -> Any:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            self.step()
            result = function(*arguments, **options)
            self.step()
            return result

        return wrapped


class KillableJournal(MemoryJournal):
    """A journal with a kill switch around each commit."""

    switch: KillSwitch | None = None

    async def commit(self, unit: Unit, on_prepared: Any = None) -> Any:
        if self.switch:
            self.switch.step()
        receipt = await super().commit(unit, on_prepared)
        if self.switch:
            self.switch.step()
        return receipt


async def nothing() -> None:
    pass


def rotation(journal: Journal, box: FileSecretBox, reload: Any = nothing, settle: Any = nothing) -> SecretRotation:
    return SecretRotation(journal, SystemClock(), box, reload, settle)


@contextmanager
def killed_at(journal: KillableJournal, steps: int) -> Iterator[None]:
    switch = journal.switch = KillSwitch(steps)
    with (
        patch.object(secret_key.os, "link", switch.around(os.link)),
        patch.object(secret_key.os, "rename", switch.around(os.rename)),
        patch.object(Path, "unlink", switch.around(Path.unlink)),
    ):
        yield
    journal.switch = None


async def store_secrets(journal: Journal, box: FileSecretBox) -> None:
    bot, first, second, signing, header, password = SECRETS
    times = {"created_at": 1, "updated_at": 1}
    definitions: list[tuple[Table, dict[str, Any], Any]] = [
        (BOTS, {"bot_id": "b", **times}, {"name": "b", "secrets": {"token": box.seal(bot)}}),
        (
            MODEL_PROVIDERS,
            {"provider_id": "p", **times},
            {"url": "https://models.example.org/" + "v1/" * 30, "sealed_keys": [box.seal(first), box.seal(second)]},
        ),
        (ROUTES, {"route_id": "r", "bot_id": "b", "position": 0}, {"handler": {"sealed_secret": box.seal(signing)}}),
        (AGENTS, {"agent_id": "a", **times}, {"config": {"password": {"parlour.sealed": box.seal(password)}}}),
    ]
    for table, keys, definition in definitions:
        await journal.commit(Unit("test", (Insert(table, {**keys, "definition": dumps(definition)}),)))
    job = {column.name: "" if column.kind == "text" else 0 for column in JOBS.columns}
    payload = dumps({"config": {"sealed_headers": box.seal(header)}})
    await journal.commit(Unit("test", (Insert(JOBS, {**job, "job_id": "j", "payload": payload}),)))


async def sealed_values(journal: Journal) -> list[str]:
    """Returns the sealed secrets in the order of SECRETS."""
    [bot] = await journal.read(Select(BOTS))
    [provider] = await journal.read(Select(MODEL_PROVIDERS))
    [route] = await journal.read(Select(ROUTES))
    [agent] = await journal.read(Select(AGENTS))
    [job] = await journal.read(Select(JOBS))
    return [
        loads(bot["definition"])["secrets"]["token"],
        *loads(provider["definition"])["sealed_keys"],
        loads(route["definition"])["handler"]["sealed_secret"],
        loads(job["payload"])["config"]["sealed_headers"],
        loads(agent["definition"])["config"]["password"]["parlour.sealed"],
    ]


def opens(box: FileSecretBox, sealed: str) -> bool:
    try:
        box.open(sealed)
    except SecretUnreadable:
        return False
    return True


def boxes_of_each_key(folder: Path, copies: Path) -> list[FileSecretBox]:
    """Returns a box for each different key, which has no other key beside it."""
    keys = {path.read_bytes() for path in folder.glob("secret.key*")}
    boxes = []
    for number, key in enumerate(keys):
        copy = copies / str(number) / "secret.key"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(key)
        boxes.append(FileSecretBox(copy))
    return boxes


async def test_every_secret_is_sealed_with_the_new_key_and_the_old_key_is_deleted(tmp_path: Path) -> None:
    journal, box = MemoryJournal(), FileSecretBox(tmp_path / "secret.key")
    await store_secrets(journal, box)
    old_key = (tmp_path / "secret.key").read_bytes()

    box.files.begin()
    count = await rotation(journal, box).complete()

    assert count == len(SECRETS)
    assert os.listdir(tmp_path) == ["secret.key"]
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "secret.key").write_bytes(old_key)
    values = await sealed_values(journal)
    assert tuple(FileSecretBox(tmp_path / "secret.key").open(value) for value in values) == SECRETS
    assert not any(opens(FileSecretBox(tmp_path / "old" / "secret.key"), value) for value in values)


async def test_no_secret_is_lost_wherever_the_process_is_killed(tmp_path: Path) -> None:
    for steps in itertools.count(1):
        folder = tmp_path / str(steps)
        folder.mkdir()
        journal, box = KillableJournal(), FileSecretBox(folder / "secret.key")
        await store_secrets(journal, box)
        with killed_at(journal, steps):
            try:
                box.files.begin()
                await rotation(journal, box).complete()
                break
            except Killed:
                pass
        values = await sealed_values(journal)
        assert tuple(FileSecretBox(folder / "secret.key").open(value) for value in values) == SECRETS
        by_key = boxes_of_each_key(folder, tmp_path / f"keys of {steps}")
        assert all(sum(opens(each, value) for each in by_key) == 1 for value in values)

        after_restart = FileSecretBox(folder / "secret.key")
        after_restart.files.begin()
        await rotation(journal, after_restart).complete()
        values = await sealed_values(journal)
        assert tuple(FileSecretBox(folder / "secret.key").open(value) for value in values) == SECRETS
        assert not after_restart.files.is_replacing()
    assert steps > 2 * len(SECRETS)


async def test_a_secret_that_is_stored_during_the_replacement_stays_readable(tmp_path: Path) -> None:
    journal, box = MemoryJournal(), FileSecretBox(tmp_path / "secret.key")
    await store_secrets(journal, box)
    [stale] = await journal.read(Select(AGENTS))
    host_box = FileSecretBox(tmp_path / "secret.key")

    async def change() -> None:
        """A request that read the agent before the replacement stores it after the configuration was reloaded."""
        replaced = Update(AGENTS, {"definition": stale["definition"]}, where(agent_id="a"))
        added = Update(BOTS, {"definition": dumps({"secrets": {"token": host_box.seal("new")}})}, where(bot_id="b"))
        await journal.commit(Unit("test", (replaced, added)))

    box.files.begin()
    await rotation(journal, box, settle=change).complete()

    fresh = FileSecretBox(tmp_path / "secret.key")
    token, *_, password = [fresh.open(value) for value in await sealed_values(journal)]
    assert (token, password) == ("new", SECRETS[-1])


async def test_the_configuration_is_reloaded_before_the_old_key_is_deleted(tmp_path: Path) -> None:
    journal, box = MemoryJournal(), FileSecretBox(tmp_path / "secret.key")
    await store_secrets(journal, box)
    loaded: list[list[str]] = []

    async def reload() -> None:
        assert box.files.is_replacing()
        loaded.append(await sealed_values(journal))

    box.files.begin()
    await rotation(journal, box, reload).complete()

    assert loaded[-1] == await sealed_values(journal)


async def test_other_long_texts_stay_as_they_are(tmp_path: Path) -> None:
    journal, box = MemoryJournal(), FileSecretBox(tmp_path / "secret.key")
    definition = '{ "prompt": "' + "A" * 200 + '", "number": 1.50 }'
    row = {"agent_id": "a", "definition": definition, "created_at": 1, "updated_at": 1}
    await journal.commit(Unit("test", (Insert(AGENTS, row),)))

    box.files.begin()
    count = await rotation(journal, box).complete()

    [stored] = await journal.read(Select(AGENTS))
    assert (count, stored["definition"]) == (0, definition)


async def test_without_a_replacement_nothing_is_done(tmp_path: Path) -> None:
    journal, box = MemoryJournal(), FileSecretBox(tmp_path / "secret.key")
    await store_secrets(journal, box)
    before = await sealed_values(journal)

    assert await rotation(journal, box).complete() == 0
    assert await sealed_values(journal) == before


@pytest.mark.parametrize("name", ["secret.key.next", "secret.key.previous"])
def test_a_damaged_second_key_is_reported(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"short")

    with pytest.raises(secret_key.DataDirectoryUnusable, match=f"{name}' has 5 bytes, not 32"):
        FileSecretBox(tmp_path / "secret.key").check()
