"""Plans that wait, and a process that is killed meanwhile: what each waits for, how that ends, and what is judged.

`WAITS` is a table: a gate that holds plans back, or asks somebody, is one more entry.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from alerts.cards.posted import CardKind, PostedCard
from bot.store.sql_store import SqlStore
from commands.execution.plan import Plan, PlanState
from commands.models import AuditEntry, ReclaimRequest, ReclaimState
from demo.lookalikes.slack.state.messages import Message
from tests.support.light import ready_node
from tests.support.light_stage import CHANNEL, Light

WAIT = 60.0  # seconds
MORNING_TO_MORNING = [{"times": [{"start_time": "00:00", "end_time": "24:00"}]}]


@dataclass(slots=True, kw_only=True)
class Waiting:
    """The stage, with the preview and the plan of each line."""

    stage: Light
    previews: dict[str, Message] = field(default_factory=dict)
    plans: dict[str, str] = field(default_factory=dict)

    async def propose(self, line: str) -> None:
        """Type a line as dana."""
        known = {one.ts for one in self.stage.slack.everything(CHANNEL)}
        private = {one.ts for one in self.stage.slack.ephemerals("dana")}
        await self.stage.slack.types("dana", CHANNEL, f"/yard {line}")

        def shown() -> Message | None:
            new = [one for one in self.stage.slack.ephemerals("dana") if one.ts not in private]
            new += [one for one in self.stage.slack.everything(CHANNEL) if one.ts not in known]
            return next((one for one in new if f"`{line}`" in one.said), None)

        self.previews[line] = await self.stage.slack.until(shown, WAIT)
        found = next(one for one in await self.rows(Plan) if one.line == line)
        self.plans[line] = found.id

    async def confirm(self, line: str, who: str = "dana") -> None:
        await self.stage.slack.presses(who, self.previews[line], "Confirm")

    async def plan(self, line: str) -> Plan:
        found: Plan = next(one for one in await self.rows(Plan) if one.id == self.plans[line])
        return found

    async def is_in(self, line: str, state: PlanState) -> bool:
        return (await self.plan(line)).state is state

    async def rows(self, row: type[Any]) -> list[Any]:
        """Return what is stored, whatever process runs."""
        store = SqlStore.to_read(self.stage.settings["store"]["url"])
        try:
            async with store.read() as snapshot:
                return list(await snapshot.rows(row).find(limit=10_000))
        finally:
            await store.close()


Act = Callable[[Waiting], Awaitable[None]]


async def _nothing(_waiting: Waiting) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One thing that plans wait for.

    `settings` it needs, and `after` it, what they are when it has ended. `begins`: what dana does until her line waits.
    `meanwhile`: what happens while it waits, and does not end that. `ends`: what happens in the world then. `state`: of
    the plan meanwhile. `writes`: the writes of its plan that are no dry runs, as method and the end of the path.
    """

    line: str
    state: PlanState
    writes: tuple[tuple[str, str], ...]
    begins: Act
    ends: Act
    meanwhile: Act = _nothing  # what happens once it waits
    before: str = ""  # a line that is done first
    settings: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)


async def _fills_the_budget(waiting: Waiting) -> None:
    waiting.stage.kube.patch("nodes", "", "gpu-a02", {"spec": {"unschedulable": True}})


async def _frees_the_budget(waiting: Waiting) -> None:
    waiting.stage.kube.patch("nodes", "", "gpu-a02", {"spec": {"unschedulable": None}})


async def _trains(waiting: Waiting, name: str, node: str, *, gpus: int = 8, owner: str = "") -> None:
    """Start a training on a node, and wait until the bot sees it run."""
    rack = f"rack-{node.partition('-')[2][0]}"
    spec = {"nodeSelector": {"topology.kubernetes.io/rack": rack}, "restartPolicy": "Never"}
    limits = {"limits": {"nvidia.com/gpu": str(gpus)}}
    labels = {"training": name, "owner": owner} if owner else {}
    template = {
        "metadata": {"labels": labels},
        "spec": {**spec, "containers": [{"name": "main", "image": "train:1", "resources": limits}]},
    }
    job = {"metadata": {"name": name, "labels": labels}, "spec": {"template": template}}
    waiting.stage.kube.create({"apiVersion": "batch/v1", "kind": "Job", **job}, namespace="default")

    def pods() -> list[Any]:
        found = waiting.stage.kube.list("pods")
        return [
            one
            for one in found
            if one["metadata"]["name"].startswith(f"{name}-") and one["spec"].get("nodeName")
        ]

    (pod,) = await waiting.stage.until(pods)
    running = {"status": {"phase": "Running"}}
    waiting.stage.kube.patch("pods", "default", pod["metadata"]["name"], running, status=True)

    async def is_seen() -> bool:
        return f"default/{name}" in (await waiting.stage.asks("dana", f"node show {node}")).said

    await until(is_seen, "the bot does not see the training")


