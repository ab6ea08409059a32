"""The loop of an agent in Python, with the standard library alone."""
import json
import os
import pathlib
import urllib.error
import urllib.request

URL = os.environ.get("KAGEWASM_URL", "http://127.0.0.1:7433") + "/api/v1"
STATE = pathlib.Path(os.environ.get("XDG_STATE_HOME") or pathlib.Path.home() / ".local/state") / "kagewasm"
TOKEN = pathlib.Path(os.environ.get("KAGEWASM_TOKEN_FILE", STATE / "serve-token")).read_text().strip()


def api(method, path, body=None, **headers):
    request = urllib.request.Request(URL + path, method=method, data=json.dumps(body).encode() if body else None)
    request.add_header("Authorization", "Bearer " + TOKEN)
    request.add_header("Content-Type", "application/json")
    for name, value in headers.items():
        request.add_header(name.replace("_", "-"), value)
    try:
        with urllib.request.urlopen(request) as response:
            return json.loads(response.read() or "null")
    except urllib.error.HTTPError as error:  # a problem: branch on its code
        raise RuntimeError(error.read().decode()) from None


def model(messages):
    """Stands for the call of your model."""
    return {"role": "assistant", "content": f"I have read {len(messages)} messages."}, {"input_tokens": 20, "output_tokens": 6}


session = api("POST", "/sessions", {"model": "gpt-4o", "source": "loop.py"})
path = "/sessions/" + urllib.request.quote(session["key"], safe="")
for turn, task in enumerate(["Fix the parser.", "Now its tests."]):
    # The key makes the request safe to repeat: after a timeout, say.
    api("POST", path + "/messages", {"messages": [{"role": "user", "content": task}]}, Idempotency_Key=f"turn {turn}")
    look = api("GET", path + "/context")  # compacts where that is due
    answer, usage = model(look["messages"])
    api("POST", path + "/messages", {"messages": [answer]})
    api("POST", path + "/usage", usage)
    print(answer["content"])
print(len(api("GET", path + "/compactions")["compactions"]), "compactions")
