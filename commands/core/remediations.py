"""The gate of remediations: a plan of one runs only while its alert fires, can be seen, and no breaker is open."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from alerts.alert import Alert
from alerts.rules import Rule
from alerts.store import StoreSnapshot
from collectors.facts.queries import Query
from collectors.facts.sentences import sentence
from commands.execution.automation_ids import automation_id, is_automation
from commands.execution.plan import GateName, Plan, PlanState
from commands.execution.plan_gate import LETS_GO, NONE_HELD, GateVerdict, PlanJudge
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

    @property
    def name(self) -> GateName:
        return GateName.RULE

    async def look(
        self, plans: Sequence[Plan], rows: StoreSnapshot, *, held: Collection[str] = NONE_HELD
    ) -> PlanJudge:
        ours = [one for one in plans if one.origin.remediation and is_automation(one.actor)]
        if not ours:
            return lambda _plan: LETS_GO
        remediations = await rows.rows(Remediation).get_all([one.origin.remediation for one in ours])
        alerts = await rows.rows(Alert).get_all([one.alert for one in remediations.values()])
        breakers = await rows.rows(Breaker).find(cluster={one.cluster for one in ours}, state="open")
        blind = {
            key: self.blind_for(*key) for key in {(one.rule, one.cluster) for one in remediations.values()}
        }

        def judge(plan: Plan) -> GateVerdict:
            if not plan.origin.remediation or not is_automation(plan.actor):
                return LETS_GO
            one = remediations.get(plan.origin.remediation)
            alert = alerts.get(one.alert) if one is not None else None
            if one is None or alert is None or not alert.is_firing:
                # A cordon may end the alert that it was for: what has begun is finished.
                is_begun = plan.state is PlanState.RUNNING
                over = GateVerdict(reason=sentence("its alert is over"), is_final=True)
                return LETS_GO if is_begun else over
            open_one = next((breaker for breaker in breakers if breaker.is_over(one, self.limits)), None)
            if open_one is not None:
                return GateVerdict(reason=open_one.why_stopped, is_final=True)
            return GateVerdict(reason=why_not_seen(alert, blind[one.rule, one.cluster]))

        return judge

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
