"""An agent on the unmodified a2a-sdk, for the tests: it runs in an environment of its own. Arguments: port."""

import asyncio
import sys

import uvicorn
from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

CANCELLED: list[str] = []


class Executor(AgentExecutor):
    """Repeats the message in two pieces, asks when it is `ask`, works without end when it is `wait`."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        if text == "ask":
            await updater.requires_input(new_text_message("Which city?"))
            return
        if text == "fail":
            await updater.failed(new_text_message("no such place"))
            return
        await updater.add_artifact([new_text_part("You said ")], artifact_id="a-1", append=False)
        if text == "wait":
            await asyncio.Event().wait()
        await updater.add_artifact([new_text_part(text)], artifact_id="a-1", append=True, last_chunk=True)
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        CANCELLED.append(context.task_id)
        print("cancelled", flush=True)
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def main(port: int) -> None:
    def card(binding: str, path: str) -> AgentCard:
        address = f"http://127.0.0.1:{port}{path}"
        return AgentCard(
            name="Peer",
            description="Repeats.",
            version="1.0.0",
            supported_interfaces=[AgentInterface(url=address, protocol_binding=binding, protocol_version="1.0")],
            capabilities=AgentCapabilities(streaming=True),
            default_input_modes=["text/plain"],
            default_output_modes=["text/plain"],
            skills=[AgentSkill(id="repeat", name="Repeat", description="Repeats.", tags=["repeat"])],
        )

    cards = {"rpc": card("JSONRPC", "/rpc"), "rest": card("HTTP+JSON", "/rest")}
    handler = DefaultRequestHandler(Executor(), InMemoryTaskStore(), cards["rpc"])
    routes = [
        *create_agent_card_routes(cards["rpc"]),
        *create_agent_card_routes(cards["rest"], card_url="/rest-card.json"),
        *create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True),
        *create_rest_routes(handler, path_prefix="/rest"),
    ]
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=port, log_level="warning")


main(int(sys.argv[1]))
