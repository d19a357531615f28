"""Files of a prompt are inlined up to a size of all together, however they are spread over its messages."""

import base64

import pytest

from parlour.core.actions import prompt_attachments
from parlour.core.actions.artifacts import ArtifactActions
from parlour.core.actions.prompt_attachments import PromptAttachments
from parlour.core.model.ports import Clock
from parlour.core.model.providers import NoDocuments, ProviderFailed
from parlour.core.runs.caller import ActionCaller
from parlour.core.store.artifact_service import ArtifactLimits, ArtifactService, NullLinkFetcher
from parlour.core.system import SystemIds
from parlour.testing import MemoryJournal, MemoryObjects
from parlour_sdk.protocol.artifacts import ArtifactCreate
from parlour_sdk.protocol.content import MediaElement
from parlour_sdk.protocol.models import InvokeModel

CONTENT = b"%PDF-1.7\n\xff" * 4
ONE_MESSAGE, TWO_MESSAGES = [2], [1, 1]


@pytest.fixture
def artifacts(journal: MemoryJournal, clock: Clock) -> ArtifactService:
    return ArtifactService(journal, MemoryObjects(), NullLinkFetcher(), SystemIds(), clock, ArtifactLimits())


async def prompt(
    artifacts: ArtifactService, journal: MemoryJournal, clock: Clock, caller: ActionCaller, spread: list[int]
) -> InvokeModel:
    """Returns a prompt that has so many files in each message."""
    actions = ArtifactActions(artifacts, NoDocuments(), journal, SystemIds(), clock)
    create = ArtifactCreate(
        run_id="run", call_id="run:1", artifact_type="file", content_base64=base64.b64encode(CONTENT).decode()
    )
    messages = []
    for count in spread:
        made = [(await actions.create(caller, create)).artifact for _ in range(count)]
        files = [{"type": "file", "artifact_id": each.artifact_id} for each in made if each is not None]
        messages.append({"role": "user", "content": files})
    return InvokeModel.model_validate({"run_id": "run", "call_id": "run:2", "model_id": "m", "messages": messages})


@pytest.mark.parametrize("spread", [ONE_MESSAGE, TWO_MESSAGES])
@pytest.mark.parametrize("missing_bytes", [0, 1])
async def test_files_of_a_prompt_are_limited_together(
    artifacts: ArtifactService,
    journal: MemoryJournal,
    clock: Clock,
    caller: ActionCaller,
    monkeypatch: pytest.MonkeyPatch,
    spread: list[int],
    missing_bytes: int,
) -> None:
    monkeypatch.setattr(prompt_attachments, "MAX_PROMPT_FILE_BYTES", 2 * len(CONTENT) - missing_bytes)
    request = await prompt(artifacts, journal, clock, caller, spread)
    inlining = PromptAttachments(artifacts, NoDocuments()).inline(caller.session, request)
    if missing_bytes:
        with pytest.raises(ProviderFailed) as refused:
            await inlining
        assert refused.value.code == "payload_too_large"
        return
    elements = [each for message in (await inlining).messages for each in message.content]
    assert [isinstance(each, MediaElement) and each.content_base64 for each in elements] == [
        base64.b64encode(CONTENT).decode()
    ] * 2
