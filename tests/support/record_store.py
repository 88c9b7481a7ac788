"""A recording of a store: an hour of the demo's world in five minutes, with lines of people, a token and automation.

    python -m tests.support.record_store tests/recordings/stores/RELEASE

It needs Prometheus and promtool, and writes three files: RELEASE.db.gz is the store; RELEASE.json.gz is what it shows,
as the program that wrote it says; RELEASE.world.json.gz is the cluster's objects and Slack's messages beside it.
`tests/recordings/stores/README.md` says what it is for.
"""

import argparse
import asyncio
import gzip
import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
import structlog

from bot.channels.interaction import Interaction
from bot.store.sql_store import SqlStore
from commands.execution.plan import Plan, PlanState
from demo.environment import CLUSTER, FACTOR, GROUPS, Environment, EnvironmentOptions, start_environment
from demo.faster_rules import write_packs
from demo.lookalikes.slack import Message
from demo.scenario import Fault
from tests.support.custom_kinds import RULE_OBJECTS
from tests.support.shown_rows import shown_rows

ALERTS, VISION, SPEECH = "#gpu-alerts", "#vision", "#speech"
TOKEN = "a-token-of-the-recording"
WAIT = timedelta(minutes=7)
SKIPPED_KINDS = frozenset({"Event", "Lease"})  # nothing of a card or command is read from them
THEIRS = {
    "apiVersion": "monitoring.coreos.com/v1",
    "kind": "PrometheusRule",
    "metadata": {"namespace": "monitoring", "name": "team-rules"},
    "spec": {
        "groups": [
            {
                "name": "disks",
                "interval": "2s",
                "rules": [
                    {
                        "alert": "NodeRootDiskWatched",
                        "expr": 'kube_node_status_condition{node=~"gpu-b0[14]",condition="Ready",status="true"} > 0',
                        "labels": {"severity": "warning"},
                        "annotations": {
                            "summary": "The root file system of {{ $labels.node }} is watched.",
                            "actions": 'node cordon {node} --reason "disk"',
                        },
                    }
                ],
            }
        ]
    },
}


async def record(target: Path) -> None:
    """Run the demo's environment through a day's work, stop the bot, and write the three files."""
    with TemporaryDirectory(prefix="yardmaster-record-") as name:
        folder = Path(name)
        structlog.configure(logger_factory=structlog.WriteLoggerFactory((folder / "bot.log").open("w")))
        rules = write_packs(folder / "rules", FACTOR)
        more = {
            "rules": {"packs": [], "files": [str(path) for path in rules], "interval": "1s", "objects": True},
            "http": {
                "listen": "127.0.0.1:0",
                "auth": {"tokens": [{"actor": "ci", "token": TOKEN, "teams": ["sre"]}]},
            },
        }
        options = EnvironmentOptions(
            folder=folder,
            strict_slack=False,
            idle_after=timedelta(seconds=40),
            initial_faults={"idle": {"training": "speech-tts"}},
            more=more,
        )
        async with start_environment(options) as environment:
            await _Day(environment).live()
            await _stop(environment)
            at = datetime.now(UTC)  # noqa: TID251 - the recording's own time
            await _write(environment, folder, target, at)


