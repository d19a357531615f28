"""Tests that the NoneBot2 bot with the `openai` client, the yardstick of local-agent, answers
through the same model.
"""

from bench.messages import WORDS, Books
from bench.onebot import model_server, started, with_openai
from bench.onebot_peer import User, connected


async def test_the_bot_with_the_openai_client_answers_each_message_with_its_own_word() -> None:
    books = Books(WORDS)
    with model_server() as model_port, started(with_openai(model_port)) as port:
        async with connected(port, books) as peer:
            user = User(peer, 1)
            for _ in range(3):
                assert await user.say() > 0
    assert (books.answered, books.wrong) == (3, [])
