"""`rule doctor`: what each rule can see, what to do first, and which rules nobody acts on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from alerts.cards.message import Table
from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import Incident
from alerts.rules import Rule
from alerts.silences import Silence
from bot.channels.slack.blocks import render
from collectors.facts.findings import Finding, RuleHealth, blinding, broken, ok, warning
from collectors.facts.queries import LogQuery, Query
from collectors.sources.cluster_sources import ClusterSources
from commands.core.command import UnknownNameError
from commands.core.context import CommandContext
from commands.core.rule_runs import RuleRun
from commands.rule.commands import ExamineRules, examined
from commands.rule.notifications import notification_counts
from commands.rule.verdicts import fixes, severity_of, verdicts
from tests.support.alerting import NOON, a_rule, an_alert
from tests.support.incidents import an_open_incident
from tests.support.log_matches import message
from tests.support.memory_store import MemoryStore
from tests.support.yard import DANA, text_of

COUNTERS = ("DCGM_A, counter, A", "DCGM_B, counter, B")
NOT_EXPORTED = blinding(
    warning("GPUHot, GPUTorn can see nothing: no DCGM_A", "add these lines", COUNTERS),
    ["GPUHot", "GPUTorn"],
    "no DCGM_A",
)
NO_TARGET = blinding(
    broken("Small can see nothing: no node_a", "install node_exporter"), ["Small"], "no node_a"
)
WAITS = replace(ok("1 rules wait"), rules=("Calico",), health=RuleHealth.WAITING, cause="no felix_a")
FINDINGS = [NO_TARGET, NOT_EXPORTED, WAITS]


def rules() -> list[Rule]:
    return [
        a_rule("Small", expr="node_a > 1", severity="info"),
        a_rule("GPUHot", expr="DCGM_A > 1", severity="critical"),
        a_rule("GPUTorn", expr="DCGM_B > 1"),
        a_rule("Calico", expr="felix_a > 1"),
        a_rule("Sees", expr="up == 0"),
    ]


@dataclass
class DiagnosedCluster:
    """A cluster whose sources find this."""

    findings: Sequence[Finding]
    name: str = "prod-a"
    asked: dict[str, Query] = field(default_factory=dict)

    async def diagnose(
        self, queries: Mapping[str, Query], *, at: datetime, within: timedelta
    ) -> Mapping[str, Sequence[Finding]]:
        self.asked = dict(queries)
        return {"prometheus": self.findings}


async def answer(
    action: ExamineRules,
    *rows: Incident,
    findings: Sequence[Finding] = FINDINGS,
    runs: Mapping[str, RuleRun] | None = None,
) -> Any:
    store = MemoryStore()
    async with store.unit() as unit:
        for row in rows:
            await unit.rows(Incident).put(row)
    cluster: Any = DiagnosedCluster(findings)
    context = CommandContext(
        actor=DANA,
        now=NOON,
        cluster=cluster,
        store=store,
        rules={rule.id: rule for rule in rules()},
        rule_runs=runs or {},
    )
    found = await examined(action, context)
    assert set(cluster.asked) == {rule.name for rule in rules()}
    return found.message


async def test_what_opens_the_most_severe_eyes_comes_first() -> None:
    message = await answer(ExamineRules(rule="", all=False))
    assert text_of(message).splitlines() == [
        "3 of 5 rules can see nothing",
        "1 with data; 1 without data: the cluster may not have what they watch.",
        "What to do, most useful first",
        "1. 2 rules, 1 of them critical",
        "no DCGM_A",
        "add these lines",
        *COUNTERS,
        "2. 1 rule",
        "no node_a",
        "install node_exporter",
        "Every rule: rule doctor --all. One: rule doctor GPUHot",
    ]


async def test_the_short_answer_fits_a_phone_and_the_whole_list_is_a_table_of_every_rule() -> None:
    many = [
        blinding(broken(f"R{number}", f"do {number}"), [rule.name], f"cause {number}")
        for number, rule in enumerate(rules())
    ]
    short = await answer(ExamineRules(rule="", all=False), findings=many)
    assert "2 more things to do are left out here." in text_of(short)
    assert len(text_of(short).splitlines()) < 20
    assert render(short).files == ()
    whole = await answer(ExamineRules(rule="", all=True))
    (table,) = [block for block in whole.blocks if isinstance(block, Table)]
    assert [row[:3] for row in table.rows] == [
        ("GPUHot", "critical, blind", "no DCGM_A"),
        ("GPUTorn", "warning, blind", "no DCGM_A"),
        ("Small", "info, blind", "no node_a"),
        ("Calico", "warning, waiting", "no felix_a"),
        ("Sees", "warning, has data", ""),
    ]


async def test_one_rule_is_explained_with_the_lines_that_it_needs() -> None:
    hot = next(rule for rule in rules() if rule.name == "GPUHot")
    runs = {hot.id: RuleRun(took=timedelta(seconds=2), evaluated=NOON)}
    said = text_of(await answer(ExamineRules(rule="GPUHot", all=False), runs=runs))
    assert "state: blind\nwhy: no DCGM_A\nto fix it: add these lines" in said
    assert "evaluated: every 1 min; the last answer took 2.0 s" in said
    assert said.endswith("\n".join(COUNTERS))


async def test_a_rule_that_is_not_there_gets_the_near_ones() -> None:
    with pytest.raises(UnknownNameError) as caught:
        await answer(ExamineRules(rule="GPUHit", all=False))
    assert caught.value.near == ("GPUHot",)


async def test_all_is_well() -> None:
    said = text_of(await answer(ExamineRules(rule="", all=False), findings=[]))
    assert said.startswith("None of 5 rules is blind\n5 with data.")
    assert "What to do" not in said


@pytest.mark.parametrize(
    ("run", "health", "reason"),
    [
        (RuleRun(took=timedelta(seconds=61), evaluated=NOON), RuleHealth.LATE, "its answer takes 1 min 1 s"),
        (RuleRun(took=timedelta(seconds=59), evaluated=NOON), RuleHealth.HAS_DATA, ""),
        (RuleRun(evaluated=NOON - timedelta(minutes=5)), RuleHealth.LATE, "it was last evaluated 5 min ago"),
        (RuleRun(evaluated=NOON - timedelta(seconds=90)), RuleHealth.HAS_DATA, ""),
        (RuleRun(evaluated=NOON, blind="many-to-many"), RuleHealth.BLIND, "many-to-many"),
        (RuleRun(), RuleHealth.HAS_DATA, ""),
    ],
)
def test_the_last_evaluation_of_a_rule(run: RuleRun, health: RuleHealth, reason: str) -> None:
    rule = a_rule("Sees", expr="up == 0")
    (one,) = verdicts([rule], [], {rule.id: run}, {}, NOON)
    assert one.health is health
    assert one.reason.startswith(reason)
    assert bool(one.reason) == bool(reason)


def test_the_worst_of_two_findings_counts() -> None:
    late = replace(NO_TARGET, health=RuleHealth.LATE, cause="old")
    for findings in ([late, NO_TARGET], [NO_TARGET, late]):
        (one,) = verdicts([rules()[0]], findings, {}, {}, NOON)
        assert (one.health, one.reason) == (RuleHealth.BLIND, "no node_a")
        assert [fix.finding for fix in fixes([one])] == [NO_TARGET]


def test_a_severity_by_template_counts_as_its_highest() -> None:
    label = "{{ if gt $value 1.0 }}critical{{ else }}info{{ end }}"
    assert severity_of(a_rule("R", severity=label)).value == "critical"


def called(days: float, *events: IncidentEventType, id: str = "i1", who: str = "") -> Incident:
    """Return an incident that was opened so many days ago, and what happened to it since."""
    at = NOON - timedelta(days=days)
    found = replace(an_open_incident(an_alert(on={"node": "gpu-a01"}), id=id), opened_at=at, events=())
    for event in (IncidentEventType.OPENED, *events):
        found = found.with_event(event, at, who=who)
    return found


def test_notifications_of_a_week_and_the_share_that_somebody_acted_on() -> None:
    reopened = IncidentEventType.REOPENED
    rule = called(1).members[0].rule
    incidents = [
        called(1, reopened, reopened, id="i1"),
        called(2, IncidentEventType.ACKNOWLEDGED, id="i2", who="dana"),
        called(8, reopened, id="i3"),
        called(3, IncidentEventType.PROVEN, id="i4"),
    ]
    (count,) = notification_counts(incidents, [], NOON).values()
    assert (count.sent, count.acted, count.is_noisy) == (5, 1, True)
    silence = Silence(
        id="s1",
        cluster="prod-a",
        matchers=(),
        starts_at=NOON - timedelta(hours=23),
        ends_at=NOON,
        by="dana",
        comment="",
        incident="i1",
    )
    (count,) = notification_counts(incidents, [silence], NOON).values()
    assert (count.sent, count.acted, count.is_noisy) == (5, 4, False)
    assert rule in notification_counts(incidents, [], NOON)


async def test_noisy_rules_are_named_with_their_share() -> None:
    noise = called(1, *[IncidentEventType.REOPENED] * 5)
    sees = next(rule for rule in rules() if rule.name == "Sees")
    member = replace(noise.members[0], rule=sees.id)
    said = text_of(await answer(ExamineRules(rule="", all=False), replace(noise, members=(member,))))
    assert "noisy rule | notifications in a week | acted on\nSees | 6 | 0%" in said


async def test_rules_whose_source_is_not_connected_wait_for_it() -> None:
    queries: dict[str, Query] = {
        "Logged": LogQuery(match=message("oops"), by=("node",), over=timedelta(minutes=5))
    }
    ((finding,),) = (await ClusterSources().diagnose(queries, at=NOON)).values()
    assert (finding.rules, finding.health) == (("Logged",), RuleHealth.WAITING)
    assert finding.cause == "the settings have no source of logs for this cluster"
