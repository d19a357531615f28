"""Action by which a running agent asks people for a permission."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from parlour.core.approvals.live_questions import LiveQuestions
from parlour.core.runs.caller import ActionCaller
from parlour_sdk.protocol.live_permissions import AskPermission, PermissionAnswer

from .handlers import Handler


class LiveQuestionActions:
    def __init__(self, questions: LiveQuestions) -> None:
        self._questions = questions

    def handlers(self) -> Mapping[str, Handler]:
        return {"ask_permission": self.ask}

    async def ask(self, caller: ActionCaller, request: AskPermission) -> AsyncGenerator[PermissionAnswer, None]:
        async with aclosing(self._questions.ask(caller.run_session, request)) as answers:
            async for answer in answers:
                yield answer
