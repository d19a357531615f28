"""Lets users of Matrix do everything that a bot hears of, and lists the events that it must receive."""

from tests.support.harness import Json

from .person import Person, require_success

PICTURE = b"not really a picture"
OTHER_FILES = {"m.audio": "Voice", "m.video": "Video", "m.file": "File"}


async def say_everything(ann: Person, bob: Person, bot: str, room: str) -> dict[str, str]:
    """Sends one message of each kind and returns the ids by name."""
    pill = f'<a href="https://matrix.to/#/{bot}">The Bot</a>: see <a href="https://matrix.to/#/{bob.id}">Bob</a>'
    mentioned = {"m.mentions": {"user_ids": [bot, bob.id]}, "format": "org.matrix.custom.html"}
    said = {"mention": await ann.say(room, "The Bot: see Bob, now", **mentioned, formatted_body=f"{pill}, now")}
    said["everyone"] = await ann.say(room, "hello @room!", **{"m.mentions": {"room": True}})
    uri = await ann.upload(PICTURE, "image/png", "a.png")
    about = {"url": uri, "info": {"mimetype": "image/png", "size": len(PICTURE)}}
    said["image"] = await ann.send(room, {"msgtype": "m.image", "body": "a cat", "filename": "a.png", **about})
    for kind in OTHER_FILES:
        said[kind] = await ann.send(room, {"msgtype": kind, "body": "a.bin", **about})
    gone = {"url": "mxc://parlour.test/gone"}
    said["gone"] = await ann.send(room, {"msgtype": "m.image", "body": "gone.png", **gone})
    said["place"] = await ann.send(room, {"msgtype": "m.location", "body": "here", "geo_uri": "geo:1,2"})
    reply = {"m.in_reply_to": {"event_id": said["mention"]}}
    said["reply"] = await bob.say(room, "> <@ann> see Bob\n\nI do", **{"m.relates_to": reply})
    thread = {"rel_type": "m.thread", "event_id": said["mention"], "is_falling_back": True, **reply}
    said["thread"] = await bob.say(room, "in a thread", **{"m.relates_to": thread})
    return said


async def do_everything(ann: Person, bob: Person, bot: str, room: str, said: dict[str, str]) -> None:
    edit = {"rel_type": "m.replace", "event_id": said["everyone"]}
    new = {"m.new_content": {"msgtype": "m.text", "body": "hello all"}, "m.relates_to": edit}
    said["edit"] = await ann.say(room, "* hello all", **new)
    said["false edit"] = await bob.say(room, "* hello nobody", **new)
    thumb = {"m.relates_to": {"rel_type": "m.annotation", "event_id": said["mention"], "key": "👍"}}
    said["reaction"] = await bob.send(room, thumb, "m.reaction")
    said["taken back"] = require_success(await bob.client.room_redact(room, said["reaction"])).event_id
    said["deletion"] = require_success(await ann.client.room_redact(room, said["image"])).event_id
    await ann.send(room, {"anything": 1}, "org.example.poll/start")
    require_success(await ann.client.room_put_state(room, "m.room.name", {"name": "Another name"}))
    require_success(await bob.client.room_leave(room))
    require_success(await ann.client.room_ban(room, bob.id))
    require_success(await ann.client.room_unban(room, bob.id))
    require_success(await ann.client.room_kick(room, bot))


def expected_events(said: dict[str, str], ann: str, bob: str, bot: str, room: str) -> list[Json]:
    """Returns the known fields of each event that a plugin receives."""

    def message(name: str, *parts: Json) -> Json:
        chain = [{"type": "Source", "id": said[name]}, *parts]
        return {"type": "message.received", "event_id": said[name], "message_chain": chain}

    at_bot = {"type": "At", "target": bot, "display": "The Bot"}
    at_bob = {"type": "At", "target": bob, "display": "Bob"}
    picture = {"type": "Image", "name": "a.png", "mime_type": "image/png"}
    place = {"type": "Platform", "component_type": "m.location", "data": {"geo_uri": "geo:1,2"}}
    thumb = {"type": "message.reaction", "reaction": "👍", "message_id": said["mention"]}
    return [
        message("mention", at_bot, plain(" see "), at_bob, plain(", now")),
        message("everyone", plain("hello "), {"type": "AtAll"}, plain("!")),
        message("image", picture, plain("a cat")),
        *(message(kind, {"type": component}) for kind, component in OTHER_FILES.items()),
        message("gone", {"type": "Unknown"}),
        message("place", place),
        message("reply", {"type": "Quote", "id": said["mention"], "sender": ann}, plain("I do")),
        message("thread", plain("in a thread")),
        {"type": "message.edited", "message_id": said["everyone"], "new_content": [plain("hello all")]},
        {**thumb, "event_id": said["reaction"], "is_add": True},
        {**thumb, "event_id": said["taken back"], "is_add": False},
        {"type": "message.deleted", "event_id": said["deletion"], "message_id": said["image"]},
        {"type": "bot.invited_to_group", "inviter": {"id": ann}, "request_id": room},
        {"type": "group.member_joined", "member": {"user": {"id": bob}}},
        {"type": "group.member_left", "is_kicked": False},
        {"type": "group.info_updated", "changed_fields": ["name"]},
        {"type": "group.member_banned", "operator": {"id": ann}},
        {"type": "group.member_unbanned", "member": {"user": {"id": bob}}},
        {"type": "platform.matrix.org.example.poll_start", "data": {"content": {"anything": 1}}},
        {"type": "bot.removed_from_group", "operator": {"id": ann}},
    ]


def plain(text: str) -> Json:
    return {"type": "Plain", "text": text}
