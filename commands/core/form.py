"""The form of a command: a field for each of its parameters, and the line that a filled form stands for."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from collectors.facts.sentences import Sentence, said_by, sentence
from commands.core.command import AnyCommand, FormRequest, UnusableError
from commands.core.matching.interpretation import positional_words
from commands.core.parameter_types import NameKind, NameType, kinds_of
from commands.core.parameters import RequiredUnless, WithFile, is_missing
from commands.core.parsing import action_of

EXTRA = "extra"  # the field of the words after `--`
_LABELS = {  # of parameters whose names are too short for a label; with the command where it is another's elsewhere
    "--gpus": "GPUs of each worker",
    "--gpu-resource": "Resource of the GPUs",
    "--cpu": "CPUs of each task",
    "--memory": "Memory of each task",
    "--ps": "Parameter servers",
    "--script": "Script in the image",
    "--max-duration": "Longest time",
    "--backoff": "Retries of failed tasks",
    "--not-on": "Nodes to keep off",
    "--node-selector": "Labels of the nodes",
    "--metrics-port": "Port of the metrics",
    "--service-per-task": "A Service for each task",
    "--wait": "Launch although it does not fit",
    "--for": "How long",
    "--free": "With free GPUs only",
    "--all": "All of them",
    "--by": "By whom",
    "--last": "How many",
    "--after": "Idle for",
    "--grace": "Time to answer",
    "gpu": "Number of the GPU",
    "--gpu": "Number of the GPU",
    "priority_class": "Priority class",
    "matchers": "Labels of the alerts",
    "words": "Command",
    "--pending": "Pending alerts, too",
    "--page": "Page of its alerts",
    "--in": "Begins in",
    "--instead": "Silence that it replaces",
    "--cordoned": "Cordoned nodes only",
    "--out": "Nodes out of service only",
    "--suite": "Suite of tests",
    "--to": "New owner",
    "--mine": "My own only",
    "--json": "As JSON",
    "--errors": "Lines with errors only",
    "--since": "Not older than",
    "--follow": "Show new lines as they come",
    "--previous": "Before the last restart",
    "--tail": "How many lines",
    "--kind": "Kind of training",
    "--like": "Same as this training",
    "--runtime": "Runtime of the kind",
    "--tool": "Tool to run",
    "--evicted": "Evicted pods only",
    "--older": "Ended longer ago than",
    "--hash": "Hash of the plan",
    "--of": "About what",
    "--what": "What was done",
    "alert ack name": "Alert or incident",
    "alert hand-over name": "Alert or incident",
    "alert unack name": "Alert or incident",
    "alert why name": "Alert or incident",
    "silence incident name": "Incident",
    "training launch name": "Name of the training",
    "training launch --spec": "Rest is in a file",
    "training launch --from": "Object is in a file",
    "runbook name": "Page or alert",
    "node accept --with": "Second node",
    "node repair --with": "Which repair",
}
FormValues = Mapping[str, tuple[str, ...]]  # by the field's name; a ticked flag has its own name as value


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """One field. With `kinds` its value is a name of such a thing, with `choices` one of these, else a text."""

    name: str  # the option, or the argument's name
    label: str
    hint: str = ""
    is_required: bool = False
    is_many: bool = False
    is_flag: bool = False
    kinds: tuple[NameKind, ...] = ()
    choices: tuple[str, ...] = ()
    values: tuple[str, ...] = ()  # what is known already


def fields_of(form: FormRequest) -> tuple[FormField, ...]:
    """Return the fields of the form: arguments first, then what is required, then the other options."""
    given = _given(form.command, form.words)
    name = form.command.name
    shown = [
        one
        for one in form.command.parameters
        if not _is_hidden(one) and (not isinstance(one, WithFile) or _name(one) in given)
    ]
    shown.sort(key=lambda one: (isinstance(one, click.Option), not one.required))
    fields = [_field(name, parameter, given) for parameter in shown]
    if form.command.allows_extra:
        values = tuple(given.get(EXTRA, ()))
        label, hint = "Arguments", sentence("the words after the program's name, as in a shell")
        fields.append(FormField(name=EXTRA, label=label, hint=hint, values=values))
    return tuple(fields)


def line_words(command: AnyCommand, values: FormValues) -> list[str]:
    """Return the line that the filled form stands for, as words. Raises UnusableError on an open quote."""
    words = command.name.split()
    options: list[str] = []
    for parameter in command.parameters:
        given = [value for value in values.get(_name(parameter), ()) if value.strip()]
        if isinstance(parameter, click.Option) and parameter.is_flag:
            options += [parameter.opts[0]] if given else []
        elif isinstance(parameter, click.Option):
            options += [f"{parameter.opts[0]}={value.strip()}" for value in given]
        elif isinstance(parameter.type, NameType) or parameter.nargs != -1:
            words += [value.strip() for value in given]
        else:
            words += [word for value in given for word in _split(value)]
    extra = [word for value in values.get(EXTRA, ()) for word in _split(value)]
    return [*words, *options, *(["--", *extra] if extra else [])]


def mistakes(command: AnyCommand, values: FormValues) -> dict[str, str]:
    """Return what is wrong with a filled form, by the name of the field; empty if its line can be run."""
    found: dict[str, str] = {}
    for parameter in command.parameters:
        for value in values.get(_name(parameter), ()):
            if isinstance(parameter, click.Option) and parameter.is_flag:
                continue
            try:
                parameter.type.convert(value.strip(), parameter, None)
            except click.BadParameter as error:
                found[_name(parameter)] = error.message
    if found:
        return found
    try:
        action_of(command, line_words(command, values))
    except UnusableError as error:
        filled = {name for name, given in values.items() if any(value.strip() for value in given)}
        missing = (
            one for one in command.parameters if is_missing(one, filled, has_value=_name(one) in filled)
        )
        at = next(missing, None) or next((one for one in command.parameters if not _is_hidden(one)), None)
        return {_name(at) if at is not None else EXTRA: _without_usage(said_by(error))}
    return {}


def _without_usage(said: str) -> str:
    """Return what is wrong with a line, without how it is written: a form has its fields for that."""
    wrong = said.arguments.get("wrong") if isinstance(said, Sentence) else None
    return wrong if isinstance(wrong, str) else said


def _field(command: str, parameter: click.Parameter, given: Mapping[str, list[str]]) -> FormField:
    name = _name(parameter)
    is_flag = isinstance(parameter, click.Option) and bool(parameter.is_flag)
    is_menu = isinstance(parameter.type, NameType) and parameter.type.is_listed
    kinds = kinds_of(parameter) if is_menu else ()
    help_text = parameter.help or "" if isinstance(parameter, click.Option) else ""
    return FormField(
        name=name,
        label=_LABELS.get(f"{command} {name}") or _LABELS.get(name) or _as_words(name),
        hint=help_text,
        is_required=parameter.required and not isinstance(parameter, RequiredUnless),
        is_many=parameter.nargs == -1 or parameter.multiple,
        is_flag=is_flag,
        kinds=kinds,
        choices=tuple(map(str, parameter.type.choices)) if isinstance(parameter.type, click.Choice) else (),
        values=tuple(given.get(name, ())),
    )


def _as_words(name: str) -> str:
    return name.lstrip("-").replace("-", " ").replace("_", " ").capitalize()


def _given(command: AnyCommand, words: Sequence[str]) -> dict[str, list[str]]:
    """Return the values that the words of a line already have, by the name of the field."""
    given: dict[str, list[str]] = {}
    cut = words.index("--") if "--" in words else len(words)
    head = list(words[:cut])
    if words[cut + 1 :]:
        given[EXTRA] = [shlex.join(words[cut + 1 :])]
    arguments = [one for one in command.parameters if isinstance(one, click.Argument)]
    for number, at in enumerate(positional_words(command, head)):
        if arguments:
            given.setdefault(_name(arguments[min(number, len(arguments) - 1)]), []).append(head[at])
    flags = {flag: one for one in command.parameters if isinstance(one, click.Option) for flag in one.opts}
    for at, word in enumerate(head):
        flag, equals, value = word.partition("=")
        option = flags.get(flag)
        if option is None:
            continue
        following = value if equals else head[at + 1] if at + 1 < len(head) else ""
        given.setdefault(_name(option), []).append(_name(option) if option.is_flag else following)
    return given


def _name(parameter: click.Parameter) -> str:
    return parameter.opts[0] if isinstance(parameter, click.Option) else str(parameter.name)


def _is_hidden(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and parameter.hidden


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UnusableError(sentence("A quote is not closed in `{text}`.", text=text)) from error
