"""Neutral matches in Elasticsearch: what they find, and that shipped rules find what their query strings found."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from alerts.loading.match_parser import parse_match
from collectors.facts.log_match import AllOf, FieldPhrase, LogMatch, Not
from demo.world.layout import demo_layout
from demo.world.state import initial_state
from tests.alerts.packs.log_cases import LOG_CASES
from tests.contract.elasticsearch.own_logs import Logs
from tests.contract.elasticsearch.test_matching import LINES, ODD
from tests.support.log_matches import message
from tests.support.objects import NOW as CASES_NOW
from tests.support.quick_yaml import from_yaml

PACKS = Path(__file__).parents[3] / "alerts" / "packs"


def shipped_matches() -> Iterator[tuple[str, str]]:
    """Yield the names of the log rules and what they match, as their files have it."""
    for path in sorted(PACKS.glob("*.yard.yaml")):
        for group in from_yaml(path.read_text(encoding="utf-8"))["groups"]:
            for rule in group["rules"]:
                if match := rule.get("logs", {}).get("match"):
                    yield rule["alert"], match


SHIPPED = dict(shipped_matches())


async def test_shipped_rules_find_what_their_query_strings_found(logs: Logs) -> None:
    state = initial_state(demo_layout(), CASES_NOW)
    texts = {line.text for case in LOG_CASES for event in case.events for line in event.lines(state)}
    own = {phrase for match in SHIPPED.values() for phrase in phrases_in(match)}  # as lines of their own
    texts |= own | {text.upper() for text in own} | {f"x{text}y" for text in own} | set(LINES.values())
    # Behind a sign the headers of the cases' lines are none: they have another day, so the lines would not count.
    await logs.index_many(
        logs.pod(f"- {text}", pod=f"line-{number}") for number, text in enumerate(sorted(texts))
    )

    for name, match in SHIPPED.items():
        before = await logs.counts(match, by=("pod",))
        assert await logs.counts(by=("pod",), match_=parse_match(match)) == before, name
        assert before, name
        assert len(before) < len(texts), name


def phrases_in(match: str) -> set[str]:
    return {part for part in match.split('"')[1::2] if part.strip()}


MEANINGS: dict[str, set[str]] = {
    "*": set(LINES),
    'message:"fallen off the bus"': {"bus"},
    'message:"off fallen"': set(),
    'message:"NVRM: Xid"': {"bus"},
    'message:"xid PCI:0000:B3:00 79"': {"bus"},
    "message:xid": {"bus"},
    "message:xi": set(),
    "message:Xid AND message:79": {"bus"},
    "message:Xid AND NOT message:79": set(),
    "message:Xid OR message:cuda": {"bus", "oom"},
    "NOT message:Xid": set(LINES) - {"bus"},
    "NOT (message:Xid OR message:cuda)": set(LINES) - {"bus", "oom"},
    "message:the AND (message:bus OR message:cuda)": {"bus"},
    'message:"/var/lib"': {"quote"},
    r'message:"\"/var"': {"quote"},
    'message:"失败"': {"han"},
    'message:"显存失败"': set(),
    'message:"or and not"': {"plain"},
    "nowhere:bus": set(),
    "NOT nowhere:bus": set(LINES),
    "offset:bus": set(),  # a field of numbers
    'pod:"bus"': {"bus"},
    'kubernetes.pod.name:"oom"': {"oom"},
    "pod:BUS": set(),
    'pod:"bu"': set(),
}


async def test_a_match_means_whole_words_in_any_case_and_exact_names(logs: Logs) -> None:
    await logs.index(*(logs.pod(text, pod=name) for name, text in LINES.items()))

    found = {text: set(await logs.counts(by=("pod",), match_=parse_match(text))) for text in MEANINGS}

    assert found == MEANINGS


async def test_a_phrase_never_leaves_its_quotes(logs: Logs) -> None:
    hostile = (*ODD, 'x" OR message:"y', "a*", "/.*/", "_exists_:pod", "a) OR (b", "{!x}", "${jndi}", "\\")
    await logs.index(*(logs.pod("y z", pod=other) for other in hostile), logs.pod("bus", pod="bus"))

    for text in (one for one in hostile if one.strip()):
        exact: LogMatch = FieldPhrase(field="pod", text=text)
        both = AllOf(parts=(message("bus"), Not(part=message(text))))
        assert set(await logs.counts(by=("pod",), match_=exact)) <= {text}
        assert await logs.counts(by=("pod",), match_=both) == {"bus": 1}


@pytest.mark.parametrize("text", ['message:"NVRM: Xid"', "NOT message:cuda"])
async def test_a_match_and_a_query_string_beside_it_must_both_hold(logs: Logs, text: str) -> None:
    await logs.index(*(logs.pod(text, pod=name) for name, text in LINES.items()))

    assert await logs.counts("message:fall*", by=("pod",), match_=parse_match(text)) == {"bus": 1}


async def test_another_stores_syntax_is_blind_with_what_to_write(logs: Logs) -> None:
    await logs.index(logs.host("x"))

    reason = await logs.blind_reason("message:x", settings={"name": "opensearch"})

    assert reason == (
        "the rule searches by `elasticsearch:`, and the logs of this cluster are in opensearch: "
        "write the search as `match`"
    )
