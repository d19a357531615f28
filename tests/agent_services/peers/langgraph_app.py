"""A graph for the tests, which a LangGraph development server serves: it repeats, asks, fails or waits."""

import asyncio

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt


async def answer(state: MessagesState) -> dict:
    content = state["messages"][-1].content
    text = content if isinstance(content, str) else content[0]["text"]
    if text == "ask":
        text = interrupt("Which city?")
    if text == "fail":
        raise ValueError("no such place")
    model = GenericFakeChatModel(messages=iter([AIMessage(f"You said {text}")]))
    reply = await model.ainvoke(state["messages"])
    if text == "wait":
        await asyncio.Event().wait()
    return {"messages": [reply]}


builder = StateGraph(MessagesState)
builder.add_node("answer", answer)
builder.add_edge(START, "answer")
builder.add_edge("answer", END)
graph = builder.compile()
