"""This file is a cluster that is at work, without any API server: physics and faults only."""

from datetime import UTC, datetime, timedelta

from demo.world.faults import Faults
from demo.world.layout import a_cluster
from demo.world.physics.step import step
from demo.world.placing import join, place
from demo.world.shared_services import PodKey
from demo.world.state import Body, Happening, Role, State, Training, a_state

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DETR = PodKey("vision-detr", "detr-worker")


class Cluster:
    """A state with all trainings placed, and the faults that a test starts."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.faults = Faults(state)

    def run(self, seconds: int, *, pace: int = 1) -> list[Happening]:
        """Let time pass in steps of `pace` seconds; return what happened."""
        told: list[Happening] = []
        for _ in range(seconds // pace):
            told += step(self.state, timedelta(seconds=pace))
            told += self.faults.tick(timedelta(seconds=pace))
        return told

    @property
    def detr(self) -> Training:
        return self.state.trainings[DETR]

    def nodes_of(self, training: PodKey) -> list[str]:
        return [body.node for body in self.state.ranks_of(training)]

    def scale_dns(self, replicas: int) -> None:
        for number in range(len(self.state.names.servers), replicas):
            dns = PodKey("kube-system", f"coredns-{number}")
            place(
                self.state,
                Body(key=dns, uid=f"dns-{number}", node="infra-01", role=Role.DNS, container="coredns"),
            )


def a_working_cluster() -> Cluster:
    """The cluster of the demo, five minutes after everything was started."""
    layout = a_cluster()
    made = Cluster(a_state(layout, START, seed=7))
    used: dict[str, int] = {}
    for spec in layout.trainings:
        for rank in range(spec.workers):
            node = next(
                n.name
                for n in layout.nodes
                if n.pool == spec.pool and used.get(n.name, 0) + spec.gpus <= n.gpus
            )
            used[node] = used.get(node, 0) + spec.gpus
            body = Body(
                key=PodKey(spec.namespace, f"{spec.job}-{rank}-x7k2p"),
                uid=f"{spec.job}-{rank}",
                node=node,
                role=Role.WORKER,
                container="worker",
                training=PodKey(spec.namespace, spec.job),
                rank=rank,
                labels={"team": spec.team, "owner": spec.owner, "training": spec.name},
                claims=("coco-images",) if spec.name == "detr" else (),
            )
            place(made.state, body, gpus=spec.gpus)
            join(
                made.state,
                body,
                ranks=spec.workers,
                tasks=spec.workers + spec.servers,
                step_seconds=spec.step_seconds,
                run_for=None,
            )
    made.scale_dns(2)
    made.run(300, pace=5)
    return made
