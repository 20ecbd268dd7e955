"""Does what a test says, with the agent of fairway_agent.py, and prints each decision that it waited for.

stdin: {"bootstrap": .., "registry": .., "schemas": .., "prefix": .., "agent_id": .., "wrong_partitioner": bool,
        "steps": [{"ask": request, "headers": {name: hex}} | {"await": request id, "status": ..}
                  | {"settle": settlement, "lease_of": request id}]}
stdout: [{"decision": {..}, "headers": {name: hex}}], one for each await. Bytes are {"hex": ".."}.
"""

import json
import sys
import time

from fairway_agent import Agent

PATIENCE_S = 60


def from_json(value):
    return bytes.fromhex(value["hex"]) if set(value) == {"hex"} else value


def to_json(value):
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    raise TypeError(type(value))


job = json.load(sys.stdin, object_hook=from_json)
agent = Agent(
    job["bootstrap"],
    job["registry"],
    job["agent_id"],
    job["schemas"],
    job["prefix"],
    partitioner="consistent_random" if job["wrong_partitioner"] else "murmur2_random",
)
leases = {}
seen = []
for step in job["steps"]:
    if "ask" in step:
        headers = {name: bytes.fromhex(value) for name, value in step.get("headers", {}).items()}
        agent.ask(step["ask"], headers)
    elif "settle" in step:
        settlement = dict(step["settle"])
        if "lease_of" in step:
            settlement["lease_id"] = leases[step["lease_of"]]
        agent.settle(settlement)
    else:
        until = time.monotonic() + PATIENCE_S
        while True:
            answer = agent.decision(until - time.monotonic())
            if answer is None:
                sys.exit(f"Expected {step['status']} for {step['await']}, but none came")
            decision, headers = answer
            if decision["granted"]:
                leases[decision["request_id"]] = decision["granted"]["lease_id"]
            if decision["request_id"] == step["await"] and decision["status"] == step["status"]:
                break
        seen.append(
            {"decision": decision, "headers": {name: value.hex() for name, value in headers.items()}}
        )
agent.close()
print(json.dumps(seen, default=to_json))
