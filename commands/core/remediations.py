"""The gate of remediations: a plan of one runs only while its alert fires, can be seen, and no breaker is open."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from alerts.alert import Alert
from alerts.rules import Rule
from alerts.store import StoreSnapshot
from collectors.facts.queries import Query
from collectors.facts.sentences import sentence
from commands.execution.automation_ids import automation_id, is_automation
from commands.execution.plan import Plan, PlanState
from commands.execution.plan_gate import LETS_GO, GateVerdict
from commands.gates.breaker import Breaker, BreakerLimits
from commands.gates.remediation import Remediation, why_not_seen

REMEDIATION = "remediation"  # the automation of the settings
ACTOR = automation_id(REMEDIATION)

BlindSources = Callable[
    [str, tuple[Query, ...]], Mapping[str, str]
]  # cluster, queries -> blind source -> why


@dataclass(frozen=True, slots=True, kw_only=True)
class RemediationGate:
    """Judges plans of remediations, before their first stage and between two of them."""

    rules: Callable[[], Mapping[str, Rule]]
    blind: BlindSources
    limits: BreakerLimits

    async def __call__(self, plan: Plan, rows: StoreSnapshot) -> GateVerdict:
        if not plan.origin.remediation or not is_automation(plan.actor):
            return LETS_GO
        one = await rows.rows(Remediation).get(plan.origin.remediation)
        alert = await rows.rows(Alert).get(one.alert) if one is not None else None
        if one is None or alert is None or not alert.is_firing:
            # A cordon may end the alert that it was for: what has begun is finished.
            is_begun = plan.state is PlanState.RUNNING
            return LETS_GO if is_begun else GateVerdict(reason=sentence("its alert is over"), is_final=True)
        if (open_one := await open_breaker(one, self.limits, rows)) is not None:
            return GateVerdict(reason=open_one.why_stopped, is_final=True)
        return GateVerdict(reason=why_not_seen(alert, self.blind_for(one.rule, one.cluster)))

    def blind_for(self, rule: str, cluster: str) -> Mapping[str, str]:
        """Return the sources that the remediation of a rule needs and that are blind now."""
        rules = self.rules()
        found = rules.get(rule)
        if found is None:
            return {}
        beside = found.template.remediation_with
        queries = (found.query, *(one.query for one in rules.values() if one.name in beside))
        return self.blind(cluster, queries)


async def open_breaker(one: Remediation, limits: BreakerLimits, rows: StoreSnapshot) -> Breaker | None:
    """Return the open breaker in whose scope a remediation is."""
    found = await rows.rows(Breaker).find(cluster=one.cluster, state="open")
    return next((breaker for breaker in found if breaker.is_over(one, limits)), None)
