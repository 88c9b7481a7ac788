"""A training described in a YAML file: the options of a launch by their names, and what a line has no room for. Pure.

It knows no field of a pod: what it has no word for cannot be asked for, such as a path of the host.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import click

from collectors.facts.sentences import as_code, sentence
from commands.core.command import UnusableError
from commands.core.request import Upload
from commands.training.queues import check_allowed
from commands.training.spec import TrainingRole, TrainingSpec, Volume
from commands.training.spec_checks import check_amount, check_image, check_new_namespace
from commands.training.spec_nodes import SpecPart, whole
from commands.training.spec_volumes import volumes_of

ENDINGS = (".yaml", ".yml")  # of the files that are specs
_OPTIONS = (  # of the line, by their names without dashes
    "kind",
    "image",
    "namespace",
    "script",
    "team",
    "priority-class",
    "queue",
    "queue-priority",
    "max-duration",
    "backoff",
    "metrics-port",
    "runtime",
)
_OF_WORKERS = {"replicas": "--workers", "gpus": "--gpus", "gpu-resource": "--gpu-resource"}
_OF_ROLES = ("replicas", "cpu", "memory", "image", "command")
_KNOWN = ("name", *_OPTIONS, "node-selector", "not-on", "tolerations", "env", "volumes", "roles")
_MODEL = "nvidia.com/gpu.product"  # the label of nodes with the model of their GPUs
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_TAKEN = re.compile(
    r"(?:TRAINING_NAME|TASK_ROLE|TASK_INDEX|[A-Z]+_HOSTS|WORKERS|GPUS_PER_WORKER|MASTER_ADDR|MASTER_PORT)"
)
_TAINT = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """What the settings allow the person: patterns of images, and queues by their teams."""

    images: Sequence[str]
    queues: Mapping[str, Collection[str]]
    teams: Collection[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRole:
    """What a file says of a role beyond the options of the line; empty: as the line has it."""

    cpu: str = ""
    memory: str = ""
    image: str = ""
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSpec:
    """What a file says: words of a line, and the rest."""

    words: tuple[str, ...] = ()
    roles: Mapping[str, GivenRole] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    volumes: tuple[Volume, ...] = ()
    tolerations: tuple[str, ...] = ()

    def applied_to(self, spec: TrainingSpec) -> TrainingSpec:
        """Return the spec with what the line has no room for. A command on the line is that of the workers."""
        roles = tuple(self._role(role) for role in spec.roles)
        return replace(spec, roles=roles, env=self.env, volumes=self.volumes, tolerations=self.tolerations)

    def _role(self, role: TrainingRole) -> TrainingRole:
        given = self.roles.get(role.name)
        if given is None:
            return role
        has_own = bool(role.command or role.arguments) and not role.is_server
        command = (
            (role.command, role.arguments)
            if has_own or not given.command
            else (
                given.command[:1],
                given.command[1:],
            )
        )
        return replace(
            role,
            cpu=given.cpu or role.cpu,
            memory=given.memory or role.memory,
            image=given.image,
            command=command[0],
            arguments=command[1],
        )


def is_spec(upload: Upload) -> bool:
    return upload.name.lower().endswith(ENDINGS)


def read_spec(
    upload: Upload, name: str, allowed: Allowed, parameters: Sequence[click.Parameter]
) -> GivenSpec:
    """Return what a file says. Raises UnusableError with the line of what is wrong or not allowed.

    `name` is the training's, on the line; `parameters` are those of the command, which say what a value must be.
    """
    fields = whole(upload.content, upload.name).fields(_KNOWN)
    if (own := fields.get("name")) and own.text() != name:
        raise own.wrong(sentence("It is called `{name}` on the line.", name=name))
    words = list(_checked(_words(fields, allowed), parameters))
    roles = _roles(fields["roles"], allowed, parameters) if "roles" in fields else ((), {})
    return GivenSpec(
        words=(*words, *roles[0]),
        roles=roles[1],
        env=_env(fields["env"]) if "env" in fields else {},
        volumes=volumes_of(fields["volumes"]) if "volumes" in fields else (),
        tolerations=_taints(fields["tolerations"]) if "tolerations" in fields else (),
    )


def _words(fields: Mapping[str, SpecPart], allowed: Allowed) -> Iterator[tuple[str, str, SpecPart]]:
    """Yield the options with their values, and where each stands."""
    for key in _OPTIONS:
        if (part := fields.get(key)) is None:
            continue
        value = part.text()
        with part.located():
            if key == "image":
                check_image(value, allowed.images)
            elif key == "namespace":
                check_new_namespace(value)
            elif key == "queue":
                check_allowed(value, allowed.queues, allowed.teams)
        yield f"--{key}", value, part
    if (part := fields.get("node-selector")) is not None:
        for label, one in part.fields().items():
            yield "--node-selector", f"{label}={one.text()}", one
    if (part := fields.get("not-on")) is not None:
        for one in part.items():
            yield "--not-on", one.text(), one


def _checked(
    given: Iterator[tuple[str, str, SpecPart]], parameters: Sequence[click.Parameter]
) -> Iterator[str]:
    """Yield the words. Raises UnusableError with the line of a value that the option does not take."""
    by_option = {option: one for one in parameters for option in one.opts}
    for option, value, part in given:
        try:
            by_option[option].type.convert(value, by_option[option], None)
        except click.BadParameter as error:
            raise part.wrong(error.message) from error
        yield f"{option}={value}"


def _roles(
    part: SpecPart, allowed: Allowed, parameters: Sequence[click.Parameter]
) -> tuple[tuple[str, ...], dict[str, GivenRole]]:
    fields = part.fields(("worker", "ps"))
    words: list[tuple[str, str, SpecPart]] = []
    roles: dict[str, GivenRole] = {}
    for name, role in fields.items():
        is_worker = name == "worker"
        given = role.fields((*_OF_ROLES, *(("gpus", "gpu-resource", "gpu-model") if is_worker else ())))
        for key, option in (_OF_WORKERS if is_worker else {"replicas": "--ps"}).items():
            if (one := given.get(key)) is not None:
                words.append((option, one.text(), one))
        if (one := given.get("gpu-model")) is not None:
            words.append(("--node-selector", f"{_MODEL}={one.text()}", one))
        roles[name] = _role(given, allowed)
    if "worker" not in fields:
        raise part.wrong(sentence("`roles` has no `worker`, which does the work."))
    if "ps" in fields and not any(option == "--ps" for option, _, _ in words):
        raise fields["ps"].wrong(sentence("`ps` has no `replicas`."))
    return tuple(_checked(iter(words), parameters)), roles


def _role(given: Mapping[str, SpecPart], allowed: Allowed) -> GivenRole:
    amounts: dict[str, str] = {}
    for key in ("cpu", "memory"):
        if (one := given.get(key)) is not None:
            amounts[key] = one.text()
            with one.located():
                check_amount(key, amounts[key])
    image = given["image"].text() if "image" in given else ""
    if image:
        with given["image"].located():
            check_image(image, allowed.images)
    command = given["command"].words() if "command" in given else ()
    return GivenRole(**amounts, image=image, command=command)


def _env(part: SpecPart) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, one in part.fields().items():
        if not _VARIABLE.fullmatch(name):
            raise one.wrong(sentence("`{name}` is not a name of a variable.", name=name))
        if _TAKEN.fullmatch(name):
            raise one.wrong(sentence("`{name}` is set for each task, and cannot be another.", name=name))
        found[name] = one.text()
    return found


def _taints(part: SpecPart) -> tuple[str, ...]:
    for one in part.items():
        if not _TAINT.fullmatch(one.text()):
            raise one.wrong(sentence("`{given}` is not the key of a taint.", given=one.text()[:60]))
    return part.words()


def spec_among(uploads: Sequence[Upload], option: str) -> Upload:
    """Return the only file of these that is YAML. Raises UnusableError, with the option that takes it."""
    found = [one for one in uploads if is_spec(one)]
    if len(found) == 1:
        return found[0]
    raise UnusableError(
        sentence(
            "`{option}` takes one file that ends with {endings}: upload it with the line. You uploaded {count}.",
            option=option,
            endings=as_code(ENDINGS),
            count=len(found),
        )
    )
