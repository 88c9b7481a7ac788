"""The doctor's report in a terminal says each cause once."""

from collections.abc import Sequence
from dataclasses import replace

import click

from bot.cli.doctor_report import report_lines
from bot.doctor.examination import PartFinding
from bot.doctor.rule_report import RuleHistory, rule_findings
from collectors.facts.findings import Finding, FindingLevel, blinding, ok, warning
from tests.support.alerting import NOON, a_rule

CAUSE = "no series of etcd_server_has_leader: etcd is not scraped"
MISSING = blinding(
    warning(f"2 rules can see nothing: {CAUSE}", "let Prometheus scrape etcd"),
    ["etcdNoLeader", "etcdSlow"],
    CAUSE,
)
RULES = [a_rule(name) for name in ("etcdNoLeader", "etcdSlow", "GPUIdle")]


def report(*of_source: Finding, every: bool = False) -> Sequence[str]:
    rules = rule_findings(RULES, of_source, RuleHistory(), NOON)
    found = [PartFinding(part="prod-a prometheus", finding=one) for one in of_source]
    found += [PartFinding(part="prod-a rules", finding=one, rule="".join(one.rules)) for one in rules]
    return [click.unstyle(line) for line in report_lines(found, every=every)]


def test_a_cause_and_its_fix_are_reported_once() -> None:
    lines = "\n".join(report(ok("it answers, version 2.53"), MISSING, ok("the newest sample is 4 s old")))
    assert (lines.count(CAUSE), lines.count("let Prometheus scrape etcd")) == (1, 1)


def test_what_is_fine_is_one_line_for_each_part() -> None:
    lines = report(ok("it answers, version 2.53"), MISSING, ok("the newest sample is 4 s old"))
    fine = [line for line in lines if "ok " in line]
    assert [line.split("ok", 1)[1].strip() for line in fine] == [
        "it answers, version 2.53; the newest sample is 4 s old",
        "1 of 3 rules has data",
    ]
    assert any("blind or late: etcdNoLeader, etcdSlow" in line for line in lines)
    assert any(f"1. 2 rules, warning at most: {CAUSE}" in line for line in lines)


def test_with_all_every_rule_has_a_line() -> None:
    lines = report(MISSING, every=True)
    assert [rule.name for rule in RULES if sum(f"{rule.name} (" in line for line in lines) == 1] == [
        "etcdNoLeader",
        "etcdSlow",
        "GPUIdle",
    ]


def test_a_finding_that_blinds_no_rule_is_not_left_out() -> None:
    other = warning("the index has no field `pod`", "set elasticsearch.fields")
    assert any("no field `pod`" in line for line in report(MISSING, other))
    broken = replace(other, level=FindingLevel.BROKEN)
    assert any("To fix it: set elasticsearch.fields" in line for line in report(broken))
