"""From settings to a report without anything broken: the command on real servers, and the look-alike of Slack."""

import asyncio
from pathlib import Path

import yaml
from click.testing import CliRunner
from elasticsearch import Elasticsearch

from bot.cli import main
from collectors.facts.clock import SystemClock
from demo.lookalikes.slack import Options, SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from tests.real.fixtures import StartPrometheus
from tests.real.servers.elasticsearch import ElasticsearchServer
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.log_documents import pod_line

INDEX = "doctor-green"
RULES = "groups: [{name: own, rules: [{alert: Down, expr: up == 0}]}]\n"


async def test_the_doctor_is_green_on_real_servers(
    start_prometheus: StartPrometheus,
    real_elasticsearch: ElasticsearchServer,
    real_kubernetes: KubernetesCluster,
    tmp_path: Path,
) -> None:
    now = SystemClock().now()
    metrics = start_prometheus(samples=["# TYPE up gauge", f"up 1 {now.timestamp():.3f}"])
    with Elasticsearch(real_elasticsearch.url) as client:
        line = pod_line(now, "hello", node="gpu-a01", namespace="vision", pod="a", container="a")
        client.index(index=INDEX, document=line, refresh=True)
    (tmp_path / "rules.yaml").write_text(RULES)
    members = Members(people=("dana",), channels=("#gpu-alerts",), usergroups={"sre": ("dana",)})
    async with SlackLookalike.running(members, options=Options(strict_rates=False)) as slack:
        settings = {
            "clusters": [
                {
                    "name": "prod-a",
                    "kubernetes": {"kubeconfig": str(real_kubernetes.kubeconfig)},
                    "prometheus": {"url": metrics.url, "stale_after": "1h"},
                    "elasticsearch": {
                        "url": real_elasticsearch.url,
                        "index": f"{INDEX}*",
                        "stale_after": "1h",
                    },
                }
            ],
            "slack": {
                "bot_token": slack.bot_token,
                "app_token": slack.app_token,
                "api_url": slack.url,
                "channel": slack.id("#gpu-alerts"),
            },
            "teams": {"sre": {"slack_groups": [slack.id("sre")], "commands": ["*"]}},
            "rules": {"packs": [], "files": [str(tmp_path / "rules.yaml")]},
            "store": {"url": f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}"},
        }
        file = tmp_path / "settings.yaml"
        file.write_text(yaml.safe_dump(settings))
        words = ["check", "--connect", "--config", str(file)]
        result = await asyncio.to_thread(CliRunner().invoke, main, words)
    with Elasticsearch(real_elasticsearch.url) as client:
        client.indices.delete(index=INDEX)
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "Nothing is broken."), result.output
    parts = [line for line in result.stdout.splitlines() if line and not line.startswith(" ")][:-1]
    assert parts == [
        "prod-a kubernetes",
        "prod-a prometheus",
        "prod-a elasticsearch",
        "prod-a rules",
        "slack",
    ]
