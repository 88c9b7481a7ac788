"""The page about acceptance: its settings can be used, its suite runs, and what its script prints is read."""

import re
import subprocess

import pytest
import yaml

from bot.settings.mapping import acceptance_of
from bot.settings.schema import Settings
from collectors.acceptance.reader_catalogue import OUTPUT_READERS
from commands.acceptance.suites import our_suite
from tests.house.conftest import ROOT

PAGE = (ROOT / "docs" / "acceptance.md").read_text(encoding="utf-8")
BLOCKS = [yaml.safe_load(one) for one in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda one: "+".join(one))
def test_each_example_of_settings_is_accepted(block: dict[str, object]) -> None:
    Settings.model_validate(block)


def test_the_scripts_of_the_example_run_and_their_lines_are_read() -> None:
    settings = Settings.model_validate(next(one for one in BLOCKS if "suites" in one.get("acceptance", {})))
    policy = acceptance_of(settings)
    suite = policy.all[policy.suite]
    (scratch,) = [one for one in suite.tests if one.reads == "lines"]
    ran = subprocess.run(
        ["/bin/sh", "-c", scratch.text], capture_output=True, text=True, check=True, timeout=20
    )
    assert OUTPUT_READERS[scratch.reads](ran.stdout).has_passed
    broken = {"SCRATCH": "/nowhere", "PATH": "/usr/bin:/bin"}
    ran = subprocess.run(
        ["/bin/sh", "-c", scratch.text], capture_output=True, text=True, check=True, timeout=20, env=broken
    )
    (failed,) = OUTPUT_READERS[scratch.reads](ran.stdout).failed
    assert failed.said == "the scratch disk is read-only"


def test_the_page_has_each_test_of_our_suite_and_each_reader() -> None:
    for test in our_suite().tests:
        assert f"\n| {test.name} | " in PAGE
    for reader in OUTPUT_READERS:
        assert f"`{reader}`" in PAGE
