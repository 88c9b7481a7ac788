"""The spec of a training to launch, and its validation."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatchcase

from collectors.cluster.resources import gpu_resource, parse_quantity
from collectors.facts.sentences import Sentence, counted, listed, sentence
from collectors.facts.workload_keys import workload_key
from commands.core.command import UnusableError
from commands.training.priority import check_priority_class

MAX_NAME = 40  # pods are named NAME-worker-599-x7k2p, and a label value has at most 63 characters
MAX_WORKERS = 1000  # keeps the list of hosts in the environment below 128 KiB
MAX_SERVERS = 100
MAX_SCRIPT = 512 << 10  # bytes; an object is at most 1 MiB, and the plan contains a copy
MAX_ARGUMENTS = 32 << 10  # bytes in total

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")  # DNS-1035, as required for Services
_QUANTITY = re.compile(r"\d{1,9}(\.\d{1,3})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?")
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{{1,5}})?/)?{_PART}(?:/{_PART})*"
    r"(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)
_LABEL_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_SYSTEM = ("kube-", "default", "openshift-")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRole:
    """Equal tasks of a training. Amounts are Kubernetes quantities of each task; empty: not requested."""

    name: str  # worker, ps, ...
    replicas: int
    gpus: float = 0  # in devices or slices
    gpu_resource: str = "nvidia.com/gpu"
    cpu: str = ""
    memory: str = ""
    command: tuple[str, ...] = ()  # empty: the image's own
    arguments: tuple[str, ...] = ()
    is_server: bool = False  # it runs until it is stopped: the training is over without its end

    @property
    def gpu_amount(self) -> str:
        """The GPU request of one task, in the unit of the resource: one device may be 100 units."""
        meaning = gpu_resource(self.gpu_resource)
        return f"{self.gpus * (meaning.units if meaning else 1):g}"

    @property
    def resources(self) -> dict[str, str]:
        """The requests of each task, by resource name."""
        gpus = {self.gpu_resource: self.gpu_amount} if self.gpus else {}
        return {**gpus, **{name: one for name, one in (("cpu", self.cpu), ("memory", self.memory)) if one}}

    @property
    def tolerates(self) -> frozenset[str]:
        """The taint keys that it tolerates: GPU nodes are often tainted with the resource name."""
        return frozenset({self.gpu_resource}) if self.gpus else frozenset()

    def text(self) -> Sentence:
        """Return a text like `4 workers, each with 8 nvidia.com/gpu`."""
        tasks = tasks_text(self.replicas, self.name)
        if not self.gpus:
            return tasks
        return sentence(
            "{tasks}, each with {gpus:g} {resource}", tasks=tasks, gpus=self.gpus, resource=self.gpu_resource
        )


def tasks_text(number: int, role: str) -> Sentence:
    """Return a text like `4 workers`."""
    if role.endswith("s"):
        return sentence("{number} {role}", number=number, role=role)
    return counted("{count} {role}", "{count} {role}s", count=number, role=role)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSpec:
    """A training to launch, of any kind. The first role does the work, and its first task is the master."""

    name: str
    namespace: str
    image: str
    roles: tuple[TrainingRole, ...]
    script_text: str = ""  # of an uploaded script, which the commands run
    team: str = ""
    owner: str = ""
    launched_by: str = ""  # the person
    priority_class: str = ""
    max_duration: timedelta | None = None
    backoff: int = 0
    node_selector: Mapping[str, str] = field(default_factory=dict)
    not_on: tuple[str, ...] = ()  # nodes that must run none of its tasks
    service_per_task: bool = False
    metrics_port: int = 8080
    pull_secret: str = ""  # namespace/name of the Secret to copy

    @property
    def id(self) -> str:
        """The name of the training."""
        return f"{self.namespace}/{self.name}"

    @property
    def key(self) -> str:
        """The key of the training: that of its namespace, which is created for it."""
        return workload_key(self.namespace, "Namespace", self.namespace)

    @property
    def workers(self) -> TrainingRole:
        return self.roles[0]


def check_spec(spec: TrainingSpec, *, images: Sequence[str]) -> None:
    """Raise UnusableError for an invalid spec, with the invalid part and the expected form."""
    _check_name(spec.name, sentence("A training's name"), MAX_NAME)
    _check_name(spec.namespace, sentence("A namespace"), 63)
    if spec.namespace.startswith(_SYSTEM):
        raise UnusableError(
            sentence(
                "`{namespace}` is a system namespace: choose another `--namespace`.", namespace=spec.namespace
            )
        )
    if not _IMAGE.fullmatch(spec.image) or len(spec.image) > 255:
        raise UnusableError(
            sentence(
                "`{given}` is not a valid image name: write it like registry.example/team/name:tag.",
                given=_cut(spec.image),
            )
        )
    if not any(fnmatchcase(spec.image, pattern) for pattern in images):
        allowed = listed(sentence("`{name}`", name=pattern) for pattern in images) or sentence("none")
        raise UnusableError(
            sentence(
                "`{image}` is not among the allowed images: {allowed}.", image=spec.image, allowed=allowed
            )
        )
    for role in spec.roles:
        _check_role(role)
    for key, value in spec.node_selector.items():
        if not _LABEL_KEY.fullmatch(key) or not _LABEL_VALUE.fullmatch(value):
            raise UnusableError(
                sentence(
                    "`--node-selector {given}` is not a valid label and value.", given=_cut(f"{key}={value}")
                )
            )
    for node in spec.not_on:
        _check_name(node, sentence("A node"), 253, dots=True)
    if spec.priority_class:
        _check_name(spec.priority_class, sentence("A priority class"), 253, dots=True)
        check_priority_class(spec.priority_class)
    if spec.max_duration is not None and spec.max_duration < timedelta(seconds=1):
        raise UnusableError(sentence("`--max-duration` must be at least 1s."))


def _check_role(role: TrainingRole) -> None:
    if role.is_server:
        _check_count(role.replicas, 0, MAX_SERVERS, "--ps")
    else:
        _check_count(role.replicas, 1, MAX_WORKERS, "--workers")
    _check_gpus(role)
    for flag, amount in (("--cpu", role.cpu), ("--memory", role.memory)):
        if amount and (not _QUANTITY.fullmatch(amount) or not parse_quantity(amount)):
            raise UnusableError(
                sentence(
                    "`{flag} {given}` is not a quantity: write it like 2, 500m or 64Gi.",
                    flag=flag,
                    given=_cut(amount),
                )
            )
    _check_words(role)


def _check_gpus(role: TrainingRole) -> None:
    meaning = gpu_resource(role.gpu_resource)
    if meaning is None:
        raise UnusableError(
            sentence(
                "`{given}` is not a known GPU resource: nvidia.com/gpu, nvidia.com/mig-1g.10gb, "
                "tencent.com/vcuda-core, …",
                given=_cut(role.gpu_resource),
            )
        )
    if not 0 <= role.gpus <= 64:
        raise UnusableError(sentence("`--gpus {gpus:g}`: must be 0 to 64 per worker.", gpus=role.gpus))
    amount = role.gpus * meaning.units
    if abs(amount - round(amount)) > 1e-9:
        raise UnusableError(
            sentence(
                "`--gpus {gpus:g}` is not possible with {gpu_resource}: it must be a multiple of {step:g}.",
                gpus=role.gpus,
                gpu_resource=role.gpu_resource,
                step=1 / meaning.units,
            )
        )


def _check_words(role: TrainingRole) -> None:
    if sum(len(word.encode()) for word in role.arguments) > MAX_ARGUMENTS:
        raise UnusableError(
            sentence(
                "The arguments are longer than {limit} KiB: put them in a file.",
                limit=MAX_ARGUMENTS >> 10,
            )
        )
    for word in (*role.command, *role.arguments):
        if "\x00" in word:
            raise UnusableError(
                sentence("An argument contains a null character, which cannot be passed to a program.")
            )
    script = role.command[-1] if role.command else ""
    if len(script) > 1024 or script.startswith("-"):
        raise UnusableError(sentence("`--script {given}` is not a path in the image.", given=_cut(script)))


def _check_name(name: str, what: Sentence, longest: int, *, dots: bool = False) -> None:
    plain = name.replace(".", "") if dots else name
    if not _NAME.fullmatch(plain) or len(name) > longest:
        raise UnusableError(
            sentence(
                "{kind} consists of lower-case letters, digits and `-`, begins with a letter and has "
                "at most {most} characters: `{given}` is not valid.",
                kind=what,
                most=longest,
                given=_cut(name),
            )
        )


def _check_count(count: int, least: int, most: int, flag: str) -> None:
    if not least <= count <= most:
        raise UnusableError(
            sentence(
                "`{flag} {number}`: must be {least} to {most}.",
                flag=flag,
                number=count,
                least=least,
                most=most,
            )
        )


def _cut(words: str) -> str:
    plain = words.replace("`", "'")
    return plain if len(plain) <= 60 else f"{plain[:59]}…"


def script_of(content: bytes) -> str:
    """Return the text of an uploaded script. Raises UnusableError if it is not text or too long."""
    if len(content) > MAX_SCRIPT:
        raise UnusableError(
            sentence(
                "The script is {size} KiB, and the limit is {limit} KiB: put it in the image "
                "and give its path with `--script`.",
                size=len(content) >> 10,
                limit=MAX_SCRIPT >> 10,
            )
        )
    try:
        script = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableError(
            sentence("The script is not UTF-8 text (byte {byte}).", byte=error.start)
        ) from error
    if "\x00" in script:
        raise UnusableError(sentence("The script is not text: it contains null characters."))
    if not script.strip():
        raise UnusableError(sentence("The script is empty."))
    return script.replace("\r\n", "\n")
