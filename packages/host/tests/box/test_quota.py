"""The quota of a workspace in a real sandbox: a session that writes too much is ended, and can be cleaned up."""

import base64
from pathlib import Path

from parlour.box.bubblewrap_backend import BubblewrapBackend
from parlour.box.sessions import BoxSessions
from parlour.box.skill_store import SkillStore
from parlour.box.workspaces import Workspaces
from parlour.core.box.messages import ExecRequest, SessionSpec

QUOTA_MB = 8
FILL = "dd if=/dev/zero of=big bs=1M count=16 2>&1; sleep 20"


async def test_session_that_writes_twice_its_quota_is_ended_and_the_next_one_can_clean_up(tmp_path: Path) -> None:
    backend = BubblewrapBackend(None, ())
    await backend.probe()
    sessions = BoxSessions(backend, Workspaces(tmp_path, 7), SkillStore(tmp_path / "skills", 7), 300, 4, QUOTA_MB)
    spec = SessionSpec(session_id="full", cpus=1, memory_mb=128, processes=32)
    try:
        result = await sessions.exec(ExecRequest(session=spec, command=FILL, timeout_seconds=30))
        assert (result["status"], result["reason"]) == ("killed", "quota")
        result = await sessions.exec(ExecRequest(session=spec, command="rm big; echo ok", timeout_seconds=30))
        assert base64.b64decode(result["stdout"]["data"]) == b"ok\n"
    finally:
        await sessions.close()
