"""The distribution of tests with `-n`: those that run in one process, and the order in which they begin.

The tests of a file stay together, but for a file in SPREAD. So do those of a group, which share servers; groups begin
first, as they wait more than they work. Then come the files that take longest, so that at the end no process waits
for another.
"""

import json
from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

ROOT = Path(__file__).parents[1]
TIMES = ROOT / "docs" / "test-times.json"  # of the last recorded run

# By folder or file, the longest counts: the group that has it. The first groups begin first.
GROUPS = {
    "tests/real/e2e": "real demo",
    "tests/demo/test_scenarios.py": "demo",
    "tests/contract/kubernetes": "kubernetes",
    "tests/bot/doctor/test_kubernetes_access.py": "kubernetes",
    "tests/collectors/cluster/test_real_cluster_cache.py": "kubernetes",
    "tests/collectors/cluster/test_real_gpu_claims.py": "kubernetes",
    "tests/commands/core/test_real_impersonation.py": "kubernetes",
    "tests/commands/test_actions_on_servers.py": "kubernetes",
    "tests/commands/gpu/test_accepting_one.py": "kubernetes",
    "tests/commands/gpu/test_cordoning_one.py": "kubernetes",
    "tests/commands/node/accept": "kubernetes",
    "tests/commands/node/test_drain_servers.py": "kubernetes",
    "tests/commands/node/test_repair_servers.py": "kubernetes",
    "tests/commands/node/test_restart_agent.py": "kubernetes",
    "tests/commands/node/test_tests_of_others.py": "kubernetes",
    "tests/commands/training/test_jobsets.py": "kubernetes",
    "tests/commands/training/test_life_on_real_controllers.py": "kubernetes",
    "tests/commands/training/test_real_definitions.py": "kubernetes",
    "tests/commands/training/test_real_kubernetes.py": "kubernetes",
    "tests/commands/training/test_real_kueue.py": "kubernetes",
    "tests/commands/training/test_real_pod_groups.py": "kubernetes",
    "tests/commands/training/test_real_volcano.py": "kubernetes",
    "tests/commands/training/test_two_kinds_named_job.py": "kubernetes",
    "tests/commands/volume/test_freezing_servers.py": "kubernetes",
    "tests/demo/world/test_real_control_plane.py": "kubernetes",
    "tests/helm/test_each_verb.py": "kubernetes",
    "tests/helm/test_on_a_real_cluster.py": "kubernetes",
    "tests/real/test_kubernetes_part.py": "kubernetes",
    "tests/contract/elasticsearch": "real demo",
    "tests/bot/doctor/test_real_servers.py": "real demo",
    "tests/demo/world/test_real_elasticsearch.py": "real demo",
    "tests/real/test_parts.py": "real demo",
    "tests/contract/opensearch": "opensearch",
    "tests/recorded": "recorded",
}

SPREAD = ("tests/house/test_walks.py", "tests/bot/delivery/test_kill_points.py")


class Distribution(LoadScopeScheduling):  # type: ignore[misc]
    """It hands out groups and files, the longest first."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if file in SPREAD else scope_of(file)

    def _assign_work_unit(self, node: WorkerController) -> None:
        self.workqueue.move_to_end(min(self.workqueue, key=place_of), last=False)
        super()._assign_work_unit(node)


@cache
def scope_of(file: str) -> str:
    """Return the group of a file, or the file itself if it has none."""
    return next((GROUPS[str(one)] for one in (Path(file), *Path(file).parents) if str(one) in GROUPS), file)


@cache
def place_of(scope: str) -> tuple[int, float]:
    """Return the place of a group or a file in the order."""
    groups = [*dict.fromkeys(GROUPS.values())]
    return groups.index(scope) if scope in groups else len(groups), -_seconds().get(
        scope.partition("::")[0], 0
    )


@cache
def _seconds() -> dict[str, float]:
    """Return how long each file took. One that is missing is new or short."""
    if not TIMES.is_file():
        return {}
    return {row["of"]: row["seconds"] for row in json.loads(TIMES.read_text(encoding="utf-8"))["files"]}
