"""One model call under a lease of the gateway's HTTP API, with nothing but Python's standard library.

python3 http_lease.py GATEWAY_URL QUOTA AGENT

Where callers have tokens (docs/gateway.md), FAIRWAY_TOKEN is sent.
"""

import http.client
import json
import os
import random
import sys
import time
import urllib.error
import urllib.request
import uuid

WAIT_MS = 30_000  # the gateway answers earlier if it is decided earlier
PATIENCE_S = 600
SOON_S = 1  # pause before asking anew where nobody says when
TRIES = 5  # of a call that nothing came back of; whatever it did the first time, it does once


def call(method, url, body=None, key=None):
    """An answer of the gateway as JSON; its errors say what was expected."""
    headers = {"content-type": "application/json"}
    if key:
        headers["idempotency-key"] = key
    if os.environ.get("FAIRWAY_TOKEN"):
        headers["x-fairway-token"] = os.environ["FAIRWAY_TOKEN"]
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    for attempt in range(1, TRIES + 1):
        try:
            with urllib.request.urlopen(request, timeout=2 * WAIT_MS / 1000) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read().decode("utf-8", "replace")
            try:
                sys.exit(f"{error.code}: {json.loads(text)['error']['message']}")
            except (ValueError, LookupError, TypeError):
                sys.exit(f"{error.code}: {text[:1000]}")
        except (OSError, http.client.HTTPException, ValueError) as error:  # no answer, or one that was cut
            if attempt == TRIES:
                sys.exit(f"No answer of {url}: {error}")
            time.sleep(2**attempt * random.random())


def come_back(lease):
    """After how many seconds to ask again after a REJECTED, or None for never."""
    if lease.get("retry_after_ms") is not None and lease.get("request_id"):
        return lease["retry_after_ms"] / 1000
    return SOON_S if lease.get("reason") == "DEADLINE_PASSED" else None


def ms_since(then):
    return int((time.monotonic() - then) * 1000)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip().splitlines()[2])
    gateway, quota, agent = sys.argv[1:]
    leases = gateway + "/v1/leases"
    ask = {"quota": quota, "agent": agent, "input_tokens": 300, "max_output_tokens": 100, "wait_ms": WAIT_MS}
    # Asked again with this key, because no answer came, it has the same place in line.
    lease = call("POST", leases, ask, key=str(uuid.uuid4()))
    until = time.monotonic() + PATIENCE_S
    while lease["status"] in ("QUEUED", "REJECTED"):
        if lease["status"] == "REJECTED":
            pause_s = come_back(lease)
            if pause_s is None or time.monotonic() + pause_s > until:
                sys.exit(f"{lease['reason']}: {lease['message']}")
            print(f"{lease['reason']}, back in {pause_s} s", file=sys.stderr)
            time.sleep(pause_s)
            # Another request, which has the place of the rejected one if that had any.
            lease = call("POST", leases, dict(ask, retry_of=lease["request_id"]), key=str(uuid.uuid4()))
            continue
        if time.monotonic() > until:
            call("DELETE", f"{leases}/{lease['id']}")
            sys.exit(f"No lease within {PATIENCE_S} s")
        eta = f", {lease['eta_ms'] // 1000} s to go" if "eta_ms" in lease else ""
        print(f"in line at {lease.get('position', '?')}{eta}", file=sys.stderr)
        lease = call("GET", f"{leases}/{lease['id']}?wait_ms={WAIT_MS}")

    sent_at = time.monotonic()
    usage = {"input_tokens": 280, "output_tokens": 40}  # here the model is called; this is what it said it used
    answered_at = time.monotonic()  # when the answer's headers are there
    signal = {"status": 200, "class": "OK", "age_ms": ms_since(answered_at), "ms_since_send": ms_since(sent_at)}
    report = {"outcome": "SUCCEEDED", "attempt": lease["attempt"], "usage": usage, "signal": signal}
    settled = call("POST", f"{leases}/{lease['id']}/settle", report)
    print(json.dumps({"request_id": lease["request_id"], "status": settled["status"]}))


main()
