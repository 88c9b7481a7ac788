"""A secret of each kind, planted wherever text from outside comes in, is nowhere where it is read or kept."""

import io
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.light import CHANNEL, HOT, Light, light
from tests.support.log_documents import host_line, pod_line
from tests.support.own_log import own_log
from tests.support.rule_file import error_logs, rule, rule_file
from tests.support.secret_lines import SecretForm, secret_forms

RULES = rule_file("story", rule("Hot", "{{ $labels.node }} is hot: {{ $labels.note }}", expr=HOT))
OWN_RULES = rule_file(
    "own",
    error_logs(),
    rule("NotReady", "{{ $labels.node }} is not ready.", check="node-not-ready"),
)
ALERTS = "the table alerts"
POD = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "train:1"}]}


def one_of_each_family() -> list[SecretForm]:
    """Return the first form of each family that a command line can hold in quotes."""
    found: dict[str, SecretForm] = {}
    for form in secret_forms():
        if not set("\"'\\") & set(form.line) and len(form.line) < 200:
            found.setdefault(form.family, form)
    return list(found.values())


FORMS = one_of_each_family()


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What the process writes into its own log, configured as its command line does."""
    with own_log(monkeypatch) as written:
        yield written


async def test_no_planted_secret_is_read_or_kept_anywhere(tmp_path: Path, log: io.StringIO) -> None:
    assert len(FORMS) >= 15
    async with light(tmp_path, rules=RULES, own_rules=OWN_RULES) as stage:
        await plant_lines(stage)
        await plant_objects(stage)
        await plant_labels(stage)
        await ask_for_it_all(stage)
        await plant_words(stage)
        await plant_errors(stage)
        places = {
            "Slack": everything_sent(stage),
            "the log": log.getvalue(),
            "the metrics": await metrics_of(stage),
            **rows_of(tmp_path / "yard.db"),
        }
    assert "[redacted]" in places["Slack"]
    # An alert is exactly its labels, as in Prometheus: its rows keep them, and what shows them redacts them.
    assert {place: leaks(text) for place, text in places.items() if leaks(text) and place != ALERTS} == {}
    assert leaks(places[ALERTS])


async def plant_lines(stage: Light) -> None:
    """Into log lines of hosts and of a training's pod."""
    now = stage.clock.now()
    errors = [
        host_line(now, form.line, node=f"gpu-a0{1 + n % 2}", unit="kubelet", level="error", offset=n)
        for n, form in enumerate(FORMS)
    ]
    lines = [
        pod_line(now, form.line, node="gpu-a01", namespace="vision", pod="detr-0", container="main", offset=n)
        for n, form in enumerate(FORMS)
    ]
    await stage.elastic.index([*errors, *lines])


async def plant_objects(stage: Light) -> None:
    """Into conditions, events, annotations, and the failure of a training."""
    kube, joined = stage.kube, "; ".join(form.line for form in FORMS[:3])
    conditions = [{"type": "Ready", "status": "False", "reason": "Broken", "message": joined}]
    conditions += [
        {"type": f"Own{n}", "status": "True", "reason": "Own", "message": form.line}
        for n, form in enumerate(FORMS)
    ]
    kube.patch("nodes", "", "gpu-b01", {"status": {"conditions": conditions}}, status=True)
    notes = {"yardmaster.io/cordon-reason": joined, "yardmaster.io/owner": FORMS[0].line}
    kube.patch("nodes", "", "gpu-a02", {"metadata": {"annotations": notes}, "spec": {"unschedulable": True}})
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "vision"}})
    job = {"name": "detr", "namespace": "vision", "annotations": {"yardmaster.io/owner": FORMS[1].line}}
    kube.create(
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": job, "spec": {"template": {"spec": POD}}}
    )
    await stage.until(lambda: stage.kube.list("pods", "vision"))
    name = kube.list("pods", "vision")[0]["metadata"]["name"]
    end = {"exitCode": 1, "reason": "Error", "message": joined, "finishedAt": "2026-11-21T12:00:00Z"}
    failed = {
        "phase": "Failed",
        "message": FORMS[4].line,
        "containerStatuses": [{"name": "main", "restartCount": 0, "state": {"terminated": end}}],
    }
    kube.patch("pods", "vision", name, {"status": failed}, status=True)
    for n, form in enumerate(FORMS):
        about = {"kind": "Pod", "namespace": "vision", "name": name}
        kube.create(event(f"of-the-pod-{n}", about, form.line, stage.clock.now().isoformat()))
        about = {"kind": "Node", "namespace": "", "name": "gpu-a01"}
        kube.create(event(f"of-the-node-{n}", about, form.line, stage.clock.now().isoformat()))


