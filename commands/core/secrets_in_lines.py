"""Secrets in command lines that people type: they are redacted before the line is stored or run."""

from collectors.facts.redaction import redacted

_OWN_COMMAND = " -- "  # what follows is the command of a training, which needs its arguments as they are


def line_without_secrets(line: str) -> str:
    """Return the line without secrets, such as in a reason. A training's own command is redacted where it is shown."""
    ours, mark, own = line.partition(_OWN_COMMAND)
    return f"{redacted(ours)}{mark}{own}"
