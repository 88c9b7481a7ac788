"""Plays of reported faults: the right rule sees each, on one card, with its object, its cause and what to do."""

import re
from collections.abc import Mapping
from functools import cache

import pytest

from docs.coverage_table import read_coverage
from tests.alerts.packs.shipped import prometheus_files
from tests.bot.plays.play import ExpectedCard, Play, read_plays
from tests.bot.plays.stage import Outcome, offered_lines, played, shipped
from tests.support.quick_yaml import from_yaml
from tests.support.yard import text_of

PLAYS = read_plays()
REPORTS = {report.what: report for reports in read_coverage().values() for report in reports}
PLAYABLE = [
    name
    for name, report in REPORTS.items()
    if report.kind in ("failure", "hot spot", "cause", "limit") and report.rules and not report.unseen
]
QUOTED = re.compile(r"<(\w+)(?:\.(\w+))?>")
QUIET = Play(report="", play="", minutes=20, every=5, fires={}, card=ExpectedCard(about={}, says=()))


@pytest.mark.parametrize("play", PLAYS, ids=lambda play: f"{play.report}: {play.play}")
async def test_a_play_is_seen_on_one_card(play: Play) -> None:
    outcome = await played(play)

    assert outcome.fires == play.fires, _shown(outcome)
    assert outcome.blind == {}
    assert len(outcome.messages) == 1, _shown(outcome)
    (message,) = outcome.messages.values()
    incident = next(one for one in outcome.incidents if one.id in outcome.messages)
    words = incident.subject.words()
    about = {name: words.get(name, "") for name in play.card.about}
    assert about == play.card.about
    text = text_of(message)
    assert [words for words in play.card.says if not is_said(words, text, outcome)] == [], text
    assert offered_lines(message)[: len(play.card.offers)] == play.card.offers, text


def is_said(words: str, text: str, outcome: Outcome) -> bool:
    """Whether a card has these words, or the sentence of a rule that fires, which ends there as the card needs it."""
    quoted = QUOTED.fullmatch(words)
    if quoted is None:
        return words in text
    rule, field = quoted[1], quoted[2] or "summary"
    sentences = {alert.annotations[field].strip() for alert in outcome.alerts if alert.name == rule}
    return any(sentence.rstrip(".") in text for sentence in sentences)


def _shown(outcome: Outcome) -> str:
    return "\n\n".join(text_of(message) for message in outcome.messages.values())


async def test_a_healthy_cluster_has_no_card() -> None:
    outcome = await played(QUIET)

    assert outcome.alerts == ()
    assert outcome.messages == {}


@pytest.mark.parametrize("what", PLAYABLE)
def test_a_report_that_rules_see_is_played_and_one_of_them_sees_it(what: str) -> None:
    plays = [play for play in PLAYS if play.report == what]
    assert plays
    for play in plays:
        assert set(play.fires) & set(REPORTS[what].rules)


def test_a_play_is_about_a_report() -> None:
    assert {play.report for play in PLAYS} <= REPORTS.keys()


@pytest.mark.parametrize(
    "play", [play for play in PLAYS if play.seen], ids=lambda play: f"{play.report}: {play.play}"
)
def test_what_a_rule_gives_in_a_play_has_the_labels_of_its_cases(play: Play) -> None:
    """The cases are run by promtool, which proves that series of exporters give such samples.

    Where `instance` names the host, `node` is there only if a scrape configuration adds it.
    """
    for one in play.seen:
        names = set(one.labels)
        known = labels_of_cases()[one.rule]
        assert names in known or ("instance" in names and names | {"node"} in known), one.rule


@cache
def labels_of_cases() -> Mapping[str, set[frozenset[str]]]:
    """Return, for each rule on metrics, the names of the labels that its samples have in its cases."""
    rules = {rule.name: rule for rule in shipped()}
    found: dict[str, set[frozenset[str]]] = {name: set() for name in rules}
    for path in prometheus_files():
        cases = path.with_name(path.name.removesuffix(".yaml") + ".test.yaml")
        for test in from_yaml(cases.read_text(encoding="utf-8"))["tests"]:
            for case in test["alert_rule_test"]:
                own = rules[case["alertname"]].template.labels
                for alert in case.get("exp_alerts", ()):
                    found[case["alertname"]].add(frozenset(alert["exp_labels"].keys() - own.keys()))
    return found
