"""This file makes what the chart derives from values.yaml and from the program. Run it as `python -m helm.generate`.

With `--check` it writes nothing, and ends 1 when a file is stale.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from commands.command_catalogue import CATALOGUE
from commands.core.command import Command
from helm.rights import act_rights, look_rights
from helm.values_file import Value, read_values, schema_of

CHART = Path(__file__).parent / "yardmaster"
_MADE = "Made by `python -m helm.generate`; do not edit."


def made(chart: Path = CHART, commands: Sequence[Command[Any]] = CATALOGUE) -> dict[Path, str]:
    """Every derived file of the chart and its text."""
    values = read_values(chart / "values.yaml")
    act = act_rights(commands)
    schema = _with_commands(schema_of(values), list(act))
    rights = {"look": look_rights(commands), "act": act}
    return {
        chart / "values.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n",
        chart / "files" / "rights.yaml": f"# {_MADE}\n" + yaml.dump(rights, sort_keys=False, Dumper=_Plain),
        chart / "README.md": _readme(values),
    }


def stale(files: dict[Path, str]) -> list[Path]:
    """The files that are not as they would be made."""
    return [
        file for file, text in files.items() if not file.is_file() or file.read_text(encoding="utf-8") != text
    ]


class _Plain(yaml.SafeDumper):
    """YAML without anchors."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _with_commands(schema: Any, names: list[str]) -> Any:
    """The schema with the commands' names in the place of `$commands`."""
    if isinstance(schema, dict):
        return {key: _with_commands(value, names) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_with_commands(value, names) for value in schema]
    return names if schema == "$commands" else schema


def _readme(values: Sequence[Value]) -> str:
    rows = [
        f"| `{value.path}` | {_short(value.default)} | {value.sentence.replace('|', '&#124;')} |"
        for value in values
    ]
    return "\n".join(
        [
            "# The Helm chart",
            "",
            f"<!-- {_MADE} -->",
            "",
            "How to install is in [docs/operations.md](../../docs/operations.md).",
            "",
            "| Value | Default | Meaning |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _short(default: object) -> str:
    text = json.dumps(default, ensure_ascii=False)
    return f"`{text}`" if len(text) <= 60 else "see values.yaml"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m helm.generate", description="Make the chart's files.")
    parser.add_argument("--check", action="store_true", help="write nothing; end 1 when a file is stale")
    is_check = parser.parse_args(arguments).check
    files = made()
    behind = stale(files)
    for file in behind:
        if not is_check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(files[file], encoding="utf-8")
        sys.stdout.write(f"{'stale' if is_check else 'made'}: {file.relative_to(CHART.parent)}\n")
    return 1 if is_check and behind else 0


if __name__ == "__main__":
    sys.exit(main())
