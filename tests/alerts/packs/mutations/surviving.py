"""Mutants of a shipped rule that pass all the cases of that rule, so that nothing would notice the mistake."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from alerts.rules import Rule
from collectors.facts.queries import LogQuery, PromQLQuery
from tests.alerts.packs.aged_cases import AGED_CASES
from tests.alerts.packs.case_outcome import check_outcome, expected, log_outcome
from tests.alerts.packs.check_cases import CHECK_CASES
from tests.alerts.packs.log_cases import LOG_CASES
from tests.alerts.packs.mutations.promtool_cases import passing
from tests.alerts.packs.mutations.rule_mutants import RuleMutant
from tests.alerts.packs.shipped import PACKS
from tests.alerts.packs.shipped_logs import Logs


async def surviving(rule: Rule, mutants: Sequence[RuleMutant], promtool: Path) -> frozenset[str]:
    """Return the mutations of those mutants of the rule that pass."""
    if isinstance(rule.query, PromQLQuery):
        passed = await asyncio.to_thread(_promtool, rule, mutants, promtool)
    elif isinstance(rule.query, LogQuery):
        passed = await _logs(rule, mutants)
    else:
        passed = await _checks(rule, mutants)
    return frozenset(mutant.mutation for mutant, passes in zip(mutants, passed, strict=True) if passes)


def _promtool(rule: Rule, mutants: Sequence[RuleMutant], promtool: Path) -> list[bool]:
    with TemporaryDirectory(prefix="mutants-") as folder:
        copies = [mutant.fields for mutant in mutants]
        return passing(promtool, Path(folder), PACKS / rule.location.file, rule.name, copies)


async def _checks(rule: Rule, mutants: Sequence[RuleMutant]) -> list[bool]:
    cases = [case for case in CHECK_CASES if case.rule == rule.name]
    passed = [True] * len(mutants)
    for number, mutant in enumerate(mutants):
        for case in cases:
            if await check_outcome(mutant.rule, case) != expected(case):
                passed[number] = False
                break
    return passed


async def _logs(rule: Rule, mutants: Sequence[RuleMutant]) -> list[bool]:
    passed = [True] * len(mutants)
    for case in (*LOG_CASES, *AGED_CASES):
        if case.rule != rule.name or not any(passed):
            continue
        async with Logs.running() as logs:
            await logs.ship(*case.events)
            for number, mutant in enumerate(mutants):
                if passed[number]:
                    passed[number] = await log_outcome(mutant.rule, logs) == expected(case)
    return passed
