"""Checks of a training that is to be launched: names, counts, quantities, words and its script. Pure."""

import re
from collections.abc import Sequence
from datetime import timedelta

from collectors.cluster.resources import gpu_resource, parse_quantity
from collectors.facts.name_patterns import fits_any
from collectors.facts.sentences import Sentence, as_code, sentence
from commands.core.command import UnusableError
from commands.training.priority import check_priority_class
from commands.training.spec import RANGE, TrainingRole, TrainingSpec

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


def check_spec(spec: TrainingSpec, *, images: Sequence[str]) -> None:
    """Raise UnusableError for an invalid spec, with the invalid part and the expected form."""
    check_training_names(spec)
    check_image(spec.image, images)
    for role in spec.roles:
        if role.image:
            check_image(role.image, images)
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
    if spec.runtime:
        _check_name(spec.runtime, sentence("A runtime"), 253, dots=True)
    for given in (spec.queue, spec.queue_priority):
        if given:
            _check_name(given, sentence("A queue or its priority class"), 253, dots=True)
    if spec.max_duration is not None and spec.max_duration < timedelta(seconds=1):
        raise UnusableError(sentence("`--max-duration` must be at least 1s."))


def check_training_names(spec: TrainingSpec) -> None:
    """Raise UnusableError for a name that a training, or its namespace, cannot have."""
    _check_name(spec.name, sentence("A training's name"), MAX_NAME)
    check_new_namespace(spec.namespace)


def check_new_namespace(namespace: str) -> None:
    """Raise UnusableError for a name that no namespace may have, or that is one of the system's."""
    _check_name(namespace, sentence("A namespace"), 63)
    if namespace.startswith(_SYSTEM):
        raise UnusableError(
            sentence(
                "`{namespace}` is a system namespace: choose another `--namespace`.", namespace=namespace
            )
        )


def check_image(image: str, images: Sequence[str]) -> None:
    """Raise UnusableError for an image that is not written like one, or that the settings do not allow."""
    if not _IMAGE.fullmatch(image) or len(image) > 255:
        raise UnusableError(
            sentence(
                "`{given}` is not a valid image name: write it like registry.example/team/name:tag.",
                given=_cut(image),
            )
        )
    if not fits_any(image, images):
        allowed = as_code(images) or sentence("none")
        raise UnusableError(
            sentence("`{image}` is not among the allowed images: {allowed}.", image=image, allowed=allowed)
        )


def _check_role(role: TrainingRole) -> None:
    if role.is_server:
        _check_count(role.replicas, 0, MAX_SERVERS, "--ps")
    else:
        _check_count(role.replicas, 1, MAX_WORKERS, "--workers")
    _check_gpus(role)
    for flag, amount in (("--cpu", role.cpu), ("--memory", role.memory)):
        if amount:
            check_amount(flag, amount)
    _check_words(role)


def check_amount(flag: str, amount: str) -> None:
    """Raise UnusableError for what is neither a quantity nor a range of two, `4..8`."""
    ends = amount.split(RANGE)
    if len(ends) > 2 or any(not is_quantity(one) for one in ends):
        raise UnusableError(
            sentence(
                "`{flag} {given}` is not a quantity: write it like 2, 500m or 64Gi, or 4..8.",
                flag=flag,
                given=_cut(amount),
            )
        )
    if parse_quantity(ends[0]) > parse_quantity(ends[-1]):
        raise UnusableError(
            sentence(
                "`{flag} {given}` has a limit below its request: write the request first, then the limit.",
                flag=flag,
                given=_cut(amount),
            )
        )


def is_quantity(text: str) -> bool:
    """Whether the text is a quantity above zero."""
    return bool(_QUANTITY.fullmatch(text)) and bool(parse_quantity(text))


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
