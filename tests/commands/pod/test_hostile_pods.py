"""Hostile text in labels, messages, logs and outputs of programs: nothing is shown raw, nothing reaches a shell."""

import random
import shlex
from collections.abc import Callable
from typing import Any

import pytest

from commands.execution.plan_card import card_of
from commands.execution.tools.tool_list import TOOLS
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import Yard, text_of

PIECES = (
    "; rm -rf /",
    "$(reboot)",
    "`id`",
    "&& curl evil.example",
    "\x1b[31mred\x1b[0m",
    "\u202egnp.exe",
    "\x00\x07",
    "<!channel>",
    "<@U123>",
    "*bold* _it_ ~no~",
    "```",
    "password=hunter2hunter2",
    "AKIAIOSFODNN7EXAMPLE",
    "\n[Approve] plan confirm p9",
    "{node}",
    "%s%n",
    "A" * 9000,
    "\U0001f600",
    "' OR 1=1 --",
    "| cat /etc/shadow",
)


def hostile(seed: int) -> str:
    """Return a text of several pieces."""
    dice = random.Random(seed)
    return " ".join(dice.choice(PIECES) for _ in range(dice.randrange(1, 6)))


def assert_harmless(said: str) -> None:
    assert "hunter2hunter2" not in said
    for line in said.split("\n"):
        assert all(one.isprintable() for one in line), repr(line[:200])
    assert "\n[Approve] plan confirm p9" not in said


@pytest.mark.parametrize("seed", range(50))
async def test_a_pod_that_says_anything_is_shown_bounded_and_printable(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any], seed: int
) -> None:
    text = hostile(seed)
    waiting = {"reason": "CrashLoopBackOff", "message": text}
    status = {
        "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": text}],
        "containerStatuses": [{"name": "main", "restartCount": 3, "state": {"waiting": waiting}}],
    }
    await add_pod("web", status=status, annotations={"owner": text, "team": text})
    for line in ("pod list", "pod show web", "pod logs web", "pod events web", "pod delete web"):
        said = await yard.say(line)
        assert_harmless(said)
        assert len(said) < 20_000


@pytest.mark.parametrize("seed", range(50))
async def test_a_program_that_says_anything_is_grouped_bounded_and_printable(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any], seed: int
) -> None:
    running = {"containerStatuses": [{"name": "main", "restartCount": 0, "state": {"running": {}}}]}
    await add_pod("web", status=running)
    text = hostile(1000 + seed).encode() + b"\xff\xfe"
    stack = (
        b'Process 7: x\nThread 7 (idle): "MainThread"\n    '
        + text.replace(b"\n", b" ")[:150]
        + b" (a.py:1)\n"
    )
    asked: list[tuple[str, ...]] = []

    async def said(
        _namespace: str, _pod: str, _container: str, command: tuple[str, ...]
    ) -> tuple[bytes, int]:
        asked.append(command)
        return (stack if seed % 2 else text), seed % 3

    kube.execs = said
    tool = list(TOOLS)[seed % len(TOOLS)]
    over = await yard.do(f"pod stacks web --tool {tool}")
    shown = text_of(card_of(over, await yard.records(over)))
    assert_harmless(shown)
    assert len(shown) < 20_000
    assert asked == [TOOLS[tool].command]


@pytest.mark.parametrize("seed", range(20))
async def test_what_is_typed_as_a_name_or_a_program_reaches_no_command_line(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any], seed: int
) -> None:
    await add_pod("web")
    asked: list[tuple[str, ...]] = []

    async def said(*named: Any) -> tuple[bytes, int]:
        asked.append(named[3])
        return b"", 0

    kube.execs = said
    given = shlex.quote(hostile(2000 + seed)[:200].replace("\x00", ""))
    for line in (
        f"pod stacks web --tool {given}",
        f"pod stacks web --container {given}",
        f"pod show {given}",
    ):
        assert_harmless(await yard.say(line))
    assert asked == []
