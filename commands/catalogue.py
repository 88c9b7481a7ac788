"""This file has the one list of commands. Help, docs, permissions, forms and the chart's rights are read from it."""

from typing import Any

from commands.command import Command
from commands.deeds import alerts, audit, dns, gpus, incidents, nodes, plans, silences, trainings
from commands.deeds.helping import help_of

_OTHERS: tuple[Command[Any], ...] = (
    *alerts.COMMANDS,
    *incidents.COMMANDS,
    *silences.COMMANDS,
    *nodes.COMMANDS,
    *gpus.COMMANDS,
    *trainings.COMMANDS,
    *dns.COMMANDS,
    *plans.COMMANDS,
    *audit.COMMANDS,
)

CATALOGUE: tuple[Command[Any], ...] = (*_OTHERS, help_of(_OTHERS))
