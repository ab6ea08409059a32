"""How this plugin asks kagewasm: its server over a socket, which is started where none runs, else the command."""

import http.client
import json
import socket as sockets
import subprocess

from .command import policy, program, socket, state, version

PATIENCE = 10  # seconds


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(socket)


def post(operation, body):
    connection = Connection("localhost")
    try:
        connection.request("POST", "/api/v1/" + operation, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        made = json.loads(answer.read())
    finally:
        connection.close()
    if answer.status != 200:
        raise ValueError(f"{made['detail']}. {made.get('hint', '')}")
    return made


def run(*args, text=""):
    done = subprocess.run([program, *args, *state], input=text, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return done.stdout


def body_of(messages, session, window, instructions=None, reason=None, **more):
    settings = {"plug": "hermes", "plug_version": version, "format": "openai", "record": True, **more}
    asked = {"id": session, "context_window": window, "instructions": instructions or "", "reason": reason or ""}
    return json.dumps({**settings, **asked, "messages": {"messages": messages}})


def served(*asked):
    body = body_of(*asked, force=True)
    try:
        made = post("compact", body)
    except (FileNotFoundError, ConnectionRefusedError):
        run("serve", "--background")
        made = post("compact", body)
    return made["messages"]["messages"]


def flags_of(session, window, instructions=None, reason=None):
    flags = ["--format", "openai", "--window", str(window)]
    for flag, value in (("--session", session), ("--instructions", instructions), ("--reason", reason)):
        if value:
            flags += [flag, value]
    return [*flags, *policy]


def commanded(messages, *asked):
    text = json.dumps({"messages": messages})
    return json.loads(run("compact", "-", "--force", "--quiet", *flags_of(*asked), text=text))["messages"]


FAILURES = (OSError, ValueError, KeyError, http.client.HTTPException, subprocess.SubprocessError)


def has_server():
    return socket and hasattr(sockets, "AF_UNIX")


def compact(*asked):
    """The messages as kagewasm compacts them, of: messages, session, window, instructions, reason."""
    if has_server():
        try:
            return served(*asked)
        except FAILURES:
            pass  # the command says why
    return commanded(*asked)


def turn_ended(messages, session, window):
    """What came of the end of a turn: whether a plugin listens, and the compaction that one wants."""
    missing = False
    if has_server():
        try:
            return post("turn-end", body_of(messages, session, window))
        except FAILURES as error:
            missing = isinstance(error, (FileNotFoundError, ConnectionRefusedError))
    ended = json.loads(run("turn-end", "-", *flags_of(session, window), text=json.dumps({"messages": messages})))
    if missing and ended["listening"]:
        run("serve", "--background")  # for the next turn
    return ended
