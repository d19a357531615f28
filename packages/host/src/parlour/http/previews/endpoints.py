"""Endpoints to talk to a bot or a pipeline as if on its platform. Nothing is sent to the platform."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Response

from parlour.core.config.bots import BotRepository
from parlour.core.config.pipelines import PipelineRepository
from parlour.core.model.ids import BotId, PipelineId
from parlour.core.model.preview import PreviewScene

from ..api_router import ApiRouter
from ..auth import Admin
from ..bots.endpoints import get_bot_or_404
from ..errors import not_found
from ..events.responses import AcceptedEvent, EventResult
from ..events.schemas import EventQuery
from ..events.service import EventService
from ..responses import ResponseSchema
from .schemas import SAMPLE_CHAT, ChatId, ChatType, PreviewBody, PreviewConversation
from .service import PreviewChats

ChatQuery = Annotated[ChatId, Query()]


def router(bots: BotRepository, pipelines: PipelineRepository, chats: PreviewChats, events: EventService) -> APIRouter:
    routes = ApiRouter(tags=["previews"])

    def bot_scene(bot_id: BotId, chat_type: ChatType, chat_id: str) -> PreviewScene:
        bot = get_bot_or_404(bots, bot_id)
        return PreviewScene(chat_type, chat_id, bot_id=bot.bot_id, platform=bot.adapter)

    def pipeline_scene(pipeline_id: PipelineId, chat_type: ChatType, chat_id: str) -> PreviewScene:
        if pipelines.get(pipeline_id) is None:
            raise not_found(f"pipeline '{pipeline_id}'", "GET /api/v1/pipelines lists them")
        return PreviewScene(chat_type, chat_id, pipeline_id=pipeline_id)

    @routes.post("/bots/{bot_id}/preview", status_code=202, response_model=None)
    async def preview_bot(
        bot_id: BotId, body: PreviewBody, principal: Admin, query: Annotated[EventQuery, Query()]
    ) -> Annotated[Response, ResponseSchema({202: AcceptedEvent, 200: EventResult})]:
        """Answered by the bot's routes, in a real run with a history of its own. Tools that may change something are
        asked about first.
        """
        scene = bot_scene(bot_id, body.chat_type, body.chat_id)
        return await events.answer(await chats.send(body, with_person(scene, body), principal), query)

    @routes.get("/bots/{bot_id}/preview")
    async def read_bot_preview(
        bot_id: BotId, principal: Admin, chat_type: ChatType = "private", chat_id: ChatQuery = SAMPLE_CHAT
    ) -> PreviewConversation:
        """Its transcript is the history of this preview."""
        return {"conversation_id": await chats.find(bot_scene(bot_id, chat_type, chat_id), principal)}

    @routes.post("/pipelines/{pipeline_id}/preview", status_code=202, response_model=None)
    async def preview_pipeline(
        pipeline_id: PipelineId, body: PreviewBody, principal: Admin, query: Annotated[EventQuery, Query()]
    ) -> Annotated[Response, ResponseSchema({202: AcceptedEvent, 200: EventResult})]:
        """Answered by the stored pipeline, as POST /bots/{bot_id}/preview does for a bot."""
        scene = pipeline_scene(pipeline_id, body.chat_type, body.chat_id)
        return await events.answer(await chats.send(body, with_person(scene, body), principal), query)

    @routes.get("/pipelines/{pipeline_id}/preview")
    async def read_pipeline_preview(
        pipeline_id: PipelineId, principal: Admin, chat_type: ChatType = "private", chat_id: ChatQuery = SAMPLE_CHAT
    ) -> PreviewConversation:
        """Its transcript is the history of this preview."""
        return {"conversation_id": await chats.find(pipeline_scene(pipeline_id, chat_type, chat_id), principal)}

    return routes


def with_person(scene: PreviewScene, body: PreviewBody) -> PreviewScene:
    """Returns the scene with the person who is said to write the message."""
    return replace(
        scene,
        mentions_bot=body.mentions_bot,
        person_id=body.person.id,
        person_name=body.person.name,
        role=body.person.role,
    )
