"""Every shipped rule has cases, a runbook, valid actions, templates that render, and labels that do not change."""

import math
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from bot.evaluation.rulebook import check_action
from collectors.check_catalogue import CHECKS
from collectors.facts.labels import Labels
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery
from collectors.facts.results import Sample
from collectors.facts.subjects import WORDS
from collectors.facts.topology import Topology
from commands.command_catalogue import LEXICON
from go_templates import TemplateError, parse
from tests.alerts.packs.check_cases import CHECK_CASES
from tests.alerts.packs.log_cases import LOG_CASES
from tests.alerts.packs.shipped import PACKS, RUNBOOKS, loaded, pack_files, promtool_cases, shipped_rules
from tests.alerts.packs.test_blind_metrics import SAMPLES
from tests.support.objects import samples_in

RULES = shipped_rules()
EVERY = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
RENDERER = RuleRenderer(lambda: Topology(cluster="prod-a"), clean=lambda text: text)


def test_every_check_has_a_rule() -> None:
    used = {rule.query.name for rule in RULES.values() if isinstance(rule.query, CheckQuery)}
    assert not set(CHECKS) - used, f"no rule in alerts/packs uses {set(CHECKS) - used}, so nothing tests it"


def test_there_are_packs() -> None:
    """A test of every rule proves nothing if no rule is found."""
    assert len(RULES) >= 20
    assert {path.name.partition(".")[0] for path in pack_files()} >= {"gpu", "node", "dns", "logs", "storage"}


@pytest.mark.parametrize("path", pack_files(), ids=lambda path: path.name)
def test_a_pack_loads_without_diagnostics(path: Path) -> None:
    assert [str(diagnostic) for diagnostic in loaded(path).diagnostics] == []


def test_a_name_is_used_once() -> None:
    named = [rule.name for path in pack_files() for group in loaded(path).groups for rule in group.rules]

    assert len(named) == len(set(named))


@EVERY
def test_a_rule_has_a_case_that_fires_and_one_that_stays_quiet(rule: Rule) -> None:
    match rule.query:
        case PromQLQuery():
            outcomes = promtool_cases(PACKS / rule.location.file)[rule.name]
        case LogQuery():
            outcomes = [bool(case.fired) for case in LOG_CASES if case.rule == rule.name]
        case CheckQuery():
            outcomes = [bool(case.fired) for case in CHECK_CASES if case.rule == rule.name]

    assert set(outcomes) == {True, False}


def test_a_rule_has_a_blind_case() -> None:
    """Searches and checks are made blind where their cases are; queries of Prometheus need the labels of a sample."""
    logs, checks = (
        (case.rule for case in LOG_CASES if case.fired),
        (case.rule for case in CHECK_CASES if case.fired),
    )
    tried = {*SAMPLES, *logs, *checks}

    assert set(RULES) - tried == set()


def test_every_case_has_its_rule() -> None:
    cased = {case.rule for case in LOG_CASES} | {case.rule for case in CHECK_CASES}
    for path in pack_files():
        cased |= set(promtool_cases(path))

    assert cased == set(RULES)


@EVERY
def test_a_rule_names_an_existing_runbook(rule: Rule) -> None:
    assert rule.template.runbook
    assert (RUNBOOKS / f"{rule.template.runbook}.md").is_file()


@EVERY
def test_an_action_is_a_valid_command(rule: Rule) -> None:
    errors = {line: error for line in rule.template.actions if (error := check_action(line))}

    assert errors == {}


@EVERY
def test_an_action_has_only_placeholders_of_subjects(rule: Rule) -> None:
    for line in rule.template.actions:
        assert set(re.findall(r"\{(\w*)\}", line)) <= set(WORDS)


@EVERY
def test_a_rule_has_a_severity_and_a_summary_of_one_line(rule: Rule) -> None:
    assert "severity" in rule.template.labels
    summary = rule.template.annotations["summary"]
    assert "\n" not in summary.strip()
    assert summary.endswith((".", "}}"))


@EVERY
def test_a_rule_says_in_the_past_tense_that_it_is_over(rule: Rule) -> None:
    assert rule.template.annotations["resolved_headline"].endswith(".")


def test_what_is_worse_after_another_names_rules_of_its_pack() -> None:
    for rule in RULES.values():
        assert set(rule.template.worse_after) <= set(RULES)


@pytest.mark.parametrize(
    ("command", "pattern"), [(one.name, pattern) for one in LEXICON.catalogue for pattern in one.relieves]
)
def test_what_a_command_relieves_is_the_alert_of_a_rule(command: str, pattern: str) -> None:
    assert [name for name in RULES if fnmatchcase(name, pattern)], f"{command} relieves no alert {pattern}"


@EVERY
def test_no_label_holds_a_measured_value(rule: Rule) -> None:
    """A label that changes with the value makes another alert each time, so none ever fires."""
    few, many = (_labels(rule, value) for value in (1.0, 97.25))

    assert few == many
    assert not any("$value" in text or ".Value" in text for text in rule.template.labels.values())


@EVERY
def test_the_templates_render_for_any_value(rule: Rule) -> None:
    for value in (0.0, 1.0, 93.7, 1e12, math.nan, math.inf):
        sample = Sample(labels=Labels(_LABELS), value=value)
        labels = RENDERER.labels(rule, sample)

        texts = [*labels.values(), *RENDERER.annotations(rule, sample).values()]

        assert not [text for text in texts if "<error expanding" in text], value
        assert labels["severity"] in ("critical", "warning", "info"), value


@EVERY
def test_the_templates_render_without_labels(rule: Rule) -> None:
    sample = Sample(labels=Labels(), value=1)

    texts = RENDERER.annotations(rule, sample)

    assert not [text for text in texts.values() if "<error expanding" in text]


@EVERY
def test_a_template_names_only_labels_that_its_query_can_return(rule: Rule) -> None:
    texts = [*rule.template.labels.values(), *rule.template.annotations.values()]
    named = {name for text in texts for name in re.findall(r"\$labels\.(\w+)", text)}

    assert named <= _labels_of(rule), "no result has this label, so the text would have a gap"


@EVERY
def test_a_prometheus_rule_has_a_presence_query(rule: Rule) -> None:
    """Without a presence query a series that vanished would count as healthy."""
    if isinstance(rule.query, PromQLQuery):
        assert rule.query.presence


@EVERY
def test_a_template_parses(rule: Rule) -> None:
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
    return RENDERER.labels(rule, Sample(labels=Labels(_LABELS), value=value))


def _labels_of(rule: Rule) -> set[str]:
    match rule.query:
        case PromQLQuery(expr=expr):
            grouped = re.findall(r"\bby \(([^)]*)\)", expr)
            counted = re.findall(r'\bcount_values by \([^)]*\) \(\s*"(\w+)"', expr)
            added = re.findall(r'"(\w+)", "[^"]*", "[^"]*", "[^"]*"', expr)  # by label_replace()
            return {*counted, *added, *(name.strip() for names in grouped for name in names.split(","))}
        case LogQuery() as search:
            named = set(re.findall(r"\(\?P<(\w+)>", search.extract or ""))
            return {*search.by, *named, *({"pattern"} if search.novel else ())}
        case CheckQuery(name=name, parameters=parameters):
            cases = [case for case in CHECK_CASES if case.rule == rule.name]
            found = [
                samples_in(CHECKS[name].run(case.inputs, {**CHECKS[name].parameters, **parameters}))
                for case in cases
            ]
            return {label for samples in found for sample in samples for label in sample.labels}
