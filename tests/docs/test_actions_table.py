"""The table of what rules suggest counts only commands that plan, and says of each what undoes it."""

from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from docs.actions_table import UNDONE_BY, planned_commands, reasons

RULES = read_rulebook(RulesSettings()).rules


def test_at_least_150_rules_offer_a_command_that_plans() -> None:
    assert sum(bool(planned_commands(rule)) for rule in RULES) >= 150


def test_each_command_that_is_offered_says_what_undoes_it() -> None:
    offered = {name for rule in RULES for name in planned_commands(rule)}
    assert offered - UNDONE_BY.keys() == set()


def test_a_command_that_only_looks_is_not_counted() -> None:
    looks = [rule for rule in RULES if rule.template.actions == ("node show {node}",)]
    assert looks
    assert not any(planned_commands(rule) for rule in looks)


def test_each_rule_without_one_has_its_reason_on_its_page() -> None:
    without = [rule for rule in RULES if not planned_commands(rule)]
    assert without
    missing = {
        rule.name: rule.template.runbook
        for rule in without
        if not reasons(rule.template.runbook).get(rule.name)
    }
    assert missing == {}, "say why under `## Why no button` of these pages"


def test_no_page_gives_a_reason_for_a_rule_that_offers_one() -> None:
    offering = {rule.name: rule.template.runbook for rule in RULES if planned_commands(rule)}
    assert {name for name, page in offering.items() if name in reasons(page)} == set()
