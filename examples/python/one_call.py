"""One model call under a lease.

/usr/bin/python3 one_call.py BOOTSTRAP REGISTRY SCHEMAS PREFIX AGENT QUOTA REQUEST
"""

import json
import sys
import time

from fairway_agent import Agent

if len(sys.argv) != 8:
    sys.exit(__doc__.strip().splitlines()[-1])
bootstrap, registry, schemas, prefix, agent_id, quota, request_id = sys.argv[1:]
agent = Agent(bootstrap, registry, agent_id, schemas, prefix)
decision = agent.lease(
    {
        "request_id": request_id,
        "quota": quota,
        "role": "worker",
        "estimate": {"input_tokens": 300, "max_output_tokens": 100, "method": "tokenizer"},
    },
    timeout_s=60,
)
if decision["status"] == "REJECTED":
    sys.exit(f"{decision['rejected']['reason']}: {decision['rejected']['detail']}")

sent_at = time.monotonic()
usage = {"input_tokens": 280, "output_tokens": 40}  # here the model is called; this is what it said it used
agent.settle(
    {
        "lease_id": decision["granted"]["lease_id"],
        "request_id": decision["request_id"],
        "quota": quota,
        "outcome": "SUCCEEDED",
        "usage": usage,
        "signal": {
            "status": 200,
            "class": "OK",
            "age_ms": 0,
            "ms_since_send": int((time.monotonic() - sent_at) * 1000),
        },
    }
)
agent.close()
print(json.dumps({"lease_id": decision["granted"]["lease_id"], "usage": usage}))
