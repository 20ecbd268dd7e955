"""An agent that can be killed at any moment: it goes on where it was, and is charged once.

/usr/bin/python3 checkpointed_agent.py BOOTSTRAP REGISTRY SCHEMAS PREFIX AGENT QUOTA FOLDER

It sends the *.txt files of FOLDER to the model. Before it waits for its lease it writes FOLDER/.fairway/checkpoint.json.
One process at a time works in a folder. Started again it takes the same arguments.
"""

import glob
import json
import os
import sys
import time
import urllib.request
import uuid

import checkpoint as checkpoints
from fairway_agent import Agent, come_back

WAIT_S = 600
COUNT_WAIT_S = 5
SHAPE = {
    "files": dict,
    "next_call": {
        "lease_request": {"request_id": str, "quota": str, "estimate": dict},
        "body": str,
        "sent_on": (str, type(None)),
        "used": (dict, type(None)),
    },
}
# Answers as Anthropic's /v1/messages, and counts at /count_tokens below it; without it nothing is sent.
PROVIDER_URL = os.environ.get("PROVIDER_URL")


def log(text):
    print(text, flush=True)


def text_files(folder):
    """The names of the files; a folder or a link that leads nowhere is none."""
    paths = glob.glob(os.path.join(glob.escape(folder), "*.txt"))
    return sorted(os.path.basename(path) for path in paths if os.path.isfile(path))


def read(folder, name):
    log(f"read {name}")
    return checkpoints.read(os.path.join(folder, name))


def body_of(files):
    """The call to the model: a conversation with all files."""
    text = "\n".join(f"{name}:\n{file['text']}" for name, file in sorted(files.items()))
    return json.dumps({"max_tokens": 100, "messages": [{"role": "user", "content": text}]})


def begin(folder, quota):
    files = {name: read(folder, name) for name in text_files(folder)}
    body = body_of(files)
    return {
        "goal": "tell what the files are about",
        "step": "1 of 1: ask the model",
        "files": files,
        "decisions": [{"what": "send the files whole", "why": "they are short"}],
        "next_call": {
            # The whole request for the lease: the same record under the same id is the same place in line.
            "lease_request": {
                "request_id": str(uuid.uuid4()),
                "quota": quota,
                "role": "worker",
                "retry_of": None,
                "estimate": {
                    "input_tokens": count_tokens(body),
                    "max_output_tokens": 100,
                    "method": "count_tokens",
                },
            },
            "body": body,
            "sent_on": None,  # the lease on which it was sent, from shortly before it is sent
            "used": None,  # what the provider said it used, from its answer on
        },
    }


def refresh(folder, checkpoint):
    """Reads again what changed, and nothing else.

    The request for the lease stays as it is, and with it the place in line: by how much the call has become larger or
    smaller is settled afterwards.
    """
    files = checkpoint["files"]
    names = text_files(folder)
    stale = [
        name
        for name in names
        if name not in files or checkpoints.changed(os.path.join(folder, name), files[name])
    ]
    gone = [name for name in files if name not in names]
    log(f"resumed: {len(stale) + len(gone)} of {len(files)} files changed")
    for name in gone:
        del files[name]
    for name in stale:
        files[name] = read(folder, name)
    checkpoint["next_call"]["body"] = body_of(files)


def settlement(call, lease_id, outcome):
    request = call["lease_request"]
    return {
        "lease_id": lease_id,
        "request_id": request["request_id"],
        "quota": request["quota"],
        "outcome": outcome,
    }


def post(url, body, timeout_s):
    request = urllib.request.Request(url, body.encode("utf-8"), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout_s) as answer:
        return json.load(answer)


def count_tokens(body):
    """The input tokens of a call, as the provider's own tokenizer counts them.

    None where nobody counts: unknown, for which the coordinator takes what the role's calls usually use. The number of
    characters would tell less than that.
    """
    if not PROVIDER_URL:
        return None
    asking = {name: value for name, value in json.loads(body).items() if name != "max_tokens"}
    try:
        return post(PROVIDER_URL + "/count_tokens", json.dumps(asking), COUNT_WAIT_S)["input_tokens"]
    except (OSError, ValueError, KeyError) as error:
        log(f"no count: {error!r}")
        return None


