"""The volumes of a spec's YAML file: claims of the training's namespace, and empty places of a size. Pure."""

import re

from collectors.facts.sentences import sentence
from commands.training.manifests import SCRIPT_FOLDER
from commands.training.spec import Volume
from commands.training.spec_checks import is_quantity
from commands.training.spec_nodes import SpecPart

_PATH = re.compile(r"(?:/[A-Za-z0-9._-]+)+")
_OURS = ("/dev", "/proc", "/sys", SCRIPT_FOLDER, "/var/run/secrets")
_MOST_VOLUMES = 20
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def volumes_of(part: SpecPart) -> tuple[Volume, ...]:
    """Return them. Raises UnusableError with the line of what is wrong."""
    fields = part.fields()
    if len(fields) > _MOST_VOLUMES:
        raise part.wrong(sentence("There are more than {most} volumes.", most=_MOST_VOLUMES))
    return tuple(_volume(name, one) for name, one in fields.items())


def _volume(name: str, part: SpecPart) -> Volume:
    if not _LABEL.fullmatch(name) or name in ("shm", "script"):
        raise part.wrong(sentence("`{name}` cannot be the name of a volume.", name=name))
    given = part.fields(("at", "claim", "size", "read-only"))
    if len({"claim", "size"} & given.keys()) != 1:
        raise part.wrong(
            sentence("Volume `{name}` must have either a `claim` of its namespace or a `size`.", name=name)
        )
    if "at" not in given:
        raise part.wrong(sentence("Volume `{name}` has no `at`, the path where it is mounted.", name=name))
    path = given["at"].text()
    is_ours = any(path == one or path.startswith(f"{one}/") for one in _OURS)
    if not _PATH.fullmatch(path) or ".." in path.split("/") or is_ours or len(path) > 250:
        raise given["at"].wrong(
            sentence("`{path}` is not a path where a volume may be mounted.", path=path[:60])
        )
    if "size" in given and not is_quantity(given["size"].text()):
        raise given["size"].wrong(
            sentence("`{given}` is not a size: write it like 100Gi.", given=given["size"].text()[:60])
        )
    if "claim" in given and not _LABEL.fullmatch(given["claim"].text()):
        raise given["claim"].wrong(
            sentence(
                "`{given}` is not a claim in the training's namespace: write its name alone.",
                given=given["claim"].text()[:60],
            )
        )
    return Volume(
        name=name,
        path=path,
        claim=given["claim"].text() if "claim" in given else "",
        size=given["size"].text() if "size" in given else "",
        is_read_only=given["read-only"].is_true() if "read-only" in given else False,
    )
