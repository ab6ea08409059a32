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


def post(body):
    connection = Connection("localhost")
    try:
        connection.request("POST", "/api/v1/compact", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        made = json.loads(answer.read())
    finally:
        connection.close()
    if answer.status != 200:
        raise ValueError(f"{made['detail']}. {made.get('hint', '')}")
    return made["messages"]["messages"]


def run(*args, text=""):
    done = subprocess.run([program, *args, *state], input=text, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return done.stdout


def served(messages, session, window, instructions):
    settings = {"plug": "hermes", "plug_version": version, "format": "openai", "force": True, "record": True}
    asked = {"id": session, "context_window": window, "instructions": instructions or "", "messages": {"messages": messages}}
    body = json.dumps({**settings, **asked})
    try:
        return post(body)
    except (FileNotFoundError, ConnectionRefusedError):
        run("serve", "--background")
        return post(body)


def commanded(messages, session, window, instructions):
    flags = ["--format", "openai", "--window", str(window), "--force", "--quiet"]
    if session:
        flags += ["--session", session]
    if instructions:
        flags += ["--instructions", instructions]
    return json.loads(run("compact", "-", *flags, *policy, text=json.dumps({"messages": messages})))["messages"]


def compact(*asked):
    """The messages as kagewasm compacts them."""
    if socket and hasattr(sockets, "AF_UNIX"):
        try:
            return served(*asked)
        except (OSError, ValueError, KeyError, http.client.HTTPException, subprocess.SubprocessError):
            pass  # the command says why
    return commanded(*asked)
