"""A bot written with mattermostdriver, as users of that library write them. It repeats the messages.

`python mattermostdriver_bot.py HOST PORT TOKEN` connects to the server at that address.
"""

import asyncio
import json
import sys

from mattermostdriver import Driver, exceptions

host, port, token = sys.argv[1:]
driver = Driver(
    {"scheme": "http", "url": host, "port": int(port), "token": token, "keepalive": True, "keepalive_delay": 1}
)
driver.login()


def answer(post: dict) -> None:
    text, place = post["message"], {"channel_id": post["channel_id"]}
    if text == "!file":
        known = driver.files.upload_file(post["channel_id"], {"files": ("a.txt", b"hello")})
        driver.posts.create_post({**place, "message": "file", "file_ids": [known["file_infos"][0]["id"]]})
    elif text == "!edit":
        sent = driver.posts.create_post({**place, "message": "one"})
        driver.posts.patch_post(sent["id"], {"message": "two"})
    elif text == "!read":
        content = driver.files.get_file(post["file_ids"][0])
        member = driver.channels.get_channel_member(post["channel_id"], post["user_id"])
        driver.posts.create_post({**place, "message": f"{content.text} by {member['roles']}"})
    elif text == "!errors":
        driver.posts.create_post({**place, "message": "\n".join(problems(post))})
    else:
        driver.posts.create_post({**place, "message": f"you said: {text}", "root_id": post["id"]})
        reaction = {"user_id": driver.client.userid, "post_id": post["id"], "emoji_name": "thumbsup"}
        driver.reactions.create_reaction(reaction)


def problems(post: dict) -> list:
    calls = (
        lambda: driver.posts.create_post({"channel_id": post["channel_id"], "message": "x" * 16384}),
        lambda: driver.posts.patch_post(post["id"], {"message": "mine"}),
        lambda: driver.users.get_user("z" * 26),
    )
    found = []
    for call in calls:
        try:
            call()
            found.append("accepted")
        except (
            exceptions.InvalidOrMissingParameters,
            exceptions.NotEnoughPermissions,
            exceptions.ResourceNotFound,
        ) as error:
            found.append(type(error).__name__)
    return found


async def handle(frame: str) -> None:
    event = json.loads(frame)
    if event.get("event") == "posted":
        post = json.loads(event["data"]["post"])
        if post["user_id"] != driver.client.userid:
            await asyncio.get_running_loop().run_in_executor(None, answer, post)


loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
driver.init_websocket(handle)
