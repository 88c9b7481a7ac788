"""A busy cluster without an API server: physics and faults only."""

from datetime import UTC, datetime, timedelta

from demo.world.faults import Faults
from demo.world.layout import demo_layout
from demo.world.physics.step import step
from demo.world.pod_placement import join, place
from demo.world.shared_services import PodKey
from demo.world.state import Body, Role, State, Training, WorldEvent, initial_state

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DETR = PodKey("vision-detr", "detr-worker")


class Cluster:
    """A state with all trainings placed, and faults to start."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.faults = Faults(state)

    def run(self, seconds: int, *, pace: int = 1) -> list[WorldEvent]:
        """Advance by `seconds` in steps of `pace` seconds and return the events."""
        events: list[WorldEvent] = []
        for _ in range(seconds // pace):
            events += step(self.state, timedelta(seconds=pace))
            events += self.faults.tick(timedelta(seconds=pace))
        return events

    @property
    def detr(self) -> Training:
        return self.state.trainings[DETR]

    def nodes_of(self, training: PodKey) -> list[str]:
        return [body.node for body in self.state.ranks_of(training)]

    def scale_dns(self, replicas: int) -> None:
        for number in range(len(self.state.dns.servers), replicas):
            dns = PodKey("kube-system", f"coredns-{number}")
            place(
                self.state,
                Body(key=dns, uid=f"dns-{number}", node="infra-01", role=Role.DNS, container="coredns"),
            )


def working_cluster() -> Cluster:
    """Return the demo's cluster, five minutes after the start of its pods."""
    layout = demo_layout()
    cluster = Cluster(initial_state(layout, START, seed=7))
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
            place(cluster.state, body, gpus=spec.gpus)
            join(
                cluster.state,
                body,
                ranks=spec.workers,
                tasks=spec.workers + spec.servers,
                step_seconds=spec.step_seconds,
                run_for=None,
            )
    cluster.scale_dns(2)
    cluster.run(300, pace=5)
    return cluster
