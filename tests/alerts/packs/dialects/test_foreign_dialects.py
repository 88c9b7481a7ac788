"""Every case of every PromQL rule in foreign dialects: the same alerts fire at the same times, about the same things.

The series get the labels of other charts, agents and relabelling. The product's own look-up chooses from them, and
promtool judges the rule that it rewrote.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.alerts.packs.dialects.foreign_cases import Difference, ForeignCase, choices, differences
from tests.alerts.packs.dialects.pack_cases import PackCase, pack_cases
from tests.alerts.packs.shipped import prometheus_files
from tests.support.examples import by_profile
from tests.support.foreign_series import ExporterKind, TargetLabels
from tests.support.target_dialects import OF_KIND


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What some dialects cannot say of some rules. `is_early`: they may fire where they would stay quiet."""

    rules: frozenset[str]
    dialects: frozenset[str]
    reason: str
    is_early: bool = False

    def covers(self, one: Difference) -> bool:
        return (
            one.foreign.case.rule.name in self.rules
            and not self.dialects.isdisjoint({*one.foreign.names, one.foreign.dialect_names})
            and (bool(one.blind) or one.is_only_less or self.is_early)
        )


def _limits() -> tuple[Limit, ...]:
    entries: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("limits.yaml").read_text())
    return tuple(
        Limit(
            rules=frozenset(one["rules"]),
            dialects=frozenset(one["dialects"]),
            reason=one["reason"],
            is_early=one.get("is_early", False),
        )
        for one in entries
    )


LIMITS = _limits()


def one_of_them(case: PackCase) -> Iterator[ForeignCase]:
    """Return the case in one dialect: always the same for a case, not so for all cases."""
    found = tuple(choices(case))
    yield found[zlib.crc32(str(case).encode()) % len(found)]


@pytest.mark.soak
@pytest.mark.parametrize("file", prometheus_files(), ids=lambda file: file.name)
async def test_the_same_alerts_fire_in_a_foreign_dialect(
    file: Path, promtool_path: Path, tmp_path: Path
) -> None:
    """One dialect for each case; in the soak run all of them."""
    foreign = by_profile(one_of_them, choices)
    cases = [one for case in pack_cases() if case.rule.location.file == file.name for one in foreign(case)]

    found = await differences(promtool_path, tmp_path, cases)

    unexplained = [one for one in found if not any(limit.covers(one) for limit in LIMITS)]
    assert not unexplained, _message(unexplained, len(cases))


async def test_a_rule_that_is_not_rewritten_is_noticed(promtool_path: Path, tmp_path: Path) -> None:
    """This proves that the test above can fail: the node is an address that this cluster has at another node."""
    case = next(
        one for one in pack_cases() if one.rule.name == "GPUNVLinkErrors" and any(one.expected.values())
    )
    by_name, by_address = (
        next(one for one in choices(case) if one.dialect_names == name)
        for name in ("as gpu-op", "as gpu-iph")
    )
    unknown = TargetLabels(name="none", labels={"Hostname": "pool-a", "instance": "same"})
    silent = ForeignCase(case=case, chosen={**by_name.chosen, ExporterKind.GPU: ("none", (unknown,))})

    found = await differences(promtool_path, tmp_path, [by_name, by_address, silent])

    assert [one.foreign for one in found] == [silent]
    assert found[0].blind or not found[0].is_only_less


def test_no_two_dialects_of_a_kind_have_the_same_name() -> None:
    for some in OF_KIND.values():
        assert len({name for name, _ in some}) == len(some)


def _message(found: list[Difference], tried: int) -> str:
    shown = "\n\n".join(map(str, found[:10]))
    return (
        f"{len(found)} of {tried} cases differ in a foreign dialect. Fix the look-up, the pack or the mapping; what a "
        f"dialect cannot say goes to `limits.yaml`, with the reason.\n\n{shown}"
    )
