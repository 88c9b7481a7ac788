"""The budgets of the settings: which a plan falls under, and the gate that holds plans back which would exceed one."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from alerts.store import StoreSnapshot
from collectors.cluster.objects import Node
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.facts.sentences import Sentence, listed, said_by, sentence
from commands.core.budget_pictures import Pool, read_picture
from commands.core.context import Cluster
from commands.execution.automation_ids import is_automation
from commands.execution.plan import GATED, GateName, HeldBy, Plan, PlanState
from commands.execution.plan_gate import LETS_GO, NONE_HELD, GateVerdict, PlanJudge
from commands.gates.budget import OF_AUTOMATION, Budget, BudgetUse, budget_uses
from commands.gates.node_use import nodes_hit
from commands.gates.picture import BudgetPicture, Commands, age_of

NOTHING: Mapping[str, str] = {}
DEFAULT_POOL = "default"  # of nodes that no pool of the settings has

_BY = (HeldBy.BUDGET,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """What may be out of service where, and the gate that holds plans back which would exceed it."""

    clusters: Mapping[str, Cluster]
    clock: Clock
    budgets: Sequence[Budget] = ()
    pools: Mapping[str, Pool] = field(default_factory=dict)
    of_automation: Callable[[str], Budget] = lambda _cluster: (
        OF_AUTOMATION
    )  # what it may take out of a pool now

    @property
    def name(self) -> GateName:
        return GateName.BUDGET

    async def look(
        self, plans: Sequence[Plan], rows: StoreSnapshot, *, held: Collection[str] = NONE_HELD
    ) -> PlanJudge:
        """PlanJudge the plans in the order of their age: what waits longest gets the places that are free.

        A plan that has begun has taken its place. One that waits keeps younger plans out of the places it waits for, so
        that small plans do not starve a large one.
        """
        verdicts: dict[str, GateVerdict] = {}
        for cluster in {plan.cluster for plan in plans if self._counts(plan)}:
            here = [plan for plan in plans if plan.cluster == cluster and self._counts(plan)]
            try:
                picture = await self._picture(cluster, rows)
            except SourceError as error:
                reason = sentence(
                    "it is not known how many nodes are out of service: {error}", error=said_by(error)
                )
                verdicts |= {plan.id: GateVerdict(reason=reason, by=_BY) for plan in here}
                continue
            verdicts |= self._verdicts(here, picture, held)
        return lambda plan: verdicts.get(plan.id, LETS_GO)

    def _counts(self, plan: Plan) -> bool:
        return not (
            plan.over_budget
            or plan.state is PlanState.RUNNING
            or plan.cluster not in self.clusters
            or not (self.budgets or is_automation(plan.actor))
            or not nodes_hit(plan)
        )

    def _verdicts(
        self, plans: Sequence[Plan], picture: BudgetPicture, held: Collection[str]
    ) -> dict[str, GateVerdict]:
        """Return the verdict on each plan, judged with the stored ones that wait for their budget as well."""
        of_automation = self.of_automation(picture.cluster)
        divided = {one.part_of for one in plans}  # its parts are judged instead
        everyone = {
            one.id: one for one in (*picture.waiting, *plans) if self._counts(one) and one.id not in divided
        }
        first: dict[tuple[Budget, str], Plan] = {}  # who waits longest for a place
        verdicts: dict[str, GateVerdict] = {}
        for plan in sorted(everyone.values(), key=age_of):
            uses = self._uses(plan, picture, of_automation)
            over = [use for use in uses if use.is_over]
            before = [use for use in uses if use.key in first and use.adds] if not over else []
            if over or before:
                said = [use.said for use in over] or [_waits_longer(use, first[use.key]) for use in before]
                verdicts[plan.id] = GateVerdict(reason=listed(said, ";"), by=_BY)
                if plan.id not in held and plan.state in GATED and all(use.could_fit for use in over):
                    for use in over:
                        first.setdefault(use.key, plan)
            elif plan.id not in held and plan.state in GATED:
                picture = picture.with_taken(plan, nodes_hit(plan))
        return verdicts

    async def uses(
        self,
        plan: Plan,
        rows: StoreSnapshot,
        *,
        imagined: Mapping[str, str] = NOTHING,
        imagined_lately: Collection[str] = (),
        imagined_commands: Commands | None = None,
    ) -> tuple[BudgetUse, ...]:
        """Return the budgets that the plan falls under. Raises SourceError while the cluster cannot be seen.

        `imagined`: nodes that count as out of service, and why; `imagined_lately`: as disrupted in the last hour;
        `imagined_commands`: by what.
        """
        if plan.cluster not in self.clusters or not nodes_hit(plan):
            return ()
        if not (self.budgets or is_automation(plan.actor)):
            return ()
        picture = (await self._picture(plan.cluster, rows)).with_out(
            imagined, imagined_lately, commands=imagined_commands
        )
        return self._uses(plan, picture, self.of_automation(plan.cluster))

    def _uses(self, plan: Plan, picture: BudgetPicture, of_automation: Budget) -> tuple[BudgetUse, ...]:
        return budget_uses(
            nodes_hit(plan),
            plan.command,
            picture,
            self.budgets,
            is_automation=is_automation(plan.actor),
            of_automation=of_automation,
        )

    async def _picture(self, cluster: str, rows: StoreSnapshot) -> BudgetPicture:
        by_command = any(not one.is_of_all for one in self.budgets)
        return await read_picture(
            self.clusters[cluster], rows, self.clock.now(), self._pool, by_command=by_command
        )

    def pool_of(self, cluster: str, node: str) -> str:
        """Return the pool of a node; the default one for a node that is not seen."""
        try:
            found = self.clusters[cluster].inventory().nodes.get(node)
        except SourceError:
            found = None
        return self._pool(found) if found is not None else DEFAULT_POOL

    def _pool(self, node: Node) -> str:
        return next((name for name, pool in self.pools.items() if pool.has(node)), DEFAULT_POOL)


def _waits_longer(use: BudgetUse, older: Plan) -> Sentence:
    return sentence(
        "plan {plan} of {who} waits longer for {place}, and goes first",
        plan=older.id,
        who=older.actor_name,
        place=use.place,
    )
