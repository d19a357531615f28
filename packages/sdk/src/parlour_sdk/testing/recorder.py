"""Applies a run's results as the Host does: messages with their artifacts, state, actions and the end."""

from typing import Any

from pydantic import BaseModel

from parlour_sdk.protocol.content import plain_text, says_something
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.results import (
    ActionRequested,
    ArtifactCreated,
    MessageCompleted,
    MessageDelta,
    RunCompleted,
    RunFailed,
    StateUpdated,
)
from parlour_sdk.protocol.rules.results import (
    ResultDropped,
    ResultSequence,
    artifact_content,
    parse_payload,
    truncate_message,
)
from parlour_sdk.protocol.runs import RunUsage

from .outcome import FakeRunEnd, FakeRunOutcome
from .served.artifacts import FakeArtifact

BLANK_MESSAGE_WARNING = "a completed message is dropped: there is nothing in it that people could see"
NO_OUTPUT = FakeRunEnd("failed", "runner.no_output", "the runner ended without an answer")


class ResultRecorder:
    def __init__(self, outcome: FakeRunOutcome) -> None:
        self._outcome = outcome
        self._records = outcome.records
        self._sequence = ResultSequence(outcome.run_id, outcome.warnings.append)
        self._fragments: list[str] = []
        self._unattached: list[FakeArtifact] = []

    def record(self, raw: Any) -> FakeRunEnd | None:
        """Applies one result; returns the end of the run if this result ends it."""
        try:
            return self._apply(raw)
        except ResultDropped as dropped:
            self._outcome.warnings.append(str(dropped))
            return None

    def _apply(self, raw: Any) -> FakeRunEnd | None:
        result, sequence = self._sequence.accept(raw)
        payload = parse_payload(result.type, result.data, sequence)
        if payload is None:
            kind = result.type[:100]
            self._outcome.warnings.append(f"a result has the unknown type '{kind}'; it is recorded and has no effect")
        run_end = self._effect(payload, sequence)
        self._outcome.results.append(result)
        return run_end

    def _effect(self, payload: BaseModel | None, sequence: int) -> FakeRunEnd | None:
        match payload:
            case MessageDelta():
                self._fragments.append(plain_text(payload.chunk.content))
                self._outcome.deltas.append(self._fragments[-1])
            case MessageCompleted():
                self._complete(payload.message)
            case ArtifactCreated():
                self._keep(payload, sequence)
            case StateUpdated():
                self._write(payload)
            case ActionRequested():
                self._act(payload)
            case RunCompleted() | RunFailed():
                return self._finish(payload)
        return None

    def finish_stream(self) -> FakeRunEnd:
        """Returns the end of a run whose stream ended without a final result."""
        self._complete_fragments()
        return FakeRunEnd("completed", "stop") if self._outcome.messages else NO_OUTPUT

    def _finish(self, payload: RunCompleted | RunFailed) -> FakeRunEnd:
        if isinstance(payload, RunFailed):
            return FakeRunEnd("failed", payload.code, payload.error, payload.retryable)
        last = payload.message if not self._outcome.messages else None
        if last is None or not self._complete(last):
            self._complete_fragments()
        if payload.usage is not None:
            token_counts = {name: value for name, value in payload.usage.model_dump().items() if value is not None}
            calls = self._outcome.session.usage.model_dump(include={"model_calls", "tool_calls"})
            self._outcome.reported_usage = RunUsage(**token_counts, **calls)
        if not self._outcome.messages and payload.finish_reason != "silent":
            return NO_OUTPUT
        return FakeRunEnd("completed", payload.finish_reason)

    def _complete_fragments(self) -> None:
        text = "".join(self._fragments)
        if text.strip():
            self._complete(Message(role="assistant", content=text))

    def _complete(self, message: Message) -> bool:
        """Records a message; returns False if it is blank and therefore dropped."""
        refs = [artifact.ref for artifact in self._unattached]
        if not refs and not message.artifact_refs and not says_something(message.content):
            self._outcome.warnings.append(BLANK_MESSAGE_WARNING)
            return False
        self._fragments.clear()
        self._unattached.clear()
        text, is_truncated = truncate_message(plain_text(message.content))
        if is_truncated:
            self._outcome.warnings.append("a message is longer than may be shown; it is kept whole as an artifact")
            refs.append(self._keep_text(plain_text(message.content)).ref)
            message = message.model_copy(update={"content": text})
        together = {ref.artifact_id: ref for ref in [*refs, *(message.artifact_refs or [])]}
        message = message.model_copy(update={"artifact_refs": list(together.values()) or None})
        self._outcome.messages.append(message)
        context = self._outcome.context
        self._records.transcript.add(self._outcome.session.conversation_id, message, context.event.event_id)
        return True

    def _keep(self, payload: ArtifactCreated, sequence: int) -> None:
        content = artifact_content(payload, sequence) or b""
        artifact = self._records.artifacts.stored.get(payload.artifact_id or "")
        if artifact is None:
            fields = payload.model_dump(exclude={"content_base64", "artifact_type", "size_bytes", "sha256"})
            artifact = self._records.artifacts.store(content, payload.artifact_type, **fields, **self._origin())
        self._unattached.append(artifact)

    def _keep_text(self, text: str) -> FakeArtifact:
        return self._records.artifacts.store(
            text.encode(), "file", name="message.txt", mime_type="text/plain", **self._origin()
        )

    def _origin(self) -> dict[str, str]:
        session = self._outcome.session
        origin = {"source": "runner", "run_id": session.run_id, "runner_id": session.runner_id}
        return {**origin, "conversation_id": session.conversation_id}

    def _write(self, payload: StateUpdated) -> None:
        key = self._outcome.session.grant.scopes.get(payload.scope)
        if key is None:
            raise ResultDropped(f"state.updated names the scope '{payload.scope}', which this run was not granted")
        self._records.state.write(key, payload.key, payload.value)

    def _act(self, payload: ActionRequested) -> None:
        if not self._outcome.session.grant.allows_action(payload.action):
            raise ResultDropped(f"action.requested names '{payload.action}', which this run was not granted")
        self._records.actions.decide(self._outcome.session, payload.action, payload.target, payload.payload)
