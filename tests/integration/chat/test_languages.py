"""Tests that texts of the Host have the reader's language: by `Accept-Language`, on an open chat socket by `locale`."""

from collections.abc import Iterator

import httpx
import pytest

from tests.support.chat import Chat
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_TLS, PUPPET, PUPPET_PLUGIN, Host, Json, bearer, eventually
from tests.support.onebot import free_port


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("languages"), PARLOUR__PLUGINS__BUNDLED="false")
    host.install(ECHO_PLUGIN)
    host.install(PUPPET_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture
def chinese(host: Host) -> Iterator[httpx.Client]:
    headers = {**bearer(host.key()), "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}
    with httpx.Client(base_url=f"{host.address}/api/v1", headers=headers, timeout=30, verify=NO_TLS) as client:
        yield client


def test_an_error_message_has_the_requested_language(host: Host, chinese: httpx.Client) -> None:
    english, translated = host.http().get("/agents/nothing"), chinese.get("/agents/nothing")

    assert translated.status_code == english.status_code == 404
    assert translated.json()["error"]["code"] == english.json()["error"]["code"]
    assert translated.json()["error"]["message"] == "智能体“nothing”不存在；可用 GET /api/v1/agents 查看列表"
    assert translated.headers["content-language"] == "zh-Hans"
    assert english.json()["error"]["message"] == "agent 'nothing' does not exist; GET /api/v1/agents lists them"
    assert "content-language" not in english.headers


def test_a_reader_of_english_gets_the_same_bytes_with_and_without_a_header(host: Host) -> None:
    without = host.http().get("/agents/nothing")
    with_header = host.http().get("/agents/nothing", headers={"Accept-Language": "en-GB,en;q=0.9,zh;q=0.1"})

    assert with_header.content == without.content


def test_field_errors_have_the_requested_language(chinese: httpx.Client) -> None:
    error = chinese.post("/agents", json={"runner_id": 3, "timeout_seconds": -1}).json()["error"]

    messages = {each["field"]: each["message"] for each in error["details"]["fields"]}
    assert messages["name"] == "必填"
    assert messages["runner_id"] == "应为文本，而不是数字"
    assert messages["timeout_seconds"].startswith(("不能小于", "应大于"))
    assert error["message"] == "name: 必填"


def test_the_last_error_of_a_bot_has_the_requested_language(host: Host, chinese: httpx.Client) -> None:
    body = {"name": "waiting", "adapter": "onebot11", "adapter_config": {"mode": "reverse", "port": free_port()}}
    bot_id = host.http().post("/bots", json=body).json()["bot_id"]

    def last_error() -> str:
        return str(chinese.get(f"/bots/{bot_id}").json()["status"]["last_error"] or "")

    assert eventually(last_error, "the bot says that it waits").startswith(
        "没有 OneBot 实现连接；请将其反向 WebSocket 指向 "
    )
    listed = next(bot for bot in chinese.get("/bots").json()["items"] if bot["bot_id"] == bot_id)
    assert listed["status"]["last_error"] == last_error()
    assert "no OneBot implementation is connected" in host.http().get(f"/bots/{bot_id}").json()["status"]["last_error"]


def test_a_decision_trail_has_the_requested_language(host: Host, chinese: httpx.Client) -> None:
    disabled = host.ask(host.agent(ECHO, name="resting", enabled=False), "hello")

    steps: list[Json] = chinese.get(f"/events/{disabled['event_id']}/why").json()["steps"]

    outcome = next(step for step in steps if step["step"] == "settled")
    assert outcome["text"] == "无法处理：调用者指定了智能体，而智能体“resting”已停用。"
    assert outcome["sentences"][0]["values"]["reason"] == "：调用者指定了智能体，而智能体“resting”已停用"


def test_messages_of_users_and_agents_are_never_translated(host: Host, chinese: httpx.Client) -> None:
    said = "this session is over; log in again"
    result = host.ask(host.agent(ECHO), said)

    run = chinese.get(f"/runs/{result['run']['run_id']}").json()

    assert run["event"]["input_summary"] == said
    assert said in {delivery["text"] for delivery in run["deliveries"]} | {
        item["content"] for item in chinese.get(f"/conversations/{run['conversation_id']}/transcript").json()["items"]
    }


def test_the_error_of_a_run_has_the_requested_language(host: Host, chinese: httpx.Client) -> None:
    result = host.ask(host.agent(PUPPET), "no such deed")

    run = chinese.get(f"/runs/{result['run']['run_id']}").json()

    assert run["error"] == "智能体的代码因 KeyError 失败；详见其插件的日志"


async def test_a_chat_socket_reports_errors_in_its_locale(host: Host) -> None:
    messages = {}
    for locale in ("en", "zh-CN"):
        async with Chat(host, host.agent(ECHO), session=locale, locale=locale) as chat:
            await chat.socket.send('{"type": "cancel"}')
            messages[locale] = (await chat.frame())["message"]

    assert messages == {"en": "no run is active in this session", "zh-CN": "此会话中没有进行中的运行"}


@pytest.mark.parametrize(
    ("accepted", "locale", "message"),
    [
        ("zh-CN,zh;q=0.9", "", "智能体“nothing”不存在；可用 GET /api/v1/agents 查看列表"),
        ("en", "zh-CN", "智能体“nothing”不存在；可用 GET /api/v1/agents 查看列表"),
        ("zh-CN", "en", "agent 'nothing' does not exist; GET /api/v1/agents lists them"),
        ("", "", "agent 'nothing' does not exist; GET /api/v1/agents lists them"),
    ],
)
async def test_a_refused_chat_socket_states_the_reason_in_the_readers_language(
    host: Host, accepted: str, locale: str, message: str
) -> None:
    headers = {**bearer(host.key()), **({"Accept-Language": accepted} if accepted else {})}
    async with Chat(host, "nothing", headers=headers, locale=locale) as chat:
        await chat.socket.wait_closed()

    assert (chat.frames[0]["type"], chat.frames[0]["code"]) == ("error", "not_found")
    assert chat.frames[0]["message"] == message
    assert chat.socket.close_code == 4404
    assert message.startswith(chat.socket.close_reason or "none")


async def test_the_reason_of_a_refused_socket_fits_its_close_frame_in_every_language(host: Host) -> None:
    headers = {**bearer(host.key()), "Accept-Language": "zh-CN"}
    async with Chat(host, "%E6%97%A0" * 100, headers=headers) as chat:
        await chat.socket.wait_closed()

    assert chat.frames[0]["message"] == f"智能体“{'无' * 100}”不存在；可用 GET /api/v1/agents 查看列表"
    assert chat.socket.close_code == 4404
    assert chat.frames[0]["message"].startswith(chat.socket.close_reason or "none")
