"""A Fairway agent on Confluent's Python client: docs/protocol.md in code, and nothing beyond it."""

import os
import time
import uuid

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka import avro
from confluent_kafka.avro import CachedSchemaRegistryClient, MessageSerializer

ANSWER_S = 2  # a request without an answer is sent again after this, then after twice as long, and so on
PASSING_ERRORS = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError.UNKNOWN_TOPIC_OR_PART)
SOON_S = 1  # pause before asking anew where nobody says when
NOTHING_SENT = ("LEASE_EXPIRED", "STALE")  # the grant got lost, or the request was too old when it was read
REMEMBERED_MAX = 10_000  # requests of which the newest decision is remembered
CLOCK_WINDOW_S = 300  # how long the fastest decision tells how the coordinator's clock differs from this one


def complete(schema, record):
    """The record with the schema's defaults: Avro's Python library leaves them to whoever writes."""
    if record is None:
        return None
    if schema.type == "union":
        schema = next((s for s in schema.schemas if s.type != "null"), schema)
    if schema.type != "record":
        return record
    unknown = set(record) - {field.name for field in schema.fields}
    if unknown:
        raise ValueError(f"Expected fields of {schema.name}, but found {sorted(unknown)}")
    return {
        field.name: complete(field.type, record[field.name] if field.name in record else field.default)
        for field in schema.fields
    }


def reply_topic(prefix, agent_id):
    if ":" in agent_id:  # no topic name may have a colon
        return prefix + "replies-hex." + agent_id.encode("ascii").hex()
    return prefix + "replies." + agent_id


def come_back(decision, retry_of):
    """After how many seconds to ask again after a REJECT, or None for never, and what that request names in retry_of."""
    rejected = decision["rejected"]
    pause_s = None if rejected["retry_after_ms"] is None else rejected["retry_after_ms"] / 1000
    if rejected["reason"] in NOTHING_SENT:
        return pause_s or SOON_S, retry_of
    if rejected["reason"] == "DEADLINE_PASSED":
        return pause_s or SOON_S, decision["request_id"]
    return pause_s, decision["request_id"]  # it has the place of the one that was rejected


