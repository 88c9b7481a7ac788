"""The environment of the demo on real parts: control plane, Prometheus, Elasticsearch, the chart's permissions.

Only Slack is a look-alike. The bot has its own identity, and in Kubernetes exactly the permissions of the chart.
"""

import subprocess
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from bot.doctor.role_rules import act_rights
from commands.command_catalogue import CATALOGUE
from demo.environment import ClusterAccess, Environment, EnvironmentOptions
from helm.generate import CHART
from tests.real.fixtures import present_or_skip
from tests.real.parts.layout import KUBERNETES
from tests.real.servers.elasticsearch import ElasticsearchServer
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.demo_stage import ScenarioPlayer, demo_stage
from tests.support.quick_yaml import all_from_yaml


def roles_of_the_chart(helm: Path, account: str) -> str:
    """Return the roles and namespaces of the chart for this service account, with every command enabled."""
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
    things = [thing for thing in all_from_yaml(done.stdout) if thing]
    spaces = [thing for thing in things if thing["kind"] == "Namespace"]
    roles = [thing for thing in things if "Role" in thing["kind"]]
    assert {role["kind"] for role in roles} == {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
    return yaml.safe_dump_all([*spaces, *roles])


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


class RealParts:
    """What the demo runs on. An environment gets a control plane of its own, because it has eighteen nodes.

    The bot has the permissions of the chart there. `cluster` is that of the last environment.
    """

    cluster: KubernetesCluster

    def __init__(self, folders: pytest.TempPathFactory, helm: Path, logs: str) -> None:
        self._folders = folders
        self._helm = helm
        self._logs = logs

    @asynccontextmanager
    async def start(self, faults: Mapping[str, Mapping[str, Any]]) -> AsyncIterator[Environment]:
        """Start an environment with the demo and the bot, on a control plane and logs without those of others."""
        _delete_logs(self._logs)
        with present_or_skip(lambda: KubernetesCluster(self._folders.mktemp("kubernetes"))) as cluster:
            self.cluster = cluster
            cluster.kubectl("apply", "-f", "-", stdin=roles_of_the_chart(self._helm, cluster.bot_name))
            access = ClusterAccess(
                url=cluster.url,
                token=cluster.admin_token,
                ca_file=cluster.ca_file,
                kubeconfig=cluster.bot_kubeconfig,
            )
            stage = self._folders.mktemp("stage")
            options = EnvironmentOptions(
                folder=stage, cluster=access, elasticsearch_url=self._logs, initial_faults=faults
            )
            async with demo_stage(options) as environment:
                yield environment


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory, helm_path: Path, logs: str) -> RealParts:
    return RealParts(tmp_path_factory, helm_path, logs)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def player(parts: RealParts) -> AsyncIterator[ScenarioPlayer]:
    player = ScenarioPlayer(parts.start)
    yield player
    await player.close()
