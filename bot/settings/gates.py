"""Settings of the gates that hold plans back: pools of nodes, budgets and windows."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from bot.settings.section import Matchers, Section
from bot.settings.value_types import CommandPattern


def _node_limit(value: object) -> str:
    """Check a number of nodes, or a share of them: `3`, `10%`."""
    written = str(value).strip()
    share = written.removesuffix("%")
    if not isinstance(value, (int, str)) or isinstance(value, bool) or not share.isdecimal():
        raise ValueError(f"`{value}` is not a number of nodes: write it like 3 or 10%")
    if share != written and not 1 <= int(share) <= 100:
        raise ValueError(f"`{value}` is not a share of the nodes: write 1% to 100%")
    return written


NodeLimit = Annotated[
    str, BeforeValidator(_node_limit), WithJsonSchema({"type": ["integer", "string"], "title": "nodes"})
]


class PoolSettings(Section):
    nodes: tuple[str, ...] = ("*",)
    labels: dict[str, str] = Field(default={})


class BudgetSettings(Section):
    scope: Literal["cluster", "pool", "rack", "team"] = "cluster"
    of: str = "*"
    clusters: tuple[str, ...] = ("*",)
    commands: tuple[CommandPattern, ...] = ("*",)
    out_of_service: NodeLimit | None = None
    per_hour: Annotated[int, Field(ge=0)] | None = None
    automation_only: bool = False

    @model_validator(mode="after")
    def _limits_something(self) -> "BudgetSettings":
        if self.out_of_service is None and self.per_hour is None:
            raise ValueError("limits nothing: set out_of_service or per_hour")
        return self


class BreakerSettings(Section):
    scope: Literal["cluster", "pool", "command"] = "pool"
    actions: Annotated[int, Field(ge=1)] = 5
    without_effect: Annotated[int, Field(ge=1)] = 3


class WindowSettings(Section):
    """A time in which something is different; `time_intervals` are names of the section of that name."""

    time_intervals: tuple[str, ...]
    clusters: tuple[str, ...] = ("*",)
    automation: Literal["as-usual", "waits", "more"] = "as-usual"
    out_of_service: Annotated[int, Field(ge=0)] | None = None
    per_hour: Annotated[int, Field(ge=0)] | None = None
    people_wait_with: tuple[CommandPattern, ...] = ()
    mutes: Matchers | None = None
    channel: str = Field(
        default="", description="where its begin and end are said; the default channel if not set"
    )

    @model_validator(mode="after")
    def _has_figures_for_more(self) -> "WindowSettings":
        has_figures = self.out_of_service is not None or self.per_hour is not None
        if self.automation == "more" and not has_figures:
            raise ValueError("`more` needs its limit: set out_of_service or per_hour")
        if self.automation != "more" and has_figures:
            raise ValueError("out_of_service and per_hour are the limit of automation: `more`")
        return self
