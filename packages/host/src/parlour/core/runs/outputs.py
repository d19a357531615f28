"""What a tool gave, as its caller gets it: all of it, or a preview with the whole kept as an artifact."""

from pydantic_core import to_json

from parlour.core.facts import ledger
from parlour.core.facts.artifacts import Description
from parlour.core.facts.keeping import Artifacts
from parlour.core.journal import Journal, Unit
from parlour.core.ports import Clock
from parlour_sdk.protocol.content import ArtifactRef, TextElement, plain_text
from parlour_sdk.protocol.limits import RESULT_BYTES
from parlour_sdk.protocol.tools import ToolOutcome

from .attachments import place_of
from .session import RunSession

PREVIEW_BYTES = 16 * 1024


class ToolOutputs:
    def __init__(self, artifacts: Artifacts, journal: Journal, clock: Clock) -> None:
        self._artifacts = artifacts
        self._journal = journal
        self._clock = clock

    async def bounded(self, session: RunSession | None, tool_name: str, outcome: ToolOutcome) -> ToolOutcome:
        """Outside a run the rest is not kept: it would belong to nobody."""
        if len(to_json(outcome.content)) <= RESULT_BYTES:
            return outcome
        text = plain_text(outcome.content)
        content = [TextElement(text=text.encode(errors="replace")[:PREVIEW_BYTES].decode(errors="ignore"))]
        cut = outcome.model_copy(update={"content": content, "truncated": True})
        if session is None:
            return cut
        ref = await self._kept(session, tool_name, outcome)
        return cut.model_copy(update={"artifact_refs": [*outcome.artifact_refs, ref]})

    async def _kept(self, session: RunSession, tool_name: str, outcome: ToolOutcome) -> ArtifactRef:
        described = Description("tool_result", *_named(tool_name, outcome), source="tool")
        artifact = await self._artifacts.keep(_whole(outcome), described, place_of(session))
        touch = ledger.touch(session.run_id, self._clock.now())
        await self._journal.commit(Unit("tool.keep", (touch, artifact.insert())))
        return ArtifactRef.model_validate(artifact.ref())


def _only_text(outcome: ToolOutcome) -> bool:
    return all(isinstance(element, TextElement) for element in outcome.content)


def _named(tool_name: str, outcome: ToolOutcome) -> tuple[str, str]:
    if _only_text(outcome):
        return f"{tool_name}.txt", "text/plain"
    return f"{tool_name}.json", "application/json"


def _whole(outcome: ToolOutcome) -> bytes:
    """A text as it is; anything else as the elements it consists of."""
    return plain_text(outcome.content).encode(errors="replace") if _only_text(outcome) else to_json(outcome.content)
