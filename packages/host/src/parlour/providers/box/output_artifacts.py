"""Stores whole outputs of commands, and files of a sandbox, as artifacts of the run."""

from parlour.core.journal import Journal, Unit
from parlour.core.model.ports import Clock
from parlour.core.runs.attachments import owned_scope
from parlour.core.runs.session import RunSession
from parlour.core.store import ledger
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.artifacts import ArtifactInfo
from parlour_sdk.protocol.content import ArtifactRef


class OutputArtifacts:
    """Stores artifacts that belong to a run."""

    def __init__(self, artifacts: ArtifactService, journal: Journal, clock: Clock) -> None:
        self._artifacts = artifacts
        self._journal = journal
        self._clock = clock

    async def store(self, run: RunSession, name: str, content: bytes) -> ArtifactRef:
        """Stores an output of a tool and returns its reference."""
        info = ArtifactInfo("tool_result", name, "text/plain", source="tool")
        artifact = await self._artifacts.store(content, info, owned_scope(run))
        progress = ledger.update_progress(run.run_id, self._clock.now())
        await self._journal.commit(Unit("tool.keep", (progress, artifact.insert())))
        return ArtifactRef.model_validate(artifact.to_ref())
