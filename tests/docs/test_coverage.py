"""The table of what is seen: every report has an answer, and every answer exists."""

from pathlib import Path

import msgspec
import pytest

from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from commands.command_catalogue import CATALOGUE
from docs.coverage_table import Report, read_coverage

REPORTS = [report for reports in read_coverage().values() for report in reports]
RULES = {rule.name for rule in read_rulebook(RulesSettings()).rules}
COMMANDS = {command.name for command in CATALOGUE}


def without_answer(reports: list[Report]) -> list[str]:
    return [report.what for report in reports if not report.is_answered]


def unknown_names(reports: list[Report]) -> list[str]:
    """Return the rules and commands that do not exist."""
    rules = {name for report in reports for name in report.rules}
    commands = {name for report in reports for name in report.commands}
    return sorted((rules - RULES) | (commands - COMMANDS))


def test_every_report_has_a_rule_or_a_command_or_a_reason() -> None:
    assert len(REPORTS) >= 66  # all that the accounts name
    assert without_answer(REPORTS) == []


def test_every_rule_and_command_exists() -> None:
    assert unknown_names(REPORTS) == []


def test_nothing_is_reported_twice() -> None:
    assert len({report.what for report in REPORTS}) == len(REPORTS)


def test_a_failure_or_a_hot_spot_is_seen_by_a_rule_or_says_why_not() -> None:
    urgent = [report for report in REPORTS if report.kind in ("failure", "hot spot")]
    assert [report.what for report in urgent if not (report.rules or report.unseen or report.later)] == []


def test_a_report_without_an_answer_and_one_with_a_wrong_name_are_noticed(tmp_path: Path) -> None:
    page = tmp_path / "coverage.yaml"
    page.write_text(
        "Nodes:\n- {what: It burns, kind: failure}\n- {what: It smokes, kind: pain, rules: [NodeSmokes]}\n"
    )
    reports = list(read_coverage(page)["Nodes"])

    assert without_answer(reports) == ["It burns"]
    assert unknown_names(reports) == ["NodeSmokes"]


def test_a_misspelled_field_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "coverage.yaml"
    page.write_text("Nodes:\n- {what: It burns, kind: failure, rule: [NodeOOMKill]}\n")

    with pytest.raises(msgspec.ValidationError, match="rule"):
        read_coverage(page)
