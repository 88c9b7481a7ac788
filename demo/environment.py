"""This file sets the stage: the look-alikes or the real parts, the world, a real Prometheus, and the bot itself."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from bot.settings.loading import read_settings
from bot.wiring import Yardmaster, build
from collectors.facts.clock import written as written_span
from demo.faster_rules import write_packs
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.lookalikes.kubernetes import KubernetesLookalike, User
from demo.lookalikes.kubernetes import Settings as ControllerSettings
from demo.lookalikes.slack import Options, Person, SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from demo.parts.prometheus import PrometheusServer, import_openmetrics
from demo.scenario import Fault
from demo.world.kube.api import Access
from demo.world.world import Settings as WorldSettings
from demo.world.world import World

CLUSTER = "prod-a"
SCRAPE_EVERY = timedelta(seconds=2)
FACTOR = 1 / 30  # how long the rules' minutes are, in the demo: two seconds
NODE_GRACE = timedelta(seconds=16)  # kubelets beat every ten
BOT = "system:serviceaccount:yardmaster:yardmaster"

PEOPLE = ("dana", "eli", "ana", "mei", "bo", "chen", Person(name="gus", guest=True))
GROUPS = {"sre": ("dana", "eli"), "vision": ("ana", "mei"), "speech": ("bo",), "reco": ("chen",)}
CHANNELS = ("#gpu-alerts", "#vision", "#speech", "#reco")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAccess:
    """A control plane that is there already: its address, an admin's token for the world, a kubeconfig for the bot."""

    url: str
    token: str
    ca_file: Path | None
    kubeconfig: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentOptions:
    """What to set up. Without `cluster` and `elasticsearch_url` the look-alikes are used."""

    folder: Path
    cluster: ClusterAccess | None = None
    elasticsearch_url: str = ""
    slack_port: int = 0
    past: timedelta = timedelta(hours=2)
    factor: float = FACTOR
    strict_slack: bool = True
    idle_after: timedelta = timedelta(minutes=3)  # pods of a real control plane have no past
    begins_with: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict
    )  # the world's faults of the past
    more: Mapping[str, Any] = field(default_factory=dict)  # on top of the bot's settings


@dataclass(slots=True, kw_only=True)
class Environment:
    """What is on the stage. The look-alikes are None where a real part stands in their place."""

    options: EnvironmentOptions
    world: World
    slack: SlackLookalike
    prometheus: PrometheusServer
    yard: Yardmaster
    kubernetes: KubernetesLookalike | None
    elasticsearch: ElasticsearchLookalike | None
    settings_file: Path

    def break_it(self, fault: Fault) -> None:
        """Begin a fault of a scenario: `prometheus` stops the real one, any other is the world's."""
        if fault.fault == "prometheus":
            self.prometheus.stop()
        else:
            self.world.faults.start(fault.fault, **fault.parameters)

    def mend(self, name: str) -> None:
        """End a fault, if it still is one."""
        if name == "prometheus":
            if not self.prometheus.is_running:
                self.prometheus.start()
        elif any(running.name == name for running in self.world.faults.running):
            self.world.faults.end(name)


@asynccontextmanager
async def start_environment(plan: EnvironmentOptions) -> AsyncIterator[Environment]:
    """Everything, running; leaving takes it down. Raises MissingPartError when there is no Prometheus."""
    plan.folder.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        late: list[World] = []
        kubernetes, cluster = await _kubernetes(plan, stack, late)
        elasticsearch, address = await _elasticsearch(plan, stack)
        slack = await stack.enter_async_context(
            SlackLookalike.running(
                Members(people=PEOPLE, channels=CHANNELS, usergroups=GROUPS),
                options=Options(strict_rates=plan.strict_slack),
                port=plan.slack_port,
            )
        )
        samples = plan.folder / "past.om"
        world = await stack.enter_async_context(
            World(
                WorldSettings(
                    access=Access(url=cluster.url, token=cluster.token, ca_file=cluster.ca_file),
                    elasticsearch_url=address,
                    past=plan.past,
                    samples=samples,
                    count_window=timedelta(minutes=5) * plan.factor,
                    begins_with=plan.begins_with,
                )
            )
        )
        late.append(world)
        await stack.enter_async_context(_alive(world.run(), "world"))
        await world.ready.wait()
        data = plan.folder / "prometheus"
        data.mkdir(exist_ok=True)
        await asyncio.to_thread(import_openmetrics, samples, data)
        prometheus = await stack.enter_async_context(
            PrometheusServer(config=world.prometheus_config(every=SCRAPE_EVERY), folder=data)
        )
        file = plan.folder / "yardmaster.yaml"
        written = _settings(plan, cluster, address, slack, prometheus.url)
        file.write_text(yaml.safe_dump(written, sort_keys=False, allow_unicode=True), encoding="utf-8")
        yard = await stack.enter_async_context(build(read_settings(file)))
        await stack.enter_async_context(_alive(yard.run(), "yardmaster"))
        await slack.connected()
        yield Environment(
            options=plan,
            world=world,
            slack=slack,
            prometheus=prometheus,
            yard=yard,
            kubernetes=kubernetes,
            elasticsearch=elasticsearch,
            settings_file=file,
        )


