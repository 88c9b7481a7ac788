"""A sentence that counts one thing says so in the singular."""

import re

import pytest

from alerts.cards.message import Fields, Message, Paragraph, Table
from alerts.cards.text import bold, code, text
from bot.language.agreement import VERBS, agreeing
from bot.language.phrasebook import ENGLISH, phrasebook
from bot.language.translation import translated
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from tests.alerts.packs.test_every_rule import _LABELS, RENDERER, RULES
from tests.support.said_phrases import said_phrases

# Words that end in "s" and are no plurals, or count nothing: verbs after a name, and units.
_UNITS_AND_VERBS = (
    "ms has is was its this does always us bus as answers consists contains declares drops exists fires gives goes"
    " keeps knows lets means overflows owns preempts reads returns runs says scrapes shows stays stops tells waits"
    " writes series others refuses dns resolves manages retries asks expires throttles repeats fails tracks differs"
    " sends loses slows gets"
)
_OTHER = frozenset({*_UNITS_AND_VERBS.split(), *VERBS.values()})
_PLURAL = re.compile(r"(?<![\w.,:/%=#-])1 (?:(?!of |on |in |and |or )[A-Za-z]+(?<!s) )?([A-Za-z]+(?<!s)s)\b")


def plurals(sentence: str) -> list[str]:
    return [word for word in _PLURAL.findall(sentence) if word not in _OTHER]


@pytest.mark.parametrize(
    ("many", "one"),
    [
        ("1 pods fit on no node.", "1 pod fits on no node."),
        ("Nothing is known of 1 GPUs of gpu-a01.", "Nothing is known of 1 GPU of gpu-a01."),
        ("1 GPU nodes are idle while detr waits.", "1 GPU node is idle while detr waits."),
        ("Only 1 replicas of the cluster DNS are ready.", "Only 1 replica of the cluster DNS is ready."),
        (
            "1 addresses on gpu-a01 seem to be free, 1 queries",
            "1 address on gpu-a01 seems to be free, 1 query",
        ),
        (
            "1 placement groups of Ceph's pool 3 serve nothing.",
            "1 placement group of Ceph's pool 3 serves nothing.",
        ),
        ("1 processes, 1 times, 1 more steps", "1 process, 1 time, 1 more step"),
        ("1 of 1 rules", "1 of 1 rule"),
    ],
)
def test_one_thing_is_singular(many: str, one: str) -> None:
    assert agreeing(many) == one


@pytest.mark.parametrize(
    "sentence",
    [
        "11 pods, 0.1 pods, 2.1 GPUs, 1,1 nodes, node-1 nodes",
        "GPU 1 errors, rank 1 tasks, step 1 pods",
        "1 of its GPUs is gone, and 1 of the pods",
        "1 on nodes that have GPUs",
        "1 task of 8 GPUs would fit",
        "gpu-a01: GPU 1 repeats PCIe packets",
        "it has 1 GPU and 2 pods",
    ],
)
def test_what_counts_no_single_thing_stays(sentence: str) -> None:
    assert agreeing(sentence) == sentence


def test_every_part_of_a_message_agrees_and_code_and_other_languages_stay() -> None:
    message = Message(
        title=text("1 pods"),
        blocks=(
            Paragraph(text=(*text("1 nodes "), bold("1 GPUs"), code("1 pods"))),
            Fields(rows=(("1 rules", text("1 times")),)),
            Table(heading=("pods",), rows=(("1 lines",),)),
        ),
        summary="1 tasks",
    )
    said = translated(message, ENGLISH)

    assert said.title == text("1 pod")
    assert said.summary == "1 task"
    assert said.blocks == (
        Paragraph(text=(*text("1 node "), bold("1 GPU"), code("1 pods"))),
        Fields(rows=(("1 rule", text("1 time")),)),
        Table(heading=("pods",), rows=(("1 line",),)),
    )
    assert phrasebook("zh").say("1 pods fit on no node.") == phrasebook("zh").say("1 pods fit on no node.")


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_rule_that_counts_one_says_so(name: str) -> None:
    annotations = RENDERER.annotations(RULES[name], Sample(labels=Labels(_LABELS), value=1))
    read = [
        value for key, value in annotations.items() if key.endswith(("summary", "headline", "description"))
    ]

    assert [word for sentence in read for word in plurals(ENGLISH.say(sentence))] == []


def test_every_sentence_of_the_code_that_counts_knows_how_to_say_one() -> None:
    ones = (phrase.replace("{}", "1") for phrase in said_phrases())
    left = {sentence: found for one in ones if (found := plurals(sentence := ENGLISH.say(one)))}

    assert sorted(left.items()) == [], "add what is counted to bot/language/agreement.py"
