"""Chinese answers, with no English word left but names and what the report of `make untranslated` has."""

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from alerts.cards.incident_card import incident_card
from alerts.cards.incident_context import NO_CONTEXT, IncidentAction, IncidentContext
from alerts.cards.message import Button, Buttons, Context, Fields, Message, Paragraph, Preformatted, Table
from alerts.cards.text import Style, Text, text
from alerts.incidents.incident import Incident
from bot.language.message_catalogue import catalogue, entries
from bot.language.translation import translated
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from collectors.facts.sentences import sentence
from commands.command_catalogue import CATALOGUE
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.alerts.packs.test_every_rule import RENDERER, RULES
from tests.bot.language.untranslated import untranslated, untranslated_rules
from tests.support.alerting import NOON, an_alert
from tests.support.incidents import an_open_incident, resolved
from tests.support.yard import Yard, a_node_tree, yard_before

_LABELS = {"node": "gpu-a01", "Hostname": "gpu-a01", "gpu": "3"}
HOT = replace(
    an_alert(on={"node": "gpu-a01", "gpu": "3"}),
    annotations=RENDERER.annotations(RULES["GPUTemperatureHigh"], Sample(labels=Labels(_LABELS), value=91.0)),
)
OPEN = an_open_incident(HOT)
DONE = IncidentAction(
    line="node cordon gpu-a01",
    who="U_DANA",
    who_name="dana",
    state="done",
    plan="p1",
    relieves=("GPU.*",),
    confirmed_at=NOON,
)
LINES = (
    "help",
    "help node",
    "help node cordon",
    "help training launch",
    "node list",
    "node list --all",
    "node show gpu-a01",
    "node cordon gpu-a01 --reason x1 --for 4h",
    "node drain gpu-a01 --reason x1",
    "node cordn gpu-a01",
    "node show gpu-a99",
    "plan show p1",
    "alert list",
    "alert why GPUTemperatureHigh",
    "alert ack i1",
    "incident list",
    "incident show i1",
    "silence incident i1",
    "silence list",
    "gpu list",
    "training list",
    "team list",
    "home",
    "audit",
)
# Names that stand in what these lines show; words of the field that the Chinese keeps are in the table.
NAMES = frozenset({"dana", "sre", "vision", "speech", "job", "rack", "cluster", "GPUTemperatureHigh"}) | {
    word for command in CATALOGUE for word in command.name.split()
}
_WORD = re.compile(r"(?<![\w./*:-])[A-Za-z][A-Za-z]+(?![\w/*:-]|\.\w)")


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    """Three nodes, one with an open incident and one cordoned by somebody."""
    async with KubernetesLookalike.running(controllers=False) as kube:
        for number, spec in enumerate(({}, {"unschedulable": True}, {}), start=1):
            kube.create({**a_node_tree(f"gpu-a0{number}"), "spec": spec}, keep_status=True)
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
            async with yard.store.unit() as unit:
                await unit.rows(type(HOT)).put(HOT)
                await unit.rows(Incident).put(OPEN)
            yield yard


async def test_answers_have_no_english_left(yard: Yard) -> None:
    left = {}
    for line in LINES:
        answer = await yard.answer(line)
        assert answer is not None
        if words := english_of(answer.message):
            left[line] = words
    assert left == {}


@pytest.mark.parametrize(
    ("incident", "context"),
    [
        pytest.param(OPEN, NO_CONTEXT, id="open"),
        pytest.param(
            replace(OPEN, acknowledged_by="U_DANA", acknowledged_by_name="dana"), NO_CONTEXT, id="taken"
        ),
        pytest.param(OPEN, IncidentContext(actions=(DONE,)), id="something was done"),
        pytest.param(OPEN, IncidentContext(actions=(replace(DONE, state="running"),)), id="being worked on"),
        pytest.param(
            OPEN, IncidentContext(actions=(replace(DONE, state="unknown"),)), id="not known whether done"
        ),
        pytest.param(OPEN, IncidentContext(silenced_until=NOON + timedelta(hours=1)), id="silenced"),
        pytest.param(
            OPEN,
            IncidentContext(blind=sentence("the source to {where} is closed", where="http://10.0.0.1")),
            id="blind",
        ),
        pytest.param(resolved(OPEN), NO_CONTEXT, id="over"),
        pytest.param(resolved(OPEN), IncidentContext(actions=(DONE,)), id="over, and why"),
    ],
)
def test_a_card_has_no_english_left(incident: Incident, context: IncidentContext) -> None:
    assert english_of(incident_card(incident, context=context, now=NOON)) == []


def test_english_is_noticed() -> None:
    strange = Message(
        title=text("Strange things happen."), blocks=(Buttons(buttons=(Button(label="Explode"),)),)
    )
    assert english_of(strange) == ["Strange", "things", "happen", "Explode"]


def english_of(message: Message) -> list[str]:
    """Return the English words that the message shows in Chinese."""
    shown = translated(message, catalogue("zh"))
    return [word for words in _shown(shown) for word in _WORD.findall(words) if word not in NAMES | _kept()]


@cache
def _kept() -> frozenset[str]:
    """The words that Chinese sentences keep, such as Pod and rank, and those of sentences without a translation."""
    others = (re.sub(r"\{[^}]*\}", " ", said) for entry in entries("zh").values() for said in entry.said)
    missing = (" ".join(words) for words in (*untranslated(), *untranslated_rules()))
    return frozenset(word for other in (*others, *missing) for word in re.findall("[A-Za-z]+", other))


def _shown(message: Message) -> Iterator[str]:
    yield from _words_in(message.title)
    yield message.summary
    for block in message.blocks:
        match block:
            case Paragraph() | Context():
                yield from _words_in(block.text)
            case Fields():
                for name, value in block.rows:
                    yield from (name, *_words_in(value))
            case Table():
                yield from block.heading
                yield from (cell for row in block.rows for cell in row)
            case Buttons():
                yield from (button.label for button in block.flat.buttons)
            case Preformatted():
                pass  # a usage line, a query, text from outside
            case _:
                raise AssertionError(f"not looked at: {block}")


def _words_in(content: Text) -> Iterator[str]:
    """What is neither code nor a name nor a date."""
    yield "".join(
        span.text if span.style in (Style.PLAIN, Style.BOLD, Style.LINK) else " " for span in content
    )
