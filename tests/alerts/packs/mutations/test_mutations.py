"""Each mistake in a shipped rule makes one of its cases fail; which do not, and why, is in `survivors.yaml`."""

import asyncio
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from alerts.rules import Rule
from collectors.facts.queries import PromQLQuery
from tests.alerts.packs.mutations.promql_mutants import printed, promql_mutants
from tests.alerts.packs.mutations.promtool_cases import passing
from tests.alerts.packs.mutations.rule_mutants import RuleMutant, rule_mutants
from tests.alerts.packs.mutations.surviving import surviving
from tests.alerts.packs.mutations.survivors import survivors
from tests.alerts.packs.shipped import PACKS, loaded, pack_files, shipped_rules
from tests.support.examples import by_profile

RULES = shipped_rules()
SURVIVORS = survivors()
_AT_ONCE = 2  # runs of promtool


@pytest.mark.soak
@pytest.mark.parametrize("file", pack_files(), ids=lambda file: file.name)
async def test_a_mistake_in_a_rule_is_noticed_or_listed(file: Path, promtool_path: Path) -> None:
    """One mistake a rule, which is not listed; in the soak run all of them."""
    tried = {rule.name: by_profile(_one, rule_mutants)(rule) for rule in _rules(file)}

    found = await _survivors_of(_rules(file), tried, promtool_path)

    named = {name: frozenset(one.mutation for one in mutants) for name, mutants in tried.items()}
    listed = {name: SURVIVORS.get(name, frozenset()) & mutations for name, mutations in named.items()}
    assert found == {name: mutations for name, mutations in listed.items() if mutations}


def test_a_listed_survivor_is_a_mutation_of_a_rule() -> None:
    known = {name: {mutant.mutation for mutant in rule_mutants(rule)} for name, rule in RULES.items()}

    assert {(name, one) for name, mutations in SURVIVORS.items() for one in mutations - known[name]} == set()


def test_an_expression_is_the_same_once_it_is_printed(promtool_path: Path, tmp_path: Path) -> None:
    """Otherwise a mutant would fail for how it is printed and not for its mistake."""
    rule = RULES["GPUXIDChanged"]
    assert isinstance(rule.query, PromQLQuery)
    copies = [{"expr": rule.query.expr}, {"expr": printed(rule.query.expr)}]

    assert passing(promtool_path, tmp_path, PACKS / rule.location.file, rule.name, copies) == [True, True]
    for one in RULES.values():
        if isinstance(one.query, PromQLQuery):
            assert printed(printed(one.query.expr)) == printed(one.query.expr)


def test_the_mutations_of_an_expression() -> None:
    expr = r'sum by (a, b) (x{y=~"c\\.d"} < 8) > 0 unless on (a) rate(z[5m]) >= on (a) group_left () w'

    assert [(mutant.mutation, mutant.expr) for mutant in promql_mutants(expr)] == [
        ("comparison 1: > is <", _of("sum by (a, b)(X < 8) < 0")),
        ("comparison 1: 0 is 1", _of("sum by (a, b)(X < 8) > 1")),
        ("comparison 1: 0 is -1", _of("sum by (a, b)(X < 8) > -1")),
        ("comparison 2: < is >", _of("sum by (a, b)(X > 8) > 0")),
        ("comparison 2: 8 is 16", _of("sum by (a, b)(X < 16) > 0")),
        ("comparison 2: 8 is 4", _of("sum by (a, b)(X < 4) > 0")),
        ("comparison 3: >= is <=", _of("sum by (a, b)(X < 8) > 0", "<=")),
        ("comparison 3: the right side times 2", _of("sum by (a, b)(X < 8) > 0", right="2 * (w{})")),
        ("comparison 3: the right side times 0.5", _of("sum by (a, b)(X < 8) > 0", right="0.5 * (w{})")),
        ("aggregation 1: without a", _of("sum by (b)(X < 8) > 0")),
        ("aggregation 1: without b", _of("sum by (a)(X < 8) > 0")),
    ]


def _of(first: str, operator: str = ">=", right: str = "w{}") -> str:
    selected = first.replace("X", r'x{y=~"c\\.d"}')
    return f"{selected} unless on (a) rate(z{{}}[5m]) {operator} on (a) group_left () {right}"


async def _survivors_of(
    rules: Sequence[Rule], tried: Mapping[str, tuple[RuleMutant, ...]], promtool: Path
) -> dict[str, frozenset[str]]:
    slots = asyncio.Semaphore(_AT_ONCE)

    async def of(rule: Rule) -> frozenset[str]:
        async with slots:
            return await surviving(rule, tried[rule.name], promtool)

    found = await asyncio.gather(*map(of, rules))
    return {rule.name: mutations for rule, mutations in zip(rules, found, strict=True) if mutations}


def _one(rule: Rule) -> tuple[RuleMutant, ...]:
    """Return one mutant that has to be noticed, if there is one: always the same for a rule, not so for all rules."""
    noticed = [one for one in rule_mutants(rule) if one.mutation not in SURVIVORS.get(rule.name, ())]
    return (noticed[zlib.crc32(rule.name.encode()) % len(noticed)],) if noticed else ()


def _rules(file: Path) -> list[Rule]:
    return [rule for group in loaded(file).groups for rule in group.rules]