@asynccontextmanager
async def _alive(work: Coroutine[Any, Any, None], name: str) -> AsyncIterator[None]:
    """Run something for the length of the block; when it fails, so does the block."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(work, name=name)
        try:
            yield
        finally:
            task.cancel()


async def _kubernetes(
    plan: EnvironmentOptions, stack: AsyncExitStack, late: list[World]
) -> tuple[KubernetesLookalike | None, ClusterAccess]:
    if plan.cluster is not None:
        return None, plan.cluster

    def logs(*args: Any, **more: Any) -> bytes | None:
        return late[0].logs(*args, **more) if late else None

    kube = await stack.enter_async_context(
        KubernetesLookalike.running(
            tokens={"bot": User(BOT, ("system:masters",))},
            logs=logs,
            settings=ControllerSettings(node_grace=NODE_GRACE),
        )
    )
    kubeconfig = plan.folder / "kubeconfig"
    kube.kubeconfig(kubeconfig, token="bot")
    return kube, ClusterAccess(url=kube.url, token=kube.admin_token, ca_file=None, kubeconfig=kubeconfig)


async def _elasticsearch(
    plan: EnvironmentOptions, stack: AsyncExitStack
) -> tuple[ElasticsearchLookalike | None, str]:
    if plan.elasticsearch_url:
        return None, plan.elasticsearch_url
    found = await stack.enter_async_context(ElasticsearchLookalike.running())
    return found, found.url


def _settings(
    plan: EnvironmentOptions, cluster: ClusterAccess, logs: str, slack: SlackLookalike, prometheus: str
) -> dict[str, Any]:
    """The bot's settings, as a site would write them."""
    for name, value in (("bot", slack.bot_token), ("app", slack.app_token)):
        path = plan.folder / f"{name}.token"
        path.touch(mode=0o600)
        path.write_text(value, encoding="utf-8")
    rules = write_packs(plan.folder / "rules", plan.factor)
    owners = {str(name): slack.id(str(name)) for group in GROUPS.values() for name in group}
    trainings = ["training *", "gpu *", "alert *", "plan *"]
    written: dict[str, Any] = {
        "clusters": [
            {
                "name": CLUSTER,
                "kubernetes": {"kubeconfig": str(cluster.kubeconfig)},
                "prometheus": {"url": prometheus, "stale_after": "20s"},
                "elasticsearch": {"url": logs, "index": "logs-*", "lag": "2s"},
            }
        ],
        "store": {"url": f"sqlite+aiosqlite:///{plan.folder / 'yard.db'}"},
        "slack": {
            "bot_token_file": str(plan.folder / "bot.token"),
            "app_token_file": str(plan.folder / "app.token"),
            "api_url": slack.url,
            "channel": slack.id("#gpu-alerts"),
        },
        "http": {"listen": "127.0.0.1:0"},
        "routes": [
            {"match": f'team="{team}", alertname=~"GPUIdle|Training.*"', "channels": [slack.id(f"#{team}")]}
            for team in ("vision", "speech", "reco")
        ],
        "teams": {
            "sre": {"slack_groups": [slack.id("sre")], "commands": ["*"]},
            **{
                team: {"slack_groups": [slack.id(team)], "commands": trainings, "namespaces": [f"{team}-*"]}
                for team in ("vision", "speech", "reco")
            },
        },
        "automation": {"reclaim": {"commands": ["gpu settle"]}},
        "rules": {"packs": [], "files": [str(path) for path in rules], "interval": "2s"},
        "commands": {"idle_after": written_span(plan.idle_after), "reclaim_grace": "5m", "owners": owners},
    }
    return {**written, **plan.more}


async def describe_state(environment: Environment) -> str:
    """What the bot knows at this moment, beside the truth of the world."""
    async with environment.yard.store.unit() as unit:
        alerts = [alert for state in ("pending", "firing") for alert in await unit.alerts.find(state=state)]
        incidents = await unit.incidents.find(state="open")
    known = [f"{alert.name} {alert.life.state.value} of {alert.subject}" for alert in alerts]
    told = [f"{one.group_key} ({', '.join(member.name for member in one.members)})" for one in incidents]
    blind = dict(environment.yard.evaluators[CLUSTER].blind)
    return f"incidents: {told}; alerts: {known}; blind: {blind}; the world: {environment.world.truth()}"
