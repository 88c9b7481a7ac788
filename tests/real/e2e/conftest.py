"""This file sets the stage of the demo on real parts: the control plane, Prometheus, Elasticsearch, the chart's rights.

Only Slack is a look-alike. The bot has its own identity, and may do in Kubernetes what the chart lets it, no more.
"""

import asyncio
import subprocess
import urllib.request
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio
import yaml

from commands.command_catalogue import CATALOGUE
from demo.environment import ClusterAccess, Environment, EnvironmentOptions, start_environment
from demo.runner import ScenarioRunner
from demo.scenario import load_scenarios
from helm.generate import CHART
from helm.rights import act_rights
from tests.real.fixtures import present_or_skip
from tests.real.parts.layout import KUBERNETES
from tests.real.servers.elasticsearch import ElasticsearchServer
from tests.real.servers.kubernetes import KubernetesCluster

SETS_UP_WITHIN = 240  # seconds
ENDS_WITHIN = 60


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, helm_path: Path) -> Iterator[KubernetesCluster]:
    """A control plane of its own, for the world takes eighteen nodes. The bot has the rights of the chart."""
    with present_or_skip(lambda: KubernetesCluster(tmp_path_factory.mktemp("kubernetes"))) as cluster:
        cluster.kubectl("apply", "-f", "-", stdin=roles_of_the_chart(helm_path, cluster.bot_name))
        yield cluster


def roles_of_the_chart(helm: Path, account: str) -> str:
    """What the chart would install for this service account, with every command enabled."""
    _, _, home, name = account.split(":")
    argv = (
        *(helm, "template", "yard", CHART, "--namespace", home),
        *(
            "--kube-version",
            KUBERNETES,
            "--values",
            CHART / "ci" / "minimal-values.yaml",
            "--set",
            f"serviceAccount.name={name}",
        ),
        *("--set", f"enabledCommands={{{','.join(act_rights(CATALOGUE))}}}"),
    )
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    things = [thing for thing in yaml.safe_load_all(done.stdout) if thing and "Role" in thing["kind"]]
    assert {thing["kind"] for thing in things} == {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
    return yaml.safe_dump_all(things)


@pytest.fixture(scope="module")
def logs(real_elasticsearch: ElasticsearchServer) -> Iterator[str]:
    """The address of the shared Elasticsearch, without what other worlds have shipped to it, before and after."""
    _forget(real_elasticsearch.url)
    yield real_elasticsearch.url
    _forget(real_elasticsearch.url)


def _forget(url: str) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    gone = urllib.request.Request(f"{url}/logs-k8s-default?ignore_unavailable=true", method="DELETE")
    with opener.open(gone, timeout=30) as reply:
        assert reply.status == 200


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(
    cluster: KubernetesCluster,
    logs: str,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> AsyncIterator[Environment]:
    """The stage with the world and the bot on it. What its scenarios begin with was so in the past already."""
    scenarios = load_scenarios()
    chosen = {
        str(item.callspec.params["name"])
        for item in request.session.items
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and item.path == request.path
    }
    plan = EnvironmentOptions(
        folder=tmp_path_factory.mktemp("stage"),
        cluster=ClusterAccess(
            url=cluster.url,
            token=cluster.admin_token,
            ca_file=cluster.ca_file,
            kubeconfig=cluster.bot_kubeconfig,
        ),
        elasticsearch_url=logs,
        idle_after=timedelta(seconds=20),  # the API server dates every pod now: none has been idle for long
        begins_with={fault.fault: fault.parameters for name in chosen for fault in scenarios[name].begins},
    )
    is_set: asyncio.Future[Environment] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()

    async def keep() -> None:
        """Enter and leave the stage in one task, as its task groups want it."""
        async with start_environment(plan) as stage:
            is_set.set_result(stage)
            await over.wait()

    keeping = asyncio.get_running_loop().create_task(keep(), name="stage")
    await asyncio.wait((is_set, keeping), timeout=SETS_UP_WITHIN, return_when=asyncio.FIRST_COMPLETED)
    if not is_set.done():
        is_set.cancel()
        keeping.cancel()
        await keeping  # raises why
    yield is_set.result()
    over.set()
    async with asyncio.timeout(ENDS_WITHIN):
        await keeping


@pytest.fixture(scope="module")
def player(stage: Environment) -> ScenarioRunner:
    """One player for all scenarios: it knows which incidents belong to an earlier one."""
    return ScenarioRunner(stage)
