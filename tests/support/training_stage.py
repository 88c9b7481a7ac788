"""A cluster with one training that a test launches: its namespace and its pool of nodes have its name."""

from dataclasses import dataclass

from collectors.trainings.training import Training, TrainingState
from commands.execution.plan import Plan, PlanState
from tests.support.drained import Kubelets
from tests.support.yard import ANA, DANA, Yard


@dataclass(kw_only=True)
class TrainingStage:
    yard: Yard
    kube: Kubelets
    name: str

    @property
    def training(self) -> Training | None:
        return self.yard.cluster.training(f"{self.name}/{self.name}")

    async def until(self, state: TrainingState) -> Training:
        await self.yard.seen(lambda: self.training is not None and self.training.state is state)
        assert self.training is not None
        return self.training

    async def done(self, line: str) -> Plan:
        """Return the plan of a line once it is done: ana runs what is about trainings, dana the rest."""
        plan = await self.yard.do(line, ANA if line.startswith("training") else DANA)
        assert plan.state is PlanState.DONE, plan.error
        return plan
