"""matplotlib is optional, and never in the bot's own process."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

import bot.wired_channels
from bot.channels.console.notifier import ConsoleNotifier
from bot.channels.open_channel import OpenChannel
from bot.wired_channels import wire_charts
from tests.support.chat import CHAT, FakeChat
from tests.support.memory_store import MemoryStore

WITH_PICTURES = FakeChat(capabilities=CHAT.__class__(images=True, limits=CHAT.limits))


def charts_with(notifier: Any) -> list[str]:
    """Return the parts that make charts for one kind of channel."""
    shared: Any = SimpleNamespace(store=MemoryStore(), clock=None, errors=None)
    return list(wire_charts(shared, {"slack": OpenChannel(notifier=notifier)}, {}, dict))


def test_charts_are_made_for_a_channel_that_takes_pictures() -> None:
    assert charts_with(WITH_PICTURES) == ["charts"]
    assert charts_with(ConsoleNotifier()) == []


def test_without_matplotlib_there_is_nothing_that_makes_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot.wired_channels, "can_render", lambda: False)
    assert charts_with(WITH_PICTURES) == []


def test_the_bot_imports_no_matplotlib() -> None:
    program = "import sys, bot.wiring; print([one for one in sys.modules if 'matplotlib' in one])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
