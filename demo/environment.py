"""The demo's environment: the world, look-alikes or real servers, a real Prometheus, and the bot."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from bot.settings.loading import read_settings
from bot.wiring import Yardmaster, build
from collectors.facts.clock import format_duration as written_span
from collectors.facts.results import Blind
from demo.alert_sender import AlertSender, SentAlert
from demo.faster_rules import write_packs
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.lookalikes.kubernetes import KubernetesLookalike, User
from demo.lookalikes.kubernetes import Settings as ControllerSettings
from demo.lookalikes.slack import Options, Person, SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from demo.parts.prometheus import PrometheusServer, import_openmetrics
from demo.scenario import Fault
from demo.side_tasks import beside
from demo.world.kube.api import Access
from demo.world.layout import Layout
from demo.world.world import Settings as WorldSettings
from demo.world.world import World

CLUSTER = "prod-a"
SCRAPE_EVERY = timedelta(seconds=2)
FACTOR = 1 / 30  # of the rules' durations: a minute becomes two seconds
NODE_GRACE = timedelta(seconds=16)  # kubelets renew their leases every 10 s
BOT = "system:serviceaccount:yardmaster:yardmaster"
STORM_FROM = 4  # nodes: all of a rack
SENDER_TOKEN = "power-monitoring-of-the-demo"

PEOPLE = (
    Person(name="dana", title="sre, on call"),
    Person(name="eli", title="sre"),
    Person(name="ana", title="vision, trains detr"),
    Person(name="mei", title="vision"),
    Person(name="bo", title="speech"),
    Person(name="chen", title="reco"),
    Person(name="gus", guest=True),
)
GROUPS = {"sre": ("dana", "eli"), "vision": ("ana", "mei"), "speech": ("bo",), "reco": ("chen",)}
CHANNELS = ("#gpu-alerts", "#vision", "#speech", "#reco")
TOPICS = {
    "#gpu-alerts": "Incidents of the cluster prod-a, one card each",
    **{f"#{team}": f"Trainings of team {team}" for team in ("vision", "speech", "reco")},
}
WELCOME = (
    "You are *{me}*, in front of a simulated GPU cluster in which things break by themselves.",
    "*1.* Wait for a card in *#gpu-alerts* and press its first button. *2.* Type `/yard help`, or `/yard node list`. "
    "*3.* Open *yardmaster* under _Apps_, then _Home_. Be somebody else at the top right.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAccess:
    """An existing control plane: its address, an admin's token for the world, a kubeconfig for the bot."""

    url: str
    token: str
    ca_file: Path | None
    kubeconfig: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentOptions:
    """What to start. Without `cluster` and `elasticsearch_url` the look-alikes are used."""

    folder: Path
    layout: Layout | None = None  # of the simulated cluster, if it is not the demo's own
    cluster: ClusterAccess | None = None
    elasticsearch_url: str = ""
    slack_port: int = 0
    past: timedelta = timedelta(hours=2)
    factor: float = FACTOR
    ends: float = FACTOR  # of the durations for which an alert stands after its fault
    rules_every: timedelta = timedelta(seconds=1)
    strict_slack: bool = True
    idle_after: timedelta = timedelta(minutes=10)  # a scenario in which a training waits is shorter
    # Faults that hold in the simulated history.
    initial_faults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)  # merged over the bot's settings


@dataclass(slots=True, kw_only=True)
class Environment:
    """The running parts. A look-alike is None where a real server takes its place."""

    options: EnvironmentOptions
    world: World
    slack: SlackLookalike
    prometheus: PrometheusServer
    yard: Yardmaster
    kubernetes: KubernetesLookalike | None
    elasticsearch: ElasticsearchLookalike | None
    settings_file: Path
    sender: AlertSender

    def start_fault(self, fault: Fault) -> None:
        """Start a scenario's fault: `prometheus` stops the real server, `sent_alerts` are those of another program;
        any other name is a fault of the world."""
        if fault.fault == "prometheus":
            self.prometheus.stop()
        elif fault.fault == "sent_alerts":
            self.sender.start(SentAlert(**fault.parameters))
        else:
            self.world.faults.start(fault.fault, **fault.parameters)

    def end_fault(self, name: str) -> None:
        """End a fault if it is active."""
        if name == "prometheus":
            if not self.prometheus.is_running:
                self.prometheus.start()
        elif name == "sent_alerts":
            self.sender.end()
        elif any(running.name == name for running in self.world.faults.running):
            self.world.faults.end(name)


