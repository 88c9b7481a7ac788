"""Stored sentences come back with their template and arguments, whatever program wrote the row."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from alerts.alert import Alert
from alerts.cards.posted import CardId, ThreadReply
from alerts.cards.text import bold, person, text
from alerts.store import table_of
from bot.store.documents import decode, encode
from collectors.facts.sentences import Argument, Sentence, counted, listed, sentence, word
from collectors.facts.sentences_within import restored
from tests.support.rows import NOON, an_alert

REPLIES, ALERTS = table_of(ThreadReply), table_of(Alert)
SENTENCES = [
    sentence("{node} is hot", node="{a} `b`"),
    counted("{count} pod waits", "{count} pods wait", count=1),
    counted("{count} pod waits", "{count} pods wait", count=0.5),
    word("by", "heading"),
    sentence("{at} for {lasting}", at=datetime(2026, 3, 1, tzinfo=UTC), lasting=timedelta(minutes=3)),
    sentence("{who} said {what}", who=person("U1", "dana"), what=text(bold(sentence("no")), "!")),
    listed([sentence("a"), listed(["b", "c"], "or")], "and", more=2),
    listed([word("a"), word("by", "heading")], ":"),
    sentence("{value} is odd", value=float("nan")),
]


def reply(said: str) -> ThreadReply:
    return ThreadReply(id="r", cluster="c", card=CardId("x"), text=text("✓ ", said), at=NOON)


def words(row: ThreadReply) -> str:
    return row.text[1].text


def made_of(said: Argument) -> tuple[object, ...]:
    return (said, said.template, said.context) if isinstance(said, Sentence) else (said,)


@pytest.mark.parametrize("said", SENTENCES, ids=str)
def test_a_sentence_comes_back_as_it_was(said: Sentence) -> None:
    again = words(decode(REPLIES, encode(REPLIES, reply(said))))
    assert type(again) is type(said)
    assert isinstance(again, Sentence)
    assert repr((again, again.template, again.plural, again.context)) == repr(
        (said, said.template, said.plural, said.context)
    )
    assert repr(again.arguments) == repr(said.arguments)
    assert list(map(made_of, getattr(again, "items", ()))) == list(map(made_of, getattr(said, "items", ())))


def test_sentences_within_mappings_and_rows_with_nan_come_back() -> None:
    said = sentence("{node} is hot", node="a")
    alert = replace(an_alert(), annotations={"summary": said}, value=float("nan"))
    again = decode(ALERTS, encode(ALERTS, alert))
    assert isinstance(again.annotations["summary"], Sentence)
    assert again.annotations["summary"].arguments == {"node": "a"}


def test_what_has_no_sentence_is_not_made_again() -> None:
    said = sentence("{node} is hot", node="a")
    alert = replace(an_alert(), annotations={"summary": str(said)})
    assert restored(alert, {}) is alert
    again = restored(alert, {str(said): said})
    assert (again.annotations["summary"], again.labels) == (said, alert.labels)
    assert again.labels is alert.labels
    assert alert.annotations["summary"] is not again.annotations["summary"]


def test_a_row_is_stored_as_compactly_as_the_migrations_write_it() -> None:
    said = sentence("{at} for {lasting}", at=NOON, lasting=timedelta(minutes=3))
    for value in (1.5, float("nan")):
        document = encode(ALERTS, replace(an_alert(), annotations={"summary": said}, value=value))
        assert document == json.dumps(json.loads(document), ensure_ascii=False, separators=(",", ":"))


def test_an_older_program_reads_the_english() -> None:
    document = json.loads(encode(REPLIES, reply(SENTENCES[0])))
    assert document["text"][1]["text"] == "{a} `b` is hot"


def test_a_row_of_an_older_program_stays_english() -> None:
    document = json.loads(encode(REPLIES, reply("gpu-a01 is hot")))
    assert list(document)[-1] != "$sentences"
    assert type(words(decode(REPLIES, json.dumps(document)))) is str


@pytest.mark.parametrize(
    "stored",
    [
        None,
        [],
        {"gpu-a01 is hot": None},
        {"gpu-a01 is hot": {"template": "{node} is hot"}},
        {"gpu-a01 is hot": {"template": "{node.x} is hot", "arguments": {"node": "gpu-a01"}}},
        {"gpu-a01 is hot": {"template": "{node} is hot", "arguments": {"node": {"at": "never"}}}},
        {"gpu-a01 is hot": {"template": "{node} is cold", "arguments": {"node": "gpu-a01"}}},
        {"gpu-a01 is hot": {"items": ["gpu-a01 is hot"], "joint": "?", "more": 0}},
    ],
)
def test_what_is_not_understood_stays_english(stored: object) -> None:
    document = json.loads(encode(REPLIES, reply("gpu-a01 is hot")))
    again = words(decode(REPLIES, json.dumps({**document, "$sentences": stored})))
    assert again == "gpu-a01 is hot"
    assert type(again) is str
