"""Settings of acceptance: the suites that a node must pass before it returns, and their images."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from bot.settings.section import Duration, Section
from collectors.facts.clock import duration
from commands.acceptance.suites import NAMESPACE, OURS

Named = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,28}[a-z0-9])?$")]
ImageReference = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}$")]


class SuiteTestSettings(Section):
    """A test: a command in an image, and how its output is read."""

    name: Named
    reads: Literal["dcgm-diag", "nccl-tests", "nvidia-smi", "lines"]
    image: ImageReference
    command: tuple[str, ...] = ()
    gpus: bool = True
    within: Duration = Field(default=duration("15m"), gt=timedelta(0))
    between: bool = False
    neighbour: bool = False
    privileged: bool = False


class SuiteSettings(Section):
    tests: tuple[SuiteTestSettings, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _has_each_name_once(self) -> "SuiteSettings":
        names = [test.name for test in self.tests]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise ValueError(f"two tests are named {twice}")
        return self


class AcceptanceSettings(Section):
    suite: Named = OURS
    suites: dict[Named, SuiteSettings] = Field(default={})
    images: dict[Named, ImageReference] = Field(default={})
    ends_lease: bool = False
    slow_below: float = Field(default=0.9, gt=0, le=1)
    watched_for: Duration = duration("1h")
    namespace: Named = NAMESPACE

    @model_validator(mode="after")
    def _has_its_suite(self) -> "AcceptanceSettings":
        if self.suite != OURS and self.suite not in self.suites:
            raise ValueError(f"`{self.suite}` is none of the suites")
        return self
