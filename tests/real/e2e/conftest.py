"""The environment of the demo on real parts: control plane, Prometheus, Elasticsearch, the chart's permissions.

Only Slack is a look-alike. The bot has its own identity, and in Kubernetes exactly the permissions of the chart.
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

from bot.doctor.role_rules import act_rights
from commands.command_catalogue import CATALOGUE
from demo.environment import ClusterAccess, Environment, EnvironmentOptions, start_environment
from demo.runner import ScenarioRunner
from demo.scenario import load_scenarios
from helm.generate import CHART
from tests.real.fixtures import present_or_skip
from tests.real.parts.layout import KUBERNETES
from tests.real.servers.elasticsearch import ElasticsearchServer
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.tls import end_closed_connections

STARTS_WITHIN = 240  # seconds
STOPS_WITHIN = 60


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, helm_path: Path) -> Iterator[KubernetesCluster]:
    """A separate control plane, because the demo has eighteen nodes. The bot has the permissions of the chart."""
    with present_or_skip(lambda: KubernetesCluster(tmp_path_factory.mktemp("kubernetes"))) as cluster:
        cluster.kubectl("apply", "-f", "-", stdin=roles_of_the_chart(helm_path, cluster.bot_name))
        yield cluster


def roles_of_the_chart(helm: Path, account: str) -> str:
    """Return the roles that the chart installs for this service account, with every command enabled."""
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
    roles = [role for role in yaml.safe_load_all(done.stdout) if role and "Role" in role["kind"]]
    assert {role["kind"] for role in roles} == {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
    return yaml.safe_dump_all(roles)


@pytest.fixture(scope="module")
def logs(real_elasticsearch: ElasticsearchServer) -> Iterator[str]:
    """The URL of the shared Elasticsearch, without log lines of other tests, before and after."""
    _delete_logs(real_elasticsearch.url)
    yield real_elasticsearch.url
    _delete_logs(real_elasticsearch.url)


def _delete_logs(url: str) -> None:
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
    """The environment with the demo and the bot. Faults that its scenarios begin with exist from the start."""
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
        idle_after=timedelta(seconds=20),  # the API server dates every pod now: none was idle for long
        initial_faults={
            fault.fault: fault.parameters for name in chosen for fault in scenarios[name].initial_faults
        },
    )
    is_started: asyncio.Future[Environment] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()

    async def run_environment() -> None:
        """Enter and leave the environment in one task, as its task groups require."""
        async with start_environment(plan) as stage:
            is_started.set_result(stage)
            await over.wait()
        await end_closed_connections()

    task = asyncio.get_running_loop().create_task(run_environment(), name="stage")
    await asyncio.wait((is_started, task), timeout=STARTS_WITHIN, return_when=asyncio.FIRST_COMPLETED)
    if not is_started.done():
        is_started.cancel()
        task.cancel()
        await task  # raises the reason
    yield is_started.result()
    over.set()
    async with asyncio.timeout(STOPS_WITHIN):
        await task


@pytest.fixture(scope="module")
def player(stage: Environment) -> ScenarioRunner:
    """One runner for all scenarios: it knows which incidents belong to an earlier one."""
    return ScenarioRunner(stage)
