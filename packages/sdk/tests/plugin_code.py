"""Provides the code, manifests and component files of plugins for tests."""

HEAD = "apiVersion: parlour/v1\nkind: {kind}\nmetadata: {{name: {name}}}\n"


CODE = """\
from parlour_sdk.components import (
    AgentRunner, Command, EventListener, KnowledgeEngine, Parser, Plugin, Tool, on
)


class Listener(EventListener):
    @on("message.received")
    async def hear(self, event, ctx):
        pass


class Misspelt(EventListener):
    @on("message.*")
    @on("message.recieved")
    async def hear(self, event, ctx):
        pass


class Deaf(EventListener):
    async def hear(self, event, ctx):
        pass


class Blocking(EventListener):
    @on("*")
    def hear(self, event, ctx):
        pass


class Narrow(EventListener):
    @on("*")
    async def hear(self, event):
        pass


class Weather(Tool):
    async def call(self, parameters, ctx):
        return "blue"


class Unfinished(Tool):
    pass


class Yielding(Tool):
    async def call(self, parameters, ctx):
        yield "blue"


class Demanding(Tool):
    def __init__(self, token):
        pass

    async def call(self, parameters, ctx):
        return "blue"


class Ping(Command):
    async def run(self, ctx):
        return "pong"


class Sync(Command):
    def run(self, ctx):
        return "pong"


class Engine(KnowledgeEngine):
    async def ingest(self, kb_id, file, ctx):
        return 0

    async def retrieve(self, kb_id, query, top_k, filters, ctx):
        return []

    async def delete(self, kb_id, file_id, ctx):
        pass


class Reader(Parser):
    async def parse(self, file, config):
        return ""


class ShortRunner(AgentRunner):
    async def run(self, ctx):
        yield


class Main(Plugin):
    pass


class NotMain:
    pass


number = 5
"""


def component(kind: str, attr: str, spec: str = "{}", name: str = "it") -> str:
    code = f"execution: {{python: {{path: code.py, attr: {attr}}}}}\n"
    return f"{HEAD.format(kind=kind, name=name)}spec: {spec}\n{code}"


def manifest(*components: str, more: str = "") -> str:
    listed = ", ".join(components)
    return (
        "apiVersion: parlour/v1\nkind: Plugin\nmetadata: {author: acme, name: hello, version: 0.1.0}\n"
        f"spec:\n  components: [{listed}]\n{more}"
    )


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(CODE.splitlines(), 1) if text in line)
