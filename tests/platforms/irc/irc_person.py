"""A person on IRC, with the library `irc`, as users of that library write clients.

`python irc_person.py PORT NICK CHANNEL` joins a channel, prints what it sees as lines of JSON, and sends what it reads:
lines of a target, a blank and the text.
"""

import json
import sys
import threading

import irc.client

port, nick, channel = int(sys.argv[1]), sys.argv[2], sys.argv[3]
reactor = irc.client.Reactor()
connection = reactor.server().connect("127.0.0.1", port, nick)


def show(kind, event):
    source = event.source.nick if event.source else ""
    sys.stdout.write(json.dumps({"kind": kind, "from": source, "to": event.target, "text": event.arguments}) + "\n")
    sys.stdout.flush()


def on_welcome(connection, event):
    connection.join(channel)
    threading.Thread(target=send, daemon=True).start()


def send():
    for line in sys.stdin:
        target, _, text = line.rstrip("\n").partition(" ")
        connection.privmsg(target, text)


connection.add_global_handler("welcome", on_welcome)
for kind in ("endofnames", "pubmsg", "privmsg", "action", "kick", "currenttopic", "topic", "nick", "ctcpreply"):
    connection.add_global_handler(kind, lambda connection, event, kind=kind: show(kind, event))
reactor.process_forever()