class _Day:
    """What people, a token and automation do, and what breaks meanwhile."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._slack = environment.slack

    async def live(self) -> None:
        kube = self._environment.kubernetes
        assert kube is not None
        kube.create(RULE_OBJECTS)
        kube.create(THEIRS)
        for fault, parameters in (
            ("cooling", {"node": "gpu-b03", "fans": 0.1}),
            ("xid", {"node": "gpu-a02", "gpu": 3}),
            ("kubelet_silent", {"node": "gpu-c02"}),
            ("memory_leak", {"node": "gpu-b02", "minutes": 0.5, "share": 0.95}),
        ):
            self._environment.start_fault(Fault(fault=fault, parameters=parameters))
        await self._work_on_speech()
        await self._work_on_nodes()
        await self._launch()
        await self._by_token()
        await self._ends_one()
        await self._leaves_open()
        await self._until("an incident of a rule of the cluster's objects", lambda: self._card("is watched"))
        await self._until("automation's answer", self._is_settled)

    async def _work_on_speech(self) -> None:
        """Two requests for idle GPUs: one that automation settles, and one that waits for an answer."""
        await self._until("a card of the idle GPUs", lambda: self._card("speech-tts", SPEECH))
        await self._do("dana", "gpu free speech-tts/tts --grace 5m --after 40s")
        self._environment.start_fault(Fault(fault="idle", parameters={"training": "reco-embed"}))

    async def _work_on_nodes(self) -> None:
        hot = await self._until("a card of gpu-b03", lambda: self._card("gpu-b03"))
        await self._do("dana", "node cordon gpu-b03 --reason fans")
        await self._say("dana", f"alert ack {await self._incident('node/gpu-b03')}")
        await self._say("dana", "the fans are ordered", thread=hot)
        await self._until("a card of gpu-c02", lambda: self._card("gpu-c02"))
        await self._do("eli", "node cordon gpu-c02 --reason kubelet --for 1d")
        number = await self._incident("node/gpu-c02")
        await self._say("eli", f"alert ack {number}")
        await self._say("eli", f"alert hand-over {number} @dana")
        await self._until("a card of gpu-a02", lambda: self._card("gpu-a02"))
        await self._say("dana", f"silence incident {await self._incident('node/gpu-a02')} --for 1d")
        await self._say(
            "eli", "silence add alertname=NodeRootDiskWatched node=gpu-b04 --for 2d --reason 'known'"
        )
        await self._say("ana", "node cordon gpu-a01")  # refused, and audited
        await self._say("ana", "ask -- node cordon gpu-a01 --reason 'slow'", where=VISION)

    async def _launch(self) -> None:
        line = (
            "training launch vision-mnist --image registry.local/train:1 --workers 1 --gpus 8 -- --epochs 3"
        )
        await self._do("ana", line, where=VISION)

    async def _by_token(self) -> None:
        answer = await self._post("node cordon gpu-d02 --reason 'firmware'")
        plan = await self._newest(answer)
        await self._post(f"plan confirm {plan.id} --hash {plan.hash}")
        await self._is_over(plan.id)
        await self._post("silence add alertname=ErrorLogBurst --for 1d --reason 'upgrade of the kubelets'")

    async def _ends_one(self) -> None:
        self._environment.end_fault("memory_leak")

    async def _leaves_open(self) -> None:
        line = "gpu free reco-embed/embed --grace 2h --after 40s"
        await self._until("idle GPUs of reco-embed", lambda: self._is_planned("dana", line))
        await self._do("dana", line)
        await self._propose("dana", "node cordon gpu-b02 --reason 'memory'")
        await self._propose("eli", "node uncordon gpu-c02")

    async def _is_planned(self, who: str, line: str) -> bool:
        await asyncio.sleep(3)
        return "plan" in (await self._say(who, line)).said

    async def _is_settled(self) -> bool:
        async with self._environment.yard.store.read() as snapshot:
            plans = await snapshot.rows(Plan).find()
        return any(plan.is_over for plan in plans if plan.command == "gpu settle")

    # How people act.

    async def _say(
        self, who: str, line: str, *, where: str = ALERTS, thread: Message | None = None
    ) -> Message:
        """Type a line and return its answer."""
        known = {message.ts for message in self._slack.ephemerals(who)}
        if thread is not None:
            await self._slack.types(who, where, line, thread_ts=thread.ts)
            return thread
        await self._slack.types(who, where, f"/yard {line}")
        answer: Message = await self._until(
            f"an answer to {line}",
            lambda: next((one for one in self._slack.ephemerals(who) if one.ts not in known), None),
        )
        return answer

    async def _propose(self, who: str, line: str, *, where: str = ALERTS) -> Plan:
        return await self._newest((await self._say(who, line, where=where)).said)

    async def _do(self, who: str, line: str, *, where: str = ALERTS) -> None:
        plan = await self._propose(who, line, where=where)
        await self._say(who, f"plan confirm {plan.id} --hash {plan.hash}", where=where)
        await self._is_over(plan.id)

    async def _is_over(self, id: str) -> None:
        async def look() -> bool:
            async with self._environment.yard.store.read() as snapshot:
                plan = await snapshot.rows(Plan).get(id)
            return plan is not None and plan.state is PlanState.DONE

        await self._until(f"the end of plan {id}", look)

    async def _newest(self, answer: str) -> Plan:
        found = re.findall(r"plan [`*]*(p\d+)", answer) or re.findall(r"\b(p\d+)\b", answer)
        assert found, f"the answer names no plan: {answer}"
        async with self._environment.yard.store.read() as snapshot:
            plan = await snapshot.rows(Plan).get(found[-1])
        assert plan is not None
        return plan

    async def _post(self, line: str) -> str:
        url = f"{self._environment.yard.server.address}/api/yard/lines"
        async with (
            aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session,
            session.post(url, json={"line": line}) as answer,
        ):
            return await answer.text()

    async def _incident(self, group_key: str) -> str:
        async with self._environment.yard.store.read() as snapshot:
            rows = (await shown_rows(snapshot))["incidents"]
        return next(str(one["id"]) for one in rows if one["group_key"] == group_key)

    def _card(self, words: str, where: str = ALERTS) -> Message | None:
        found = (one for one in self._slack.messages(where) if one.by_bot and words in one.said)
        return next(found, None)

    async def _until(self, what: str, look: Any) -> Any:
        try:
            async with asyncio.timeout(WAIT.total_seconds()):
                while True:
                    found = look()
                    if asyncio.iscoroutine(found):
                        found = await found
                    if found:
                        print("  ", what, flush=True)
                        return found
                    await asyncio.sleep(0.2)
        except TimeoutError:
            said = "\n---\n".join(self._slack.said(where) for where in (ALERTS, VISION, SPEECH))
            raise TimeoutError(f"no {what}; Slack says:\n{said}") from None


async def _stop(environment: Environment) -> None:
    """Stop the bot while a line waits to be handled, as a crash would."""
    slack, store = environment.slack, environment.yard.store
    await asyncio.sleep(3)  # the cards settle
    bot = next(task for task in asyncio.all_tasks() if task.get_name() == "yardmaster")
    seen = asyncio.Event()
    store.listen(lambda changed: seen.set() if "interactions" in changed else None)
    typing = asyncio.ensure_future(slack.types("dana", ALERTS, "/yard node show gpu-b03"))  # noqa: TID251
    await seen.wait()
    bot.cancel()
    await asyncio.wait((bot,))
    await asyncio.wait((typing,))
    if not typing.cancelled():
        typing.exception()
    async with store.read() as snapshot:
        assert await snapshot.rows(Interaction).find(), "the line was handled before the bot stopped"


async def _write(environment: Environment, folder: Path, target: Path, at: datetime) -> None:
    copy = folder / "copy.db"
    with (
        closing(sqlite3.connect(folder / "yard.db")) as source,
        closing(sqlite3.connect(copy)) as sink,
    ):
        source.backup(sink)
        sink.execute("PRAGMA journal_mode=DELETE")
        sink.execute("VACUUM")
    _check_clean(copy.read_bytes(), str(folder))
    store = SqlStore.to_read(f"sqlite+aiosqlite:///{copy}")
    async with store.read() as snapshot:
        rows = await shown_rows(snapshot)
    await store.close()
    world = {"at": at.isoformat(), "cluster": CLUSTER, **_world(environment)}
    _check_clean(json.dumps(world).encode(), str(folder))
    _compress(target, ".db.gz", copy.read_bytes())
    _compress(target, ".json.gz", json.dumps({"at": at.isoformat(), **rows}, indent=1).encode())
    _compress(target, ".world.json.gz", json.dumps(world).encode())
    with closing(sqlite3.connect(copy)) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"):
            print(f"{table:20}", *database.execute(f"SELECT count(*) FROM {table}").fetchone())


def _check_clean(content: bytes, folder: str) -> None:
    for text in (folder, TOKEN, "xoxb-", "xapp-", str(Path.cwd())):
        assert text.encode() not in content, f"the recording has {text}"


def _compress(target: Path, suffix: str, content: bytes) -> None:
    path = target.with_name(target.name + suffix)
    path.write_bytes(gzip.compress(content, 9, mtime=0))
    print(path, path.stat().st_size)


def _world(environment: Environment) -> dict[str, Any]:
    kube, slack = environment.kubernetes, environment.slack
    assert kube is not None
    objects = [
        {**stored.tree, "kind": kind.kind, "apiVersion": kind.api_version}
        for kind in kube.cluster.kinds
        if kind.kind not in SKIPPED_KINDS
        for stored in kube.cluster.store.all(kind)
    ]
    messages = [
        {"channel": message.channel, "body": message.body, "only_for": message.only_for}
        for channel in slack.workspace.directory.channels
        for message in slack.workspace.conversations.living(channel)
    ]
    members = {
        "people": [
            {"name": person.name, "guest": person.guest}
            for person in slack.workspace.directory.people.values()
            if not person.bot
        ],
        "channels": [
            f"#{one.name}" for one in slack.workspace.directory.channels.values() if not one.direct_with
        ],
        "groups": {name: list(people) for name, people in GROUPS.items()},
    }
    return {"objects": objects, "messages": messages, "members": members}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path, help="the folder and the name of the release, without an ending")
    asyncio.run(record(parser.parse_args().target))
