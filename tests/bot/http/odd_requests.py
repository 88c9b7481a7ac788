"""Requests as anybody may send them: signed as by Slack or not, with values missing or of another type."""

import copy
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

from hypothesis import strategies as st

from collectors.facts.clock import SystemClock
from tests.bot.http.slack_payloads import CLICK, EVENTS, FORM_VIEW, INTERACTIVE, SLASH, WHO

SECRET = "signing-secret"
TOKEN = b"t0ken"


def now() -> int:
    """Return the Unix time: a signature is not accepted after five minutes, and the tests may take longer."""
    return round(SystemClock().now().timestamp())


@dataclass(frozen=True, slots=True)
class Sent:
    """A request: its target, headers and body, all in bytes as they go over the wire."""

    path: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


def signed(body: bytes, *, form: bool) -> Sent:
    """Return what Slack would send."""
    at = str(now())
    signature = hmac.new(SECRET.encode(), b"v0:" + at.encode() + b":" + body, hashlib.sha256).hexdigest()
    kind = b"application/x-www-form-urlencoded" if form else b"application/json"
    headers = (
        (b"Content-Type", kind),
        (b"X-Slack-Request-Timestamp", at.encode()),
        (b"X-Slack-Signature", f"v0={signature}".encode()),
    )
    return Sent(b"/slack/events", headers, body)


def as_event(payload: Any) -> Sent:
    return signed(json.dumps(payload).encode(), form=False)


def as_interaction(payload: Any) -> Sent:
    return signed(urlencode({"payload": json.dumps(payload)}).encode(), form=True)


def as_slash(fields: dict[str, Any]) -> Sent:
    return signed(urlencode(fields, errors="surrogatepass").encode(), form=True)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4) | st.just("id"), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(value: Any) -> list[tuple[Any, ...]]:
    """Return the path to each value within a payload."""
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value)
    if isinstance(value, list):
        keys = list(range(len(value)))
    return [(key, *rest) for key in keys for rest in [(), *places(value[key])]]


@st.composite
def altered(draw: st.DrawFn, payloads: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a payload of Slack in which values are missing, or are something else."""
    payload: dict[str, Any] = copy.deepcopy(draw(st.sampled_from(payloads)))
    for _ in range(draw(st.integers(1, 2))):
        found = places(payload)
        if not found:
            break
        *path, last = draw(st.sampled_from(found))
        inner: Any = payload
        for key in path:
            inner = inner[key]
        if draw(st.booleans()) and isinstance(inner, dict):
            del inner[last]
        else:
            inner[last] = draw(anything)
    return payload


header_values = st.binary(max_size=20).map(
    lambda value: bytes(one for one in value if one not in b"\r\n\0").strip()
) | st.sampled_from(
    [b"nan", b"abc", b"1e9", b"-1", b"9" * 5000, b"\xc3\xbc", b"\xff", b"Bearer \xff", b"Bearer " + TOKEN]
)
header_names = st.sampled_from(
    [
        b"Authorization",
        b"Content-Type",
        b"Content-Encoding",
        b"X-Slack-Request-Timestamp",
        b"X-Slack-Signature",
        b"X-Slack-Retry-Num",
        b"X-Slack-Bolt-Lazy-Only",
        b"Cookie",
        b"Expect",
        b"Range",
    ]
)
strangers = st.builds(
    Sent,
    st.sampled_from(
        [b"/slack/events", b"/api/yard/lines", b"/healthz", b"/metrics", b"/%ff", b"/slack/events?a=%ff"]
    ),
    st.lists(st.tuples(header_names, header_values), max_size=4).map(tuple),
    st.binary(max_size=40)
    | anything.map(lambda value: json.dumps(value).encode())
    | st.fixed_dictionaries({"line": anything}, optional={"id": anything}).map(
        lambda value: json.dumps(value).encode()
    )
    | st.sampled_from(
        [b"payload=%7B", b"payload=[1]", b"payload=null", b"ssl_check=1", b"\x1f\x8b", b"[" * 10_000]
    ),
)
from_slack = (
    altered(EVENTS).map(as_event)
    | altered(INTERACTIVE).map(as_interaction)
    | altered([SLASH]).map(as_slash)
    | anything.map(as_event)
    | anything.map(as_interaction)
)
# Each is made when it is sent: a signature is accepted for five minutes.
UNSIGNED: dict[str, Callable[[], Sent]] = {
    "Authorization that is not UTF-8": lambda: Sent(
        b"/api/yard/lines", ((b"Authorization", b"Bearer \xff\xfe"),), b"{}"
    ),
    "a timestamp that is no number": lambda: Sent(
        b"/slack/events", ((b"X-Slack-Request-Timestamp", b"nan"),), b"{}"
    ),
    "a timestamp in words": lambda: Sent(b"/slack/events", ((b"X-Slack-Request-Timestamp", b"abc"),), b"{}"),
    "a signature that is not ASCII": lambda: Sent(
        b"/slack/events",
        (
            (b"X-Slack-Request-Timestamp", str(now()).encode()),
            (b"X-Slack-Signature", "v0=\u00fcn\u00ef".encode()),
        ),
        b"{}",
    ),
    "an unknown charset": lambda: Sent(
        b"/slack/events", ((b"Content-Type", b"text/plain; charset=odd"),), b"{}"
    ),
    "a body that is not compressed": lambda: Sent(b"/slack/events", ((b"Content-Encoding", b"gzip"),), b"{}"),
}
SIGNED: dict[str, Callable[[], Sent]] = {
    "an event that is a number": partial(as_event, {"type": "event_callback", "event": 5}),
    "a slash command of nobody": partial(
        as_slash, {name: value for name, value in SLASH.items() if name != "user_id"}
    ),
    "a slash command without a trigger": partial(
        as_slash, {n: value for n, value in SLASH.items() if n != "trigger_id"}
    ),
    "a choice of a person without a line": partial(
        as_interaction,
        {**CLICK, "actions": [{"type": "users_select", "action_id": "people", "selected_user": "U2"}]},
    ),
    "a form with odd metadata": partial(
        as_interaction, {"type": "view_submission", "user": WHO, "view": {**FORM_VIEW, "private_metadata": 5}}
    ),
    "a form without its values": partial(
        as_interaction,
        {"type": "view_submission", "user": WHO, "view": {**FORM_VIEW, "state": {"values": 5}}},
    ),
    "a person who is a number": partial(as_event, {**EVENTS[0], "event": {**EVENTS[0]["event"], "user": 5}}),
    "half a character": partial(as_event, {**EVENTS[0], "event": {**EVENTS[0]["event"], "text": "\ud800"}}),
}
