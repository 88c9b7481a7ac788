"""The environment of the demo on real parts: control plane, Prometheus, Elasticsearch, the chart's permissions.

Only Slack is a look-alike. The bot has its own identity, and in Kubernetes exactly the permissions of the chart.
"""

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
from demo.environment import ClusterAccess, Environment, EnvironmentOptions
from demo.runner import ScenarioRunner
from helm.generate import CHART
from tests.real.fixtures import present_or_skip
from tests.real.parts.layout import KUBERNETES
from tests.real.servers.elasticsearch import ElasticsearchServer
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.demo_stage import chosen_scenarios, demo_stage, first_faults


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
    chosen = chosen_scenarios(request)
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
        initial_faults=first_faults(chosen),
    )
    async with demo_stage(plan) as environment:
        yield environment


@pytest.fixture(scope="module")
def player(stage: Environment) -> ScenarioRunner:
    """One runner for all scenarios: it knows which incidents belong to an earlier one."""
    return ScenarioRunner(stage)