async def _trains_on_b01(waiting: Waiting) -> None:
    await _trains(waiting, "detr", "gpu-b01")


async def _train_on_d01(waiting: Waiting) -> None:
    for owner, name in OWNERS.items():
        await _trains(waiting, name, "gpu-d01", gpus=4, owner=owner)


async def _lets_go_on(waiting: Waiting, owner: str) -> None:
    """Press the owner's answer on the card of their request."""
    card = await waiting.stage.card(f"may `default/{OWNERS[owner]}` be ended?")
    await waiting.stage.slack.presses(owner, card, "Go on")
    await waiting.stage.slack.until(lambda: waiting.stage.slack.envelopes[-1].acked, WAIT)


async def _ana_agrees(waiting: Waiting) -> None:
    await _lets_go_on(waiting, "ana")

    async def is_stored() -> bool:
        requests: list[ReclaimRequest] = await waiting.rows(ReclaimRequest)
        return any(one.owner == "ana" and one.state is ReclaimState.AGREED for one in requests)

    await until(is_stored, "the answer of ana is not stored")


async def _pat_agrees(waiting: Waiting) -> None:
    await _lets_go_on(waiting, "pat")


async def _eli_confirms(waiting: Waiting) -> None:
    await waiting.confirm(DRAIN, "eli")
    await waiting.stage.slack.until(lambda: waiting.stage.slack.envelopes[-1].acked, WAIT)


CORDON, UNCORDON, DRAIN = "node cordon gpu-a01", "node uncordon gpu-c01", "node drain gpu-b01"
ASKING = "node drain gpu-d01 --ask-owners"
OWNERS = {"ana": "bert", "pat": "vit"}  # and their trainings

WAITS: Mapping[str, Wait] = {
    "a budget": Wait(
        line=CORDON,
        state=PlanState.WAITING,
        writes=(("PATCH", "/nodes/gpu-a01"),),
        settings={"budgets": [{"scope": "rack", "of": "rack-a", "out_of_service": 1}]},
        begins=_fills_the_budget,
        ends=_frees_the_budget,
    ),
    "a window": Wait(
        line=UNCORDON,
        before="node cordon gpu-c01",
        state=PlanState.WAITING,
        writes=(("PATCH", "/nodes/gpu-c01"),),
        settings={
            "time_intervals": {"always": MORNING_TO_MORNING},
            "windows": {"freeze": {"time_intervals": ["always"], "people_wait_with": ["node uncordon"]}},
        },
        after={"windows": {}},
        begins=_nothing,
        ends=_nothing,
    ),
    "a second person": Wait(
        line=DRAIN,
        state=PlanState.PROPOSED,
        writes=(("PATCH", "/nodes/gpu-b01"), ("POST", "/pods/detr-*/eviction")),
        begins=_trains_on_b01,
        ends=_eli_confirms,
    ),
    "two owners, of whom one has answered": Wait(
        line=ASKING,
        state=PlanState.WAITING,
        writes=(
            ("PATCH", "/nodes/gpu-d01"),
            ("POST", "/pods/bert-*/eviction"),
            ("POST", "/pods/vit-*/eviction"),
        ),
        begins=_train_on_d01,
        meanwhile=_ana_agrees,
        ends=_pat_agrees,
    ),
}


