"""The light stage of stories: the real bot with look-alikes, and a clock that can be moved."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import yaml

from bot.wiring import Yardmaster
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.lookalikes.kubernetes import KubernetesLookalike, User
from demo.lookalikes.kubernetes import Settings as ControllerSettings
from demo.lookalikes.slack import Options, Person, SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from tests.support.light_stage import CHANNEL, CLUSTER, Light, PushedClock
from tests.support.new_store import new_store
from tests.support.rule_file import error_logs, rule, rule_file
from tests.support.scripted_prometheus import ScriptedPrometheus, Truth

__all__ = ["CHANNEL", "CLUSTER", "ERROR_LOGS", "HOT", "TOKEN", "Light", "PushedClock", "light", "ready_node"]

NODES = ("gpu-a01", "gpu-a02", "gpu-b01")
PEOPLE = ("dana", "eli", "ana", "pat", Person(name="gus", guest=True), Person(name="eve", team="T0ELSEWHERE"))
GROUPS = {"sre": ("dana", "eli"), "vision": ("ana",)}
TOKEN = "a-token-that-nobody-guesses"

HOT = "gpu_temp > 85"
ERROR_LOGS = rule_file("logs", error_logs())
RULES = rule_file(
    "story",
    rule(
        "GPUTemperatureHigh",
        "{{ $labels.node }} is hot.",
        expr=HOT,
        more={"actions": 'node cordon {node} --reason "too hot"\n'},
    ),
)


def ready_node(kube: KubernetesLookalike, name: str, **spec: Any) -> None:
    """Create a Ready node with 8 GPUs."""
    resources = {"cpu": "16", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "8"}
    kube.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {"topology.kubernetes.io/rack": f"rack-{name.partition('-')[2][0]}"},
            },
            "spec": spec,
            "status": {
                "capacity": resources,
                "allocatable": resources,
                "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            },
        },
        keep_status=True,
    )


@contextmanager
def _failure_alone() -> Iterator[None]:
    """Raise a failed assertion without the groups of the tasks that it passed through."""
    try:
        yield
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        if isinstance(error, BaseExceptionGroup):
            raise
        raise error from None


@asynccontextmanager
async def light(
    folder: Path,
    *,
    rules: Mapping[str, Any] | None = None,
    own_rules: Mapping[str, Any] | None = None,
    truth: Truth | None = None,
    start: bool = True,
    change: Callable[[Yardmaster], None] | None = None,
    more: Mapping[str, Any] | None = None,
    options: Options | None = None,
    clock: PushedClock | None = None,
    is_http: bool = False,
) -> AsyncIterator[Light]:
    """Start a stage with nodes and without a simulated world.

    `rules` is a Prometheus rule file, `own_rules` a *.yard.yaml; `more` overrides settings. What people do in Slack
    arrives by Socket Mode, or with `is_http` as signed requests.
    """
    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - a test's own folder
    clock = clock or PushedClock()
    async with AsyncExitStack() as stack:
        stack.enter_context(_failure_alone())
        kube = await stack.enter_async_context(
            KubernetesLookalike.running(
                tokens={"bot": User("bot", ("system:masters",))}, settings=ControllerSettings(node_grace=None)
            )
        )
        for name in NODES:
            ready_node(kube, name)
        elastic = await stack.enter_async_context(ElasticsearchLookalike.running())
        prometheus = await stack.enter_async_context(ScriptedPrometheus.running(truth))
        slack = await stack.enter_async_context(
            SlackLookalike.running(
                Members(people=PEOPLE, channels=(CHANNEL, "#random"), usergroups=GROUPS),
                options=options or Options(strict_rates=False),
            )
        )
        (folder / "story.yaml").write_text(yaml.safe_dump(dict(rules or RULES), sort_keys=False), "utf-8")
        (folder / "story.yard.yaml").write_text(yaml.safe_dump(dict(own_rules or {"groups": []})), "utf-8")
        settings = _settings(folder, kube, elastic, prometheus, slack)
        if is_http:
            del settings["slack"]["app_token"]
            settings["slack"]["signing_secret"] = slack.signing_secret
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        stage = Light(
            folder=folder,
            clock=clock,
            slack=slack,
            kube=kube,
            prometheus=prometheus,
            elastic=elastic,
            settings={**settings, **(more or {})},
            tasks=tasks,
            change=change,
        )
        try:
            if start:
                await stage.start()
            yield stage
        finally:
            await prometheus.goes("")
            kube.resume()
            elastic.faults.heal()
            slack.up()
            await stage.stop()


def _settings(
    folder: Path,
    kube: KubernetesLookalike,
    elastic: ElasticsearchLookalike,
    prometheus: ScriptedPrometheus,
    slack: SlackLookalike,
) -> dict[str, Any]:
    kube.kubeconfig(folder / "kubeconfig", token="bot")
    return {
        "clusters": [
            {
                "name": CLUSTER,
                "kubernetes": {"kubeconfig": str(folder / "kubeconfig"), "stale_after": "3s"},
                "prometheus": {"url": prometheus.url, "timeout": "1s", "stale_after": "1h"},
                "elasticsearch": {"url": elastic.url, "timeout": "1s", "lag": "0s"},
            }
        ],
        "store": {"url": new_store(folder)},
        "slack": {
            "bot_token": slack.bot_token,
            "app_token": slack.app_token,
            "api_url": slack.url,
            "channel": slack.id(CHANNEL),
        },
        "http": {
            "listen": "127.0.0.1:0",
            "auth": {"tokens": [{"actor": "ci", "token": TOKEN, "teams": ["sre"]}]},
        },
        "teams": {
            "sre": {"slack_groups": [slack.id("sre")], "commands": ["*"]},
            "vision": {"slack_groups": [slack.id("vision")], "commands": ["training *"]},
        },
        "rules": {
            "packs": [],
            "files": [str(folder / "story.yaml"), str(folder / "story.yard.yaml")],
            "interval": "500ms",
        },
    }
