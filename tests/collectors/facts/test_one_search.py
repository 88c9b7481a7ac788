"""Most texts have no secret, which one search finds: it must find whatever the search of any kind finds."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from collectors.facts.redaction import Redactor, _may_hold_secrets, _shipped
from tests.collectors.facts.test_redaction import JWT, KEY_BLOCK
from tests.collectors.facts.test_redaction import test_a_secret_is_redacted as redacted_ones

PARTS = (
    "password",
    "Authorization: Bearer ",
    "token=",
    "--token ",
    "kind: Secret\ndata:\n  a: ",
    "postgresql://yard:",
    "@db:5432/x",
    "hunter2",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-abcdefABCDEF",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    JWT,
    KEY_BLOCK,
    '"',
    " ",
    "\n",
    ": ",
    "=",
)
texts = st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=12)), max_size=6).map("".join)


def by_kinds(text: str) -> bool:
    return any(kind.is_in(text.encode("utf-8", "replace")) for kind in _shipped())


@given(texts)
def test_one_search_finds_what_the_search_of_any_kind_finds(text: str) -> None:
    assert _may_hold_secrets(text.encode("utf-8", "replace")) == by_kinds(text)


def test_it_finds_every_sample_of_a_secret() -> None:
    marks: Any = redacted_ones
    (samples,) = [mark.args[1] for mark in marks.pytestmark if mark.name == "parametrize"]
    assert len(samples) > 30
    assert [text for text, _ in samples if not _may_hold_secrets(text.encode())] == []


def test_texts_that_come_again_are_one_string() -> None:
    clean = Redactor().remembering()
    first, again = clean("password=hunter2 " + "x" * 9), clean("password=hunter2 " + "x" * 9)
    assert "hunter2" not in first
    assert first is again
    assert "hunter2" not in clean("password=hunter2 " + "x" * 999)
