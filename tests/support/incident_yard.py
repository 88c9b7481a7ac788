"""A yard without nodes for commands about stored incidents and alerts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from commands.core.context import Defaults
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import CLUSTER, Yard, yard_before


@asynccontextmanager
async def yard_with(
    folder: Path, *rows: Incident | Alert, policy: Defaults | None = None
) -> AsyncIterator[Yard]:
    """Yield a yard whose store has these rows."""
    async with (
        KubernetesLookalike.running(controllers=False) as kube,
        yard_before(kube.kubeconfig(folder / "kubeconfig"), policy=policy) as yard,
    ):
        async with yard.store.unit() as unit:
            for row in rows:
                assert row.cluster == CLUSTER
                if isinstance(row, Incident):
                    await unit.rows(Incident).put(row)
                else:
                    await unit.rows(Alert).put(row)
        yield yard


async def stored(yard: Yard, id: str = "i1") -> Incident:
    async with yard.store.read() as snapshot:
        found = await snapshot.rows(Incident).get(id)
    assert found is not None
    return found
