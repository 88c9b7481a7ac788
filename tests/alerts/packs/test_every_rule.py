"""A shipped rule has cases, a runbook, offers that are commands, words that render, and labels that hold still."""

import math
import re
from pathlib import Path

import pytest

from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from alerts.templates import TemplateError, parse
from bot.evaluation.rulebook import check_action
from collectors.checks.catalogue import CHECKS
from collectors.facts.labels import Labels
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery
from collectors.facts.results import Sample
from collectors.facts.subjects import WORDS
from collectors.facts.topology import Topology
from tests.alerts.packs.check_cases import CHECK_CASES
from tests.alerts.packs.log_cases import LOG_CASES
from tests.alerts.packs.shipped import PACKS, RUNBOOKS, loaded, pack_files, promtool_cases, shipped_rules

RULES = shipped_rules()
EVERY = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
WORDING = RuleRenderer(lambda: Topology(cluster="prod-a"), clean=lambda text: text)


def test_there_are_packs() -> None:
    """A test of each rule says nothing when no rule is found."""
    assert len(RULES) >= 20
    assert {path.name.partition(".")[0] for path in pack_files()} >= {"gpu", "node", "dns", "logs", "storage"}


@pytest.mark.parametrize("path", pack_files(), ids=lambda path: path.name)
def test_a_pack_loads_without_a_mistake(path: Path) -> None:
    assert [str(diagnostic) for diagnostic in loaded(path).diagnostics] == []


def test_a_name_is_used_once() -> None:
    named = [rule.name for path in pack_files() for group in loaded(path).groups for rule in group.rules]

    assert len(named) == len(set(named))


@EVERY
def test_a_rule_has_a_case_that_fires_and_one_that_stays_quiet(rule: Rule) -> None:
    match rule.query:
        case PromQLQuery():
            told = promtool_cases(PACKS / rule.location.file)[rule.name]
        case LogQuery():
            told = [bool(case.fired) for case in LOG_CASES if case.rule == rule.name]
        case CheckQuery():
            told = [bool(case.fired) for case in CHECK_CASES if case.rule == rule.name]

    assert set(told) == {True, False}


def test_every_case_has_its_rule() -> None:
    cased = {case.rule for case in LOG_CASES} | {case.rule for case in CHECK_CASES}
    for path in pack_files():
        cased |= set(promtool_cases(path))

    assert cased == set(RULES)


@EVERY
def test_a_rule_names_a_runbook_that_is_there(rule: Rule) -> None:
    assert rule.template.runbook
    assert (RUNBOOKS / f"{rule.template.runbook}.md").is_file()


@EVERY
def test_an_offer_is_a_command(rule: Rule) -> None:
    wrong = {line: why for line in rule.template.actions if (why := check_action(line))}

    assert wrong == {}


@EVERY
def test_an_offer_names_only_what_a_subject_has(rule: Rule) -> None:
    for line in rule.template.actions:
        assert set(re.findall(r"\{(\w*)\}", line)) <= set(WORDS)


@EVERY
def test_a_rule_says_how_bad_it_is_and_what_it_is_in_one_line(rule: Rule) -> None:
    assert "severity" in rule.template.labels
    summary = rule.template.annotations["summary"]
    assert "\n" not in summary.strip()
    assert summary.endswith((".", "}}"))


@EVERY
def test_no_label_holds_a_measured_value(rule: Rule) -> None:
    """A label that moves with the value makes another alert each time, so that none ever fires."""
    few, many = (_labels(rule, value) for value in (1.0, 97.25))

    assert few == many
    assert not any("$value" in text or ".Value" in text for text in rule.template.labels.values())


@EVERY
@pytest.mark.parametrize("value", [0.0, 1.0, 93.7, 1e12, math.nan, math.inf], ids=str)
def test_the_words_render_for_any_value(rule: Rule, value: float) -> None:
    sample = Sample(labels=Labels(_LABELS), value=value)
    labels = WORDING.labels(rule, sample)

    told = [*labels.values(), *WORDING.annotations(rule, labels, sample).values()]

    assert not [text for text in told if "<error expanding" in text]
    assert labels["severity"] in ("critical", "warning", "info")


@EVERY
def test_the_words_render_where_a_label_is_missing(rule: Rule) -> None:
    sample = Sample(labels=Labels(), value=1)

    told = WORDING.annotations(rule, WORDING.labels(rule, sample), sample)

    assert not [text for text in told.values() if "<error expanding" in text]


@EVERY
def test_a_template_names_only_labels_that_its_question_can_give(rule: Rule) -> None:
    said = [*rule.template.labels.values(), *rule.template.annotations.values()]
    named = {name for text in said for name in re.findall(r"\$labels\.(\w+)", text)}

    assert named <= _labels_of(rule), "no answer has this label, so the words would have a hole"


@EVERY
def test_a_rule_of_metrics_says_what_it_watches(rule: Rule) -> None:
    """Without a presence query a series that vanished would be read as healthy."""
    if isinstance(rule.query, PromQLQuery):
        assert rule.query.presence


@EVERY
def test_a_template_is_one(rule: Rule) -> None:
    for text in (*rule.template.labels.values(), *rule.template.annotations.values()):
        try:
            parse(text)
        except TemplateError as error:
            pytest.fail(f"{rule.name}: {error}")


_LABELS = {
    "Hostname": "gpu-a01",
    "UUID": "GPU-1",
    "gpu": "3",
    "xid": "79",
    "node": "gpu-a01",
    "instance": "10.0.0.11:9100",
    "mountpoint": "/",
    "exported_namespace": "vision-detr",
    "exported_pod": "detr-worker-0",
    "component": "kubelet",
    "pattern": "cannot do it",
    "pci": "0000:5d:00",
    "resource": "nvidia.com/gpu",
    "training": "vision-detr/detr-worker",
    "rule": "gpu/gpu/GPUTemperatureHigh",
}


def _labels(rule: Rule, value: float) -> Labels:
    return WORDING.labels(rule, Sample(labels=Labels(_LABELS), value=value))


def _labels_of(rule: Rule) -> set[str]:
    match rule.query:
        case PromQLQuery(expr=expr):
            grouped = re.findall(r"\bby \(([^)]*)\)", expr)
            return {name.strip() for names in grouped for name in names.split(",")}
        case LogQuery() as search:
            named = set(re.findall(r"\(\?P<(\w+)>", search.extract or ""))
            return {*search.by, *named, *({"pattern"} if search.novel else ())}
        case CheckQuery(name=name):
            cases = [case for case in CHECK_CASES if case.rule == rule.name]
            found = [CHECKS[name].run(case.inputs, {**CHECKS[name].parameters}) for case in cases]
            return {label for samples in found for sample in samples for label in sample.labels}