@asynccontextmanager
async def start_environment(options: EnvironmentOptions) -> AsyncIterator[Environment]:
    """Start everything; leaving the block stops it. Raises MissingPartError when Prometheus is not installed."""
    options.folder.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        worlds: list[World] = []
        kubernetes, cluster = await _kubernetes(options, stack, worlds)
        elasticsearch, address = await _elasticsearch(options, stack)
        slack = await stack.enter_async_context(
            SlackLookalike.running(
                Members(people=PEOPLE, channels=CHANNELS, usergroups=GROUPS, topics=TOPICS),
                options=Options(strict_rates=options.strict_slack, welcome=WELCOME),
                port=options.slack_port,
            )
        )
        samples = options.folder / "past.om"
        world = await stack.enter_async_context(
            World(
                WorldSettings(
                    access=Access(url=cluster.url, token=cluster.token, ca_file=cluster.ca_file),
                    elasticsearch_url=address,
                    past=options.past,
                    layout=options.layout,
                    samples=samples,
                    count_window=timedelta(minutes=5) * options.factor,
                    initial_faults=options.initial_faults,
                )
            )
        )
        worlds.append(world)
        await stack.enter_async_context(beside(world.run(), "world"))
        await world.ready.wait()
        data = options.folder / "prometheus"
        data.mkdir(exist_ok=True)
        prometheus = PrometheusServer(config=world.prometheus_config(every=SCRAPE_EVERY), folder=data)
        file = options.folder / "yardmaster.yaml"
        written = bot_settings(options, cluster, address, slack, prometheus.url)
        file.write_text(yaml.safe_dump(written, sort_keys=False, allow_unicode=True), encoding="utf-8")
        # The bot is built while another process imports the history.
        importing = asyncio.get_running_loop().run_in_executor(None, import_openmetrics, samples, data)
        try:
            yard = await stack.enter_async_context(build(read_settings(file)))
        finally:
            await importing
        await stack.enter_async_context(prometheus)
        await stack.enter_async_context(beside(yard.run(), "yardmaster"))
        await slack.connected()
        while isinstance(yard.clusters[CLUSTER].refresh(), Blind):  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.1)
        sender = AlertSender(
            address=lambda: yard.server.address, token=SENDER_TOKEN, now=slack.workspace.clock.now
        )
        await stack.enter_async_context(beside(sender.run(), "sender of alerts"))
        yield Environment(
            options=options,
            world=world,
            slack=slack,
            prometheus=prometheus,
            yard=yard,
            kubernetes=kubernetes,
            elasticsearch=elasticsearch,
            settings_file=file,
            sender=sender,
        )


async def _kubernetes(
    options: EnvironmentOptions, stack: AsyncExitStack, worlds: list[World]
) -> tuple[KubernetesLookalike | None, ClusterAccess]:
    if options.cluster is not None:
        return None, options.cluster

    def logs(*args: Any, **more: Any) -> bytes | None:
        return worlds[0].logs(*args, **more) if worlds else None

    kube = await stack.enter_async_context(
        KubernetesLookalike.running(
            tokens={"bot": User(BOT, ("system:masters",))},
            logs=logs,
            settings=ControllerSettings(node_grace=NODE_GRACE),
        )
    )
    kubeconfig = options.folder / "kubeconfig"
    kube.kubeconfig(kubeconfig, token="bot")
    return kube, ClusterAccess(url=kube.url, token=kube.admin_token, ca_file=None, kubeconfig=kubeconfig)


async def _elasticsearch(
    options: EnvironmentOptions, stack: AsyncExitStack
) -> tuple[ElasticsearchLookalike | None, str]:
    if options.elasticsearch_url:
        return None, options.elasticsearch_url
    server = await stack.enter_async_context(ElasticsearchLookalike.running())
    return server, server.url


def bot_settings(
    options: EnvironmentOptions, cluster: ClusterAccess, logs: str, slack: SlackLookalike, prometheus: str
) -> dict[str, Any]:
    """The bot's settings, as an operator would write them."""
    for name, value in (("bot", slack.bot_token), ("app", slack.app_token)):
        path = options.folder / f"{name}.token"
        path.touch(mode=0o600)
        path.write_text(value, encoding="utf-8")
    rules = write_packs(options.folder / "rules", options.factor, options.ends)
    owners = {str(name): slack.id(str(name)) for group in GROUPS.values() for name in group}
    trainings = ["training *", "gpu *", "alert *", "plan *"]
    written: dict[str, Any] = {
        "clusters": [
            {
                "name": CLUSTER,
                "kubernetes": {"kubeconfig": str(cluster.kubeconfig)},
                "prometheus": {"url": prometheus, "stale_after": "20s"},
                "elasticsearch": {"url": logs, "index": "logs-*", "lag": "2s"},
                "links": {"graph": f"{prometheus}/graph?g0.expr={{query}}&g0.range_input=1h&g0.tab=0"},
            }
        ],
        "store": {"url": f"sqlite+aiosqlite:///{options.folder / 'yard.db'}"},
        "slack": {
            "bot_token_file": str(options.folder / "bot.token"),
            "app_token_file": str(options.folder / "app.token"),
            "api_url": slack.url,
            "channel": slack.id("#gpu-alerts"),
        },
        "http": {
            "listen": "127.0.0.1:0",
            "auth": {"tokens": [{"actor": "power-monitoring", "token": SENDER_TOKEN}]},
        },
        "incidents": {"storm_from": STORM_FROM},
        "routes": [
            {
                "match": f'team="{team}", alertname=~"GPUIdle|Training.*"',
                "channels": [f"slack:{slack.id(f'#{team}')}"],
            }
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
        "rules": {
            "packs": [],
            "files": [str(path) for path in rules],
            "interval": written_span(options.rules_every),
        },
        "commands": {"idle_after": written_span(options.idle_after), "reclaim_grace": "5m", "owners": owners},
    }
    return {**written, **options.more}


async def describe_state(environment: Environment) -> str:
    """Describe the bot's alerts and incidents next to the world's actual state, for failure messages."""
    async with environment.yard.store.unit() as unit:
        alerts = [
            alert for state in ("pending", "firing") for alert in await unit.rows(Alert).find(state=state)
        ]
        incidents = await unit.rows(Incident).find(state="open")
    active = [f"{alert.name} {alert.life.state.value} of {alert.subject}" for alert in alerts]
    open_ = [f"{one.group_key} ({', '.join(member.name for member in one.members)})" for one in incidents]
    blind = dict(environment.yard.evaluators[CLUSTER].blind)
    return (
        f"incidents: {open_}; alerts: {active}; blind: {blind}; the world: {environment.world.ground_truth()}"
    )