def call_model(body):
    """Sends the body to the provider, and returns what it said it used."""
    if not PROVIDER_URL:
        return {"input_tokens": 280, "output_tokens": 40}  # what a provider might have said
    usage = post(PROVIDER_URL, body, WAIT_S)["usage"]
    return {name: usage[name] for name in ("input_tokens", "output_tokens")}


def finish(agent, path, call):
    agent.settle(dict(settlement(call, call["sent_on"], "SUCCEEDED"), **call["used"]))
    checkpoints.delete(path)
    agent.close()
    log(f"settled {call['lease_request']['request_id']}")


def main():
    if len(sys.argv) != 8:
        sys.exit(__doc__.strip().splitlines()[2])
    bootstrap, registry, schemas, prefix, agent_id, quota, folder = sys.argv[1:]
    path = os.path.join(folder, ".fairway", "checkpoint.json")
    if not checkpoints.lock(folder):
        sys.exit(f"Another process works in {folder}. Wait for its end.")
    try:
        checkpoint = checkpoints.load(path, SHAPE)
    except ValueError as error:
        sys.exit(f"{error}. Delete it to begin anew.")

    agent = Agent(bootstrap, registry, agent_id, schemas, prefix)
    if checkpoint is None:
        checkpoint = begin(folder, quota)
    elif checkpoint["next_call"]["used"]:
        # Killed after the answer. Only the settlement may be missing; a second one changes nothing.
        finish(agent, path, checkpoint["next_call"])
        return
    elif checkpoint["next_call"]["sent_on"]:
        # Killed while the provider worked on it. Nobody knows what it used, so nothing is given back, and the same call
        # is a new request that says what it repeats.
        call = checkpoint["next_call"]
        log(f"resumed: {call['lease_request']['request_id']} was sent, its answer is lost")
        agent.settle(settlement(call, call["sent_on"], "FAILED_AFTER_SEND"))
        retry_of = call["lease_request"]["request_id"]
        call["lease_request"].update(request_id=str(uuid.uuid4()), retry_of=retry_of)
        call["sent_on"] = None
        refresh(folder, checkpoint)
    else:
        refresh(folder, checkpoint)
    call = checkpoint["next_call"]

    def asking(request):
        """Stored before it is sent: killed from now on, it is this request that is asked for again."""
        call["lease_request"] = request
        checkpoints.save(path, checkpoint)
        log(f"waiting as {request['request_id']}")

    try:
        decision = agent.lease(call["lease_request"], WAIT_S, asking)
        if decision["status"] == "REJECTED" and decision["rejected"]["reason"] == "ALREADY_SETTLED":
            # Withdrawn or given back when this was killed, and nothing was sent.
            request = dict(call["lease_request"], request_id=str(uuid.uuid4()))
            decision = agent.lease(request, WAIT_S, asking)
    except TimeoutError as error:
        checkpoints.delete(path)  # it was withdrawn
        sys.exit(str(error))
    if decision["status"] == "REJECTED":
        pause_s, retry_of = come_back(decision, call["lease_request"]["retry_of"])
        if pause_s is None:
            checkpoints.delete(path)  # this request is over: whoever starts again begins a new one
        else:  # too late for this process: whoever starts again comes back for the place
            call["lease_request"].update(request_id=str(uuid.uuid4()), retry_of=retry_of)
            checkpoints.save(path, checkpoint)
        sys.exit(f"{decision['rejected']['reason']}: {decision['rejected']['detail']}")

    lease_id = decision["granted"]["lease_id"]
    call["lease_request"]["request_id"] = decision["request_id"]  # another one after a grant that came too late
    call["sent_on"] = lease_id
    checkpoints.save(path, checkpoint)
    sent_at = time.monotonic()
    usage = call_model(call["body"])
    signal = {"status": 200, "class": "OK", "age_ms": 0}
    signal["ms_since_send"] = int((time.monotonic() - sent_at) * 1000)
    call["used"] = {"usage": usage, "signal": signal}
    checkpoints.save(path, checkpoint)
    finish(agent, path, call)


try:
    main()
except OSError as trouble:  # a file that cannot be read or written, a provider that fails: started again, it goes on
    sys.exit(f"{type(trouble).__name__}: {trouble}")
