"""Settings of the gates that hold plans back: pools of nodes, and budgets."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from bot.settings.section import Section


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
    scope: Literal["cluster", "pool", "rack"] = "cluster"
    of: str = "*"
    clusters: tuple[str, ...] = ("*",)
    out_of_service: NodeLimit | None = None
    per_hour: Annotated[int, Field(ge=0)] | None = None
    automation_only: bool = False

    @model_validator(mode="after")
    def _limits_something(self) -> "BudgetSettings":
        if self.out_of_service is None and self.per_hour is None:
            raise ValueError("limits nothing: set out_of_service or per_hour")
        return self