@asynccontextmanager
async def waiting_on(stage: Light) -> AsyncGenerator[Waiting]:
    """`stage` must not run a bot of its own."""
    ready_node(stage.kube, "gpu-c01")
    ready_node(stage.kube, "gpu-d01")
    people = {name: f"slack:{stage.slack.id(name)}" for name in OWNERS}
    stage.settings["commands"] = {**stage.settings.get("commands", {}), "owners": people}
    for wait in WAITS.values():
        stage.settings.update(wait.settings)
    stage.write_settings()
    yield Waiting(stage=stage)


async def begin(waiting: Waiting) -> None:
    """Bring each line to where it waits. A process runs."""
    for wait in WAITS.values():
        if wait.before:
            await waiting.propose(wait.before)
            await waiting.confirm(wait.before)
            await _until(waiting, wait.before, PlanState.DONE)
        await wait.begins(waiting)
        await waiting.propose(wait.line)
        if wait.state is PlanState.WAITING:
            await waiting.confirm(wait.line)
        await _until(waiting, wait.line, wait.state)
        await wait.meanwhile(waiting)


async def _until(waiting: Waiting, line: str, state: PlanState) -> None:
    async def is_in() -> bool:
        return await waiting.is_in(line, state)

    await until(is_in, f"{line} is not {state.value}")


async def until(holds: Callable[[], Awaitable[bool]], otherwise: str) -> None:
    try:
        async with asyncio.timeout(WAIT):
            while not await holds():  # noqa: ASYNC110 - rows of another process are looked at
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(otherwise) from None


async def still_wait(waiting: Waiting) -> list[str]:
    """Return which of the plans no longer waits."""
    return [name for name, one in WAITS.items() if not await waiting.is_in(one.line, one.state)]


async def end(waiting: Waiting) -> None:
    """End what they wait for; the settings are read by the next process."""
    for wait in WAITS.values():
        waiting.stage.settings.update(wait.after)
    waiting.stage.write_settings()
    for wait in WAITS.values():
        await wait.ends(waiting)


async def all_done(waiting: Waiting) -> None:
    """Wait until all is done. What was evicted ends, as its kubelet would see to."""

    async def are_done() -> bool:
        for pod in waiting.stage.kube.list("pods"):
            if pod["metadata"].get("deletionTimestamp"):
                waiting.stage.kube.delete("pods", "default", pod["metadata"]["name"], grace=0)
        return all([await waiting.is_in(one.line, PlanState.DONE) for one in WAITS.values()])

    try:
        await until(are_done, "not all is done")
    except AssertionError:
        states = {one.line: (one.state.value, one.held, one.error) for one in await waiting.rows(Plan)}
        raise AssertionError(f"not all is done: {states}") from None


async def faults(waiting: Waiting) -> list[str]:
    """Return what was not done just once, or was said twice. No process runs."""
    entries = await waiting.rows(AuditEntry)
    cards = await waiting.rows(PostedCard)
    lines = [*(one.line for one in WAITS.values()), *(one.before for one in WAITS.values() if one.before)]
    plans = await waiting.rows(Plan)
    found = [f"{len(plans)} plans of {len(lines)} lines"] if len(plans) != len(lines) else []
    done_before = {one.before.split()[-1] for one in WAITS.values() if one.before}
    for name, wait in WAITS.items():
        plan = await waiting.plan(wait.line)
        said = [entry.what for entry in entries if entry.plan == plan.id]
        wanted = ["held"] if wait.state is PlanState.WAITING else []
        found += [
            f"{name}: {what} is {said.count(what)} times in the audit"
            for what in (*wanted, "confirmed", "done")
            if said.count(what) != 1
        ]
        for method, path in wait.writes:
            sent = [one for one in waiting.stage.writes("") if not _is_dry_run_of_eviction(one.body)]
            count = sum(one.method == method and fnmatchcase(one.path, f"*{path}") for one in sent)
            expected = 2 if path.rpartition("/")[2] in done_before else 1
            if count != expected:
                found.append(f"{name}: {count} times {method} {path}")
        posted = [one for one in cards if (one.kind, one.row_id) == (CardKind.PLAN, plan.id)]
        if len(posted) != 1:
            found.append(f"{name}: {len(posted)} cards")
    return found


def _is_dry_run_of_eviction(body: Any) -> bool:
    """Whether it is one: an eviction says so in its body."""
    return isinstance(body, dict) and bool((body.get("deleteOptions") or {}).get("dryRun"))
