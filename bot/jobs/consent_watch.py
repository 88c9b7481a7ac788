"""The watch on what owners were asked about: the checkpoint that they wait for, and trainings that have ended."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.store import Store
from bot.jobs.due_work import DueWork
from bot.live_cluster import LiveCluster
from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from collectors.trainings.catalogue import unseen_kinds
from collectors.trainings.training import Training, training_of_row
from commands.core.pricing import checkpoint_of
from commands.execution.plan import Plan, PlanState
from commands.gates.training_answers import about, with_answer
from commands.gpu.consents import is_awaited
from commands.models import OPEN_REQUEST, ReclaimRequest, ReclaimState

EVERY = timedelta(seconds=15)


class ConsentWatch:
    """Looks at each open request of a plan, and closes what no plan waits for.

    A second look after a crash finds the same.
    """

    def __init__(self, store: Store, clusters: Mapping[str, LiveCluster]) -> None:
        self._store = store
        self._clusters = clusters
        self.work = DueWork(name="consents", row=ReclaimRequest, column="look_at", do=self._look)

    async def _look(self, request: ReclaimRequest, now: datetime) -> timedelta:
        found = await self._ended(request) or await self._found(request, now)
        if found != request:
            async with self._store.unit() as unit:
                if await unit.rows(ReclaimRequest).get(request.id) == request:  # no answer came meanwhile
                    await unit.rows(ReclaimRequest).put(found)
        return EVERY

    async def _ended(self, request: ReclaimRequest) -> ReclaimRequest | None:
        """Return the request as closed if its plan no longer waits, with what became of that."""
        async with self._store.read() as snapshot:
            if await is_awaited(request, snapshot):
                return None
            plan = await snapshot.rows(Plan).get(request.for_plan)
        if plan is not None and (plan.parts or plan.state is not PlanState.CANCELLED):
            if request.state is ReclaimState.AGREED:
                return replace(request, state=ReclaimState.FREED)
            reason = sentence("plan {plan} went on", plan=request.for_plan)
        elif plan is not None and plan.error:
            reason = sentence("plan {plan} ended, {why}", plan=plan.id, why=plan.error)
        else:
            reason = sentence("plan {plan} was cancelled", plan=request.for_plan)
        return replace(request, state=ReclaimState.VOID, keep_reason=reason)

    async def _found(self, request: ReclaimRequest, now: datetime) -> ReclaimRequest:
        """Return the request as it is after a look at its trainings; unchanged while they cannot be seen."""
        cluster = self._clusters.get(request.cluster)
        if cluster is None:
            return request
        try:
            seen = [training_of_row(key, cluster.trainings()) for key in request.trainings]
            is_unseen = None in seen and bool(unseen_kinds(cluster.inventory()))
        except SourceError:
            return request
        if is_unseen:
            return request
        by_key = dict(zip(request.trainings, seen, strict=True))
        running = [one for one in seen if one is not None and not one.state.is_over]
        if not running:
            return replace(request, state=ReclaimState.VOID, keep_reason=sentence("it has ended"))
        if not request.answers:
            is_saved = [await self._is_saved(request, one, cluster, now) for one in running]
            return replace(request, state=ReclaimState.AGREED) if all(is_saved) else request
        for key, training in by_key.items():
            one = about(request, key)
            if one.state in OPEN_REQUEST and training not in running:
                one = replace(one, state=ReclaimState.VOID, keep_reason=sentence("it has ended"))
            elif training is not None and await self._is_saved(one, training, cluster, now):
                one = replace(one, state=ReclaimState.AGREED)
            if one != about(request, key):
                request = with_answer(request, one)
        return request

    async def _is_saved(
        self, request: ReclaimRequest, training: Training, cluster: LiveCluster, now: datetime
    ) -> bool:
        """Whether the training has written the checkpoint that its owner wanted first."""
        if request.state is not ReclaimState.AFTER_CHECKPOINT or request.answered_at is None:
            return False
        saved = await checkpoint_of(training, cluster, now)
        return saved is not None and saved > request.answered_at
