"""This file has the types of parameters that several commands share."""

from datetime import timedelta
from typing import Any

import click

from collectors.facts.durations import duration


class DurationType(click.ParamType[timedelta]):
    """A duration as Prometheus writes it: 30s, 5m, 1h30m, 7d."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        try:
            return duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class RowNameType(click.ParamType[str]):
    """The name that we gave a row: i7, p12, s3. It may be written large."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value).lower()


DURATION = DurationType()
ROW_NAME = RowNameType()
