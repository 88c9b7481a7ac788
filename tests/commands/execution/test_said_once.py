"""Steps that went as described: their cards say so once."""

from alerts.cards.text import plain
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.plan import PlanState
from commands.execution.plan_card import card_of
from commands.execution.steps import Create, Delete, Evict, Patch, Record, Scale, Wait
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.execution import executor, furnished, journalled, plan_of
from tests.support.memory_store import MemoryStore

AS_DESCRIBED = (Patch, Create, Delete, Scale, Evict, Wait, Record)


async def test_a_step_that_went_as_described_is_said_once(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    steps = [step for step in furnished(kube) if isinstance(step, AS_DESCRIBED)]
    store = MemoryStore()
    over = await executor(store, writer).execute(plan_of(*steps))
    shown = plain(card_of(over, await journalled(store, over)).blocks[0].text)  # type: ignore[union-attr]
    assert over.state is PlanState.DONE
    assert shown.splitlines() == [f"✓ {step.description}" for step in steps]
