"""The table of what rules offer counts only commands that plan, and says of each what undoes it."""

from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from docs.actions_table import UNDONE_BY, planned_commands

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
