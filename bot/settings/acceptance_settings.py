"""Settings of acceptance: the suites that a node must pass before it returns."""

from datetime import timedelta
from typing import Literal

from pydantic import Field, model_validator

from bot.settings.jobs_on_nodes import DnsName, ImageName, Script, Within
from bot.settings.section import Duration, Section
from collectors.facts.clock import duration
from commands.acceptance.suites import OUR_SUITE


class SuiteTestSettings(Section):
    """A test: a script in an image, and how its output is read."""

    name: DnsName
    reads: Literal["dcgm-diag", "nccl-tests", "nvidia-smi", "lines"] = "lines"
    script: Script
    image: ImageName = ""
    gpus: bool = True
    privileged: bool = False
    between: bool = False
    one_gpu: bool = False
    within: Within = duration("15m")


class SuiteSettings(Section):
    tests: tuple[SuiteTestSettings, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _has_each_name_once(self) -> "SuiteSettings":
        names = [test.name for test in self.tests]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise ValueError(f"two tests are named {twice}")
        return self


class AcceptanceSettings(Section):
    suite: DnsName = OUR_SUITE
    suites: dict[DnsName, SuiteSettings] = Field(default={})
    ends_lease: bool = False
    slow_below: float = Field(default=0.9, gt=0, le=1)
    watched_for: Duration = Field(default=duration("1h"), ge=timedelta(0))

    @model_validator(mode="after")
    def _has_its_suite(self) -> "AcceptanceSettings":
        if self.suite != OUR_SUITE and self.suite not in self.suites:
            raise ValueError(f"`{self.suite}` is none of the suites")
        return self
