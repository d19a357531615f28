"""Uses an agent with the unmodified client of a2a-sdk and prints what happened as JSON.

Arguments: the agent's address, an API key, the version of the protocol, and the texts to say one after the other in
one context. A text `cancel:TEXT` is cancelled as soon as its task is known; one `again:TEXT` is dropped then, and
subscribed to again after the file that TEXT ends with was made.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, create_client
from a2a.helpers.proto_helpers import get_stream_response_text, new_text_message
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskState,
)
from a2a.utils.errors import TaskNotFoundError


def state_of(task: Task) -> str:
    return str(TaskState.Name(task.status.state))


async def say(client: Client, text: str, context: str) -> dict[str, Any]:
    deed, _, rest = text.rpartition(":")
    message = new_text_message(rest, role=Role.ROLE_USER, context_id=context)
    said, task = "", Task()
    answers = client.send_message(SendMessageRequest(message=message))
    async for event in answers:
        if event.HasField("task"):
            task = event.task
            if deed:
                break
        said += get_stream_response_text(event)
    await answers.aclose()
    if deed == "cancel":
        task = await client.cancel_task(CancelTaskRequest(id=task.id))
    if deed == "again":
        again = client.subscribe(SubscribeToTaskRequest(id=task.id))
        async for event in again:
            said += get_stream_response_text(event)
            if said:
                await asyncio.to_thread(Path(rest.split()[-1]).touch)
    read = await client.get_task(GetTaskRequest(id=task.id))
    return {"context": read.context_id, "text": said, "state": state_of(read)}


async def main(address: str, key: str, version: str, *texts: str) -> dict[str, Any]:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http:
        card = await A2ACardResolver(http, address).get_agent_card()
        others = [each for each in card.supported_interfaces if each.protocol_version != version]
        for each in others:
            card.supported_interfaces.remove(each)
        client = await create_client(card, ClientConfig(streaming=True, httpx_client=http))
        turns: list[dict[str, Any]] = []
        for text in texts:
            turns.append(await say(client, text, turns[-1]["context"] if turns else ""))
        listed = len((await client.list_tasks(ListTasksRequest())).tasks) if version == "1.0" else None
        try:
            await client.get_task(GetTaskRequest(id="task_99999999"))
            missing = ""
        except TaskNotFoundError as error:
            missing = type(error).__name__
        return {"name": card.name, "turns": turns, "listed": listed, "missing": missing}


sys.stdout.write(json.dumps(asyncio.run(main(*sys.argv[1:]))))
