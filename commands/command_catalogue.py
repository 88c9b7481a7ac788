"""The list of all commands, the source of help, docs, permissions and the chart's RBAC rules."""

from typing import Any

import commands.alert.commands as alert
import commands.audit.commands as audit
import commands.dns.commands as dns
import commands.gpu.commands as gpu
import commands.home.commands as home
import commands.incident.commands as incident
import commands.node.commands as node
import commands.plan.commands as plan
import commands.runbook.commands as runbook
import commands.silence.commands as silence
import commands.training.commands as training
from commands.core.command import Command
from commands.help.commands import help_command

_OTHERS: tuple[Command[Any], ...] = (
    *alert.COMMANDS,
    *incident.COMMANDS,
    *silence.COMMANDS,
    *node.COMMANDS,
    *gpu.COMMANDS,
    *training.COMMANDS,
    *dns.COMMANDS,
    *plan.COMMANDS,
    *audit.COMMANDS,
    *runbook.COMMANDS,
    *home.COMMANDS,
)

CATALOGUE: tuple[Command[Any], ...] = (*_OTHERS, help_command(_OTHERS))