def event(name: str, about: Mapping[str, str], message: str, at: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": about["namespace"] or "default"},
        "involvedObject": dict(about),
        "type": "Warning",
        "reason": "BackOff",
        "message": message,
        "count": 1,
        "lastTimestamp": at,
    }


async def plant_labels(stage: Light) -> None:
    """Into labels of series, which a summary shows."""
    series = [({"node": f"gpu-c{n:02}", "note": form.line}, 91.0) for n, form in enumerate(FORMS)]
    stage.prometheus.truth.say(HOT, *series, since=stage.clock.now())
    await stage.card("is hot")
    await stage.card("logs errors")
    await stage.card("is not ready")


async def ask_for_it_all(stage: Light) -> None:
    for line in (
        *("node show gpu-a01", "node show gpu-b01", "node show gpu-a02", "node list", "alert list"),
        *("incident list", "incident show i1", "alert why i1", "training list --all"),
        *("training show vision/detr", "training logs vision/detr", "rule list", "rule doctor"),
    ):
        await stage.asks("dana", line)


async def plant_words(stage: Light) -> None:
    """Into what people type: reasons, and lines that are none."""
    for form in FORMS[:3]:
        await stage.asks("dana", f"alert ack i1 {form.line}")
    for form in FORMS:
        await stage.asks("dana", f'silence add alertname=X --for 1h --reason "{form.line}"')
    reason = f"{FORMS[0].line}; {FORMS[1].line}"
    preview = await stage.asks("dana", f'node cordon gpu-a01 --reason "{reason}"')
    await stage.presses("dana", preview, "Confirm")
    await stage.plan_is("done")
    for line in ("silence list", "audit"):
        await stage.asks("dana", line)
    async with aiohttp.ClientSession() as session:
        address = f"{stage.yard.server.address}/api/yard/lines"
        token = {"Authorization": "Bearer a-token-that-nobody-guesses"}
        body = {"line": f'silence add alertname=Y --for 1h --reason "{reason}"'}
        async with session.post(address, json=body, headers=token) as answer:
            assert not leaks(await answer.text())


async def plant_errors(stage: Light) -> None:
    """Into what a source says of its own failure."""
    stage.prometheus.error = "; ".join(form.line for form in FORMS[:6])
    for trouble in ("warnings", "422"):
        await stage.prometheus.goes(trouble)
        await stage.next_rounds()
        await stage.asks("dana", "rule doctor")
    await stage.prometheus.goes("")


def everything_sent(stage: Light) -> str:
    """Return all calls that Slack received, with what they carried, and the uploaded files."""
    calls = [repr(call) for call in stage.slack.calls]
    messages = [
        json.dumps([one.body, one.said], ensure_ascii=False) for one in stage.slack.everything(CHANNEL)
    ]
    private = [json.dumps([one.body, one.said], ensure_ascii=False) for one in stage.slack.ephemerals("dana")]
    files = [stage.slack.content(id).decode(errors="replace") for id in stage.slack.workspace.contents]
    return "\n".join((*calls, *messages, *private, *files))


async def metrics_of(stage: Light) -> str:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{stage.yard.server.address}/metrics") as answer,
    ):
        return await answer.text()


def rows_of(file: Path) -> dict[str, str]:
    """Return all rows of each table as text."""
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as store:
        tables = [name for (name,) in store.execute("select name from sqlite_master where type = 'table'")]
        found = {
            f"the table {name}": "\n".join(map(repr, store.execute(f'select * from "{name}"')))
            for name in tables
        }
    store.close()
    return found


def leaks(text: str) -> list[str]:
    """Return the families whose secret is in a text, as it is or as JSON writes it."""
    return [
        form.family
        for form in FORMS
        for secret in form.secrets
        if secret in text or json.dumps(secret)[1:-1] in text
    ]
