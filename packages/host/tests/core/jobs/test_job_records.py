"""Records of jobs: live events, retention, deletion with the conversation, and redaction."""

import asyncio

from parlour.core.encoding import dumps
from parlour.core.journal import Unit, Update, where
from parlour.core.model.event import Participant
from parlour.core.observability.live_events import derive_live_events
from parlour.core.redaction import Redactor
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.redacted_journal import RedactedJournal
from parlour.core.store.retention import JOB_DAYS, Retention, RetentionPeriods
from parlour.core.store.tables import JOBS

from ..support import World
from .job_support import JobsWorld

DAY_SECONDS = 86_400


async def test_units_of_jobs_are_live_events() -> None:
    world = JobsWorld()
    units: list[Unit] = []
    commit = world.journal.commit

    async def recording(unit: Unit, on_prepared: object = None) -> object:
        units.append(unit)
        return await commit(unit)

    world.journal.commit = recording  # type: ignore[assignment,method-assign]
    job_id = await world.add("a")
    await world.idle()
    found = [event for unit in units for event in derive_live_events(unit)]
    assert [(event.kind, event.id, event.state) for event in found] == [
        ("job", job_id, "pending"),
        ("job", job_id, "running"),
        ("job", job_id, "done"),
    ]
    assert found[0].public_values["kind"] == "toy"
    assert "payload" not in found[0].public_values


async def test_finished_jobs_are_deleted_after_their_retention_period_and_open_ones_stay() -> None:
    core = await World.open()
    world = JobsWorld(core.journal)
    await world.add("done")
    await world.idle()
    await world.jobs.close()
    waiting = await world.add("waiting")
    artifacts: ArtifactService = core.core.artifacts
    retention = Retention(core.journal, artifacts, core.clock, RetentionPeriods())
    await asyncio.sleep((JOB_DAYS - 1) * DAY_SECONDS)
    await retention.run_once()
    assert len(world.rows()) == 2
    await asyncio.sleep(2 * DAY_SECONDS)
    report = await retention.run_once()
    assert [row["job_id"] for row in world.rows()] == [waiting]
    assert report.removed["jobs"] == 1


async def test_jobs_about_events_are_deleted_with_their_conversation() -> None:
    core = await World.open(echo=True)
    accepted = await core.say("a secret")
    await core.rest()
    world = JobsWorld(core.journal)
    await world.add("about it", event_seq=accepted.seq)
    other = await world.add("about another", event_seq=accepted.seq + 100)
    await world.idle()
    await core.core.conversation_eraser.erase(accepted.conversation_id, Participant("user", "ann"))
    assert [row["job_id"] for row in world.rows()] == [other]


async def test_secrets_are_removed_from_errors() -> None:
    world = JobsWorld()
    job_id = await world.add("a")
    await world.idle()
    redactor = Redactor()
    redactor.add_secret("hunter2-hunter2")
    journal = RedactedJournal(world.journal, redactor)
    update = Update(JOBS, {"error": "no access with hunter2-hunter2", "payload": dumps({})}, where(job_id=job_id))
    await journal.commit(Unit("test.fail", (update,)))
    assert "hunter2" not in world.row(job_id)["error"]