class Agent:
    """One agent id. Not thread-safe."""

    def __init__(
        self,
        bootstrap,
        registry,
        agent_id,
        schemas,
        prefix="fairway.",
        partitioner="murmur2_random",  # librdkafka's own default puts most keys into the wrong partition
    ):
        self.agent_id = agent_id
        self._requests = prefix + "requests"
        self._settlements = prefix + "settlements"
        self._replies = reply_topic(prefix, agent_id)
        self._request_schema = avro.load(os.path.join(schemas, "LeaseRequest.avsc"))
        self._settlement_schema = avro.load(os.path.join(schemas, "Settlement.avsc"))
        self._serializer = MessageSerializer(
            CachedSchemaRegistryClient(registry),
            # With the schema that this program knows, fields that come later are left out by Avro itself.
            reader_value_schema=avro.load(os.path.join(schemas, "Decision.avsc")),
        )
        self._newest = {}
        self._clock_offset_ms = None
        self._clock_window_ends = 0.0
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "partitioner": partitioner,
                "enable.idempotence": True,
                "linger.ms": 0,
            }
        )
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "fairway-agent",  # librdkafka wants one; with assign() it stays unused
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "allow.auto.create.topics": False,
            }
        )
        self._reading = False
        if self._exists():
            # The end as a number, before the first request is sent: no decision falls into a gap.
            partition = TopicPartition(self._replies, 0)
            self._read_from(self._consumer.get_watermark_offsets(partition, timeout=30)[1])

    def _exists(self):
        return self._replies in self._consumer.list_topics(timeout=30).topics

    def _read_from(self, offset):
        self._consumer.assign([TopicPartition(self._replies, 0, offset)])
        self._reading = True

    def ask(self, request, headers=None):
        """Sends a request, and waits for the broker, not for the decision."""
        request = dict(request, agent_id=self.agent_id)
        self._send(self._requests, self._request_schema, request, headers)

    def settle(self, settlement):
        """Says what a call used, and waits for the broker."""
        settlement = dict(settlement, agent_id=self.agent_id)
        self._send(self._settlements, self._settlement_schema, settlement, None)

    def decision(self, timeout_s):
        """The next decision as (record, headers), or None if none came in time."""
        until = time.monotonic() + timeout_s
        while not self._reading:
            # The topic is created on the agent's first request; everything in it is new.
            if self._exists():
                self._read_from(OFFSET_BEGINNING)
            elif time.monotonic() > until:
                return None
            else:
                time.sleep(0.1)
        while True:
            message = self._consumer.poll(max(0.0, until - time.monotonic()))
            if message is None:
                return None
            if message.error():
                if message.error().code() not in PASSING_ERRORS:
                    raise RuntimeError(message.error().str())
                continue
            decision = self._serializer.decode_message(message.value())
            self._note_clock(decision)
            if self._is_news(decision):
                return decision, dict(message.headers() or [])

    def lease(self, request, timeout_s, asking=lambda request: None):
        """Asks until there is an answer, waits in line, and returns the GRANTED or REJECTED decision.

        Its request_id may be another than the request's: a grant that came too late is given back and asked for anew,
        and who is told when to come back comes back, if that is in time. `asking` hears of each request before it is
        sent: who stores it asks for the same place after a crash.
        """
        until = time.monotonic() + timeout_s
        while True:
            asking(request)
            asked_at = time.monotonic()
            decision = self._answer(request, until, timeout_s)
            if decision["status"] == "GRANTED":
                if not self._is_late(decision["granted"], decision["decided_at_ms"], asked_at):
                    return decision
                self.settle(
                    {
                        "lease_id": decision["granted"]["lease_id"],
                        "request_id": request["request_id"],
                        "quota": request["quota"],
                        "outcome": "NOT_SENT",
                    }
                )
            else:
                pause_s, retry_of = come_back(decision, request.get("retry_of"))
                if pause_s is None or time.monotonic() + pause_s > until:
                    return decision
                time.sleep(pause_s)
                request = dict(request, retry_of=retry_of)
            request = dict(request, request_id=uuid.uuid4().hex)

    def _answer(self, request, until, timeout_s):
        silent_s = ANSWER_S
        answered = False
        self.ask(request)
        asked_at = time.monotonic()
        while time.monotonic() < until:
            answer = self.decision(0.1)
            if answer and answer[0]["request_id"] == request["request_id"]:
                answered = True
                if answer[0]["status"] != "QUEUED":
                    return answer[0]
            if not answered and time.monotonic() - asked_at > silent_s:
                self.ask(request)  # the same record: it is idempotent
                asked_at = time.monotonic()
                silent_s = min(30, 2 * silent_s)
        # Out of patience: leave the line, or give back a grant that is on its way.
        self.settle(
            {"request_id": request["request_id"], "quota": request["quota"], "outcome": "CANCELLED"}
        )
        raise TimeoutError(f"No lease for {request['request_id']} within {timeout_s} s")

    def _note_clock(self, decision):
        """The smallest difference is that of the clocks: no decision is read before it was made."""
        now = time.monotonic()
        offset_ms = now * 1000 - decision["decided_at_ms"]
        if self._clock_offset_ms is None or now > self._clock_window_ends:
            self._clock_window_ends = now + CLOCK_WINDOW_S
            self._clock_offset_ms = offset_ms
        self._clock_offset_ms = min(self._clock_offset_ms, offset_ms)

    def _is_late(self, granted, decided_at_ms, asked_at):
        """Whether the lease is over. It never is within its TTL of the request."""
        decided_at = (decided_at_ms + self._clock_offset_ms) / 1000
        return time.monotonic() > max(asked_at, decided_at) + granted["ttl_ms"] / 1000

    def close(self):
        self._producer.flush(30)
        self._consumer.close()

    def _send(self, topic, schema, record, headers):
        failures = []
        self._producer.produce(
            topic,
            key=record["quota"].split("/")[0],
            value=self._serializer.encode_record_with_schema(topic, schema, complete(schema, record)),
            headers=headers,
            on_delivery=lambda error, message: failures.append(error) if error else None,
        )
        left = self._producer.flush(30)
        if left or failures:
            raise RuntimeError(f"Not sent to {topic}: {failures or 'no answer of the broker'}")

    def _is_news(self, decision):
        """Decisions come at least once, and can come late."""
        place = (decision["epoch"], decision["sequence"], decision["decision_id"])
        newest = self._newest.pop(decision["request_id"], None)
        is_news = newest is None or (place[:2] >= newest[:2] and place[2] != newest[2])
        self._newest[decision["request_id"]] = place if is_news else newest
        if len(self._newest) > REMEMBERED_MAX:
            del self._newest[next(iter(self._newest))]  # the one not heard of for longest
        return is_news
