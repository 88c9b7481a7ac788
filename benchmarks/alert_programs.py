"""Programs that take alerts by Alertmanager's API and notify: ours and Alertmanager, each a process of its own.

Both can be killed and started again on their files. They post to the same look-alike of Slack, or to the same webhook.
"""

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from benchmarks.process_memory import resident
from demo.lookalikes.slack import SlackLookalike
from demo.parts.processes import Child, Program, answers, free_port
from tests.real.servers.alertmanager import find_alertmanager

ROOT = Path(__file__).parents[1]
CHANNEL = "#alerts"
TOKEN = "a-token-that-nobody-guesses"
OURS, PEER = "Yardmaster", "Alertmanager"
_READY_WITHIN = timedelta(seconds=120)
# As people configure it for Slack: each alert has a line, and Alertmanager's defaults stand where nothing else is said.
_LINES = '{{ range .Alerts }}{{ .Labels.alertname }} {{ .Labels.node }}{{ .Labels.deployment }}{{ "\\n" }}{{ end }}'


@dataclass(slots=True, kw_only=True)
class AlertProgram:
    """One of them. `url`: of the API, which takes requests with these headers."""

    name: str
    url: str
    program: Program
    ready: str
    headers: Mapping[str, str] = field(default_factory=dict)
    _child: Child | None = None

    async def start(self) -> None:
        """Start it, and return when it is ready."""
        self._child = Child(self.program)
        self._child.start()
        await asyncio.to_thread(
            self._child.wait_until_ready, lambda: answers(f"{self.url}{self.ready}"), limit=_READY_WITHIN
        )

    async def kill(self) -> None:
        """Kill it as `kill -9` does, with all that it started."""
        if self._child is not None:
            await asyncio.to_thread(self._child.stop, grace=timedelta())

    @property
    def memory(self) -> int:
        """The bytes that it takes now."""
        return resident(self._child.pid) if self._child is not None else 0


def yardmaster(folder: Path, **settings: Any) -> AlertProgram:
    """Return ours with all of its rules and without a source; `settings` say where it notifies."""
    address = f"127.0.0.1:{free_port()}"
    file = folder / "yardmaster.yaml"
    whole = {
        "clusters": [{"name": "prod-a", "kubernetes": None}],
        "store": {"url": f"sqlite+aiosqlite:///{folder / 'yard.db'}"},
        "http": {
            "listen": address,
            "auth": {"tokens": [{"actor": "sender", "token": TOKEN, "teams": ["sre"]}]},
        },
        "teams": {"sre": {"commands": ["*"]}},
        **settings,
    }
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(whole), encoding="utf-8")
    run = ("-c", "from bot.cli import main; main()", "run", "--config", str(file))
    program = Program(name=OURS, argv=(sys.executable, *run), log=folder / "yardmaster.log", folder=ROOT)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return AlertProgram(name=OURS, url=f"http://{address}", program=program, ready="/readyz", headers=headers)


def alertmanager(folder: Path, receiver: Mapping[str, Any], **route: Any) -> AlertProgram:
    """Return an Alertmanager without peers that sends to this receiver."""
    address = f"127.0.0.1:{free_port()}"
    file = folder / "alertmanager.yml"
    whole = {"route": {"receiver": "chat", **route}, "receivers": [{"name": "chat", **receiver}]}
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(whole), encoding="utf-8")
    flags = (
        f"--config.file={file}",
        f"--storage.path={folder / 'data'}",
        f"--web.listen-address={address}",
        "--cluster.listen-address=",
    )
    program = Program(name=PEER, argv=(str(find_alertmanager()), *flags), log=folder / "alertmanager.log")
    return AlertProgram(name=PEER, url=f"http://{address}", program=program, ready="/-/ready")


def yardmaster_to_slack(folder: Path, slack: SlackLookalike) -> AlertProgram:
    return yardmaster(
        folder,
        slack={
            "bot_token": slack.bot_token,
            "app_token": slack.app_token,
            "api_url": slack.url,
            "channel": slack.id(CHANNEL),
        },
    )


def alertmanager_to_slack(
    folder: Path, slack: SlackLookalike, *, send_resolved: bool = True, **route: Any
) -> AlertProgram:
    to = {
        "api_url": f"{slack.url}chat.postMessage",
        "channel": slack.id(CHANNEL),
        "http_config": {"authorization": {"credentials": slack.bot_token}},
        "send_resolved": send_resolved,
        "text": _LINES,
    }
    return alertmanager(folder, {"slack_configs": [to]}, **route)


def yardmaster_to_webhook(folder: Path, url: str) -> AlertProgram:
    return yardmaster(
        folder,
        channels={"sink": {"webhook": {"url": url}}},
        routes=[{"channels": ["webhook:sink"]}],
    )


def alertmanager_to_webhook(folder: Path, url: str, **route: Any) -> AlertProgram:
    return alertmanager(folder, {"webhook_configs": [{"url": url, "send_resolved": False}]}, **route)
