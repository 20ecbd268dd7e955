#!/bin/sh
# One model call under a lease of the gateway's HTTP API, with curl alone.
#
# sh one-call.sh GATEWAY_URL QUOTA AGENT
#
# Where callers have tokens (docs/gateway.md), FAIRWAY_TOKEN is sent.
set -eu
if [ $# -ne 3 ]; then
  echo "sh one-call.sh GATEWAY_URL QUOTA AGENT" >&2
  exit 2
fi
leases=$1/v1/leases quota=$2 agent=$3

api() { # METHOD URL [BODY]: prints the answer; or its error, to stderr, and ends
  body=$(curl -sS --fail-with-body --max-time 90 -X "$1" -H 'content-type: application/json' \
    ${FAIRWAY_TOKEN:+-H "x-fairway-token: $FAIRWAY_TOKEN"} ${3:+--data "$3"} "$2") || {
    printf '%s\n' "$body" >&2
    exit 1
  }
  printf '%s\n' "$body"
}

text() { # NAME: the text under that name in the answer
  printf '%s' "$answer" | sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p'
}

# Ask, and wait up to 30 s for the decision.
answer=$(api POST "$leases" "{\"quota\":\"$quota\",\"agent\":\"$agent\",\"input_tokens\":300,\"max_output_tokens\":100,\"wait_ms\":30000}")
id=$(text id)

# In line: each poll waits up to 30 s.
polls=0
while [ "$(text status)" = QUEUED ]; do
  polls=$((polls + 1))
  if [ $polls -gt 20 ]; then
    api DELETE "$leases/$id"
    exit 1
  fi
  answer=$(api GET "$leases/$id?wait_ms=30000")
done
if [ "$(text status)" != GRANTED ]; then
  printf '%s\n' "$answer" >&2
  exit 1
fi

# Here the model is called, with curl again; the usage is what it said it used.
api POST "$leases/$id/settle" '{"outcome":"SUCCEEDED","usage":{"input_tokens":280,"output_tokens":40},"signal":{"status":200,"class":"OK"}}'
