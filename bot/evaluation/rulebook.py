"""The rulebook: shipped packs, the files of the settings, and their overrides."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path

from alerts.loading import Loaded, load, merge, override
from alerts.loading.node_reader import did_you_mean
from alerts.loading.rule_files import NO_RULES
from alerts.loading.second_signals import wrong_second_signals
from alerts.rules import Diagnostic, FileLocation, Rule, RuleGroup, Symbols
from alerts.runbooks import runbook_names
from bot.settings.schema import RuleOverride, RulesSettings
from collectors.check_catalogue import CHECKS
from collectors.facts.queries import PromQLQuery
from collectors.facts.sentences import said_by, sentence
from collectors.facts.subjects import WORDS
from commands.command_catalogue import CATALOGUE
from commands.core.command import UnusableError
from commands.core.parsing import find, parse_line

SUFFIXES = (".yard.yaml", ".yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rulebook:
    """The rule groups, and every error in what was read. With diagnostics the groups must not be used.

    `warnings`: what is valid, and probably not what was meant.
    """

    groups: tuple[RuleGroup, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(rule for group in self.groups for rule in group.rules)


def symbols() -> Symbols:
    """Return what rule files may name: checks, commands and subject fields."""
    return Symbols(
        checks={name: check.parameters for name, check in CHECKS.items()},
        runbooks=frozenset(runbook_names()),
        subject_fields=frozenset(WORDS),
        check_action=check_action,
        makes_plan=makes_plan,
    )


def check_action(line: str) -> str | None:
    """Return why the line of an action is not a command, or None. Each placeholder stands for one word."""
    try:
        parse_line(line, CATALOGUE)
    except UnusableError as error:
        return said_by(error)
    return None


def makes_plan(line: str) -> bool:
    """Whether the line is one of a command that makes a plan, which gates can hold back and an undo reverts."""
    return find(line.split(), CATALOGUE).plan is not None


def pack_names() -> tuple[str, ...]:
    """Return the names of the shipped packs: gpu, node, dns, …"""
    return tuple(sorted({_pack(file.name) for file in _shipped()}))


def read_rulebook(settings: RulesSettings) -> Rulebook:
    """Read all rules. Errors of every file are collected, as are unknown packs and overrides."""
    known = pack_names()
    wanted = settings.packs if settings.packs is not None else known
    diagnostics = [
        Diagnostic(
            location=FileLocation(file=f"rules.packs.{number}"),
            message=f"there is no pack `{name}`{did_you_mean(name, known)}",
        )
        for number, name in enumerate(wanted)
        if name not in known
    ]
    loaded = [
        _shipped_rules(file)
        for file in _shipped()
        if diagnostics or _pack(file.name) in wanted  # whose pack is misspelled, an override may still name
    ]
    loaded += [_from_file(path, symbols()) for path in settings.files]
    whole = merge(loaded)
    changed = override(_with_interval(whole.groups, settings), _plain(settings.overrides))
    return Rulebook(
        groups=changed.groups,
        diagnostics=(
            *diagnostics,
            *whole.diagnostics,
            *wrong_second_signals(whole.groups),
            *changed.diagnostics,
        ),
        warnings=whole.warnings,
    )


@cache
def _shipped_rules(file: Path) -> Loaded:
    """Read a shipped file once: it stays as it is while the process runs."""
    return _of_pack(load(file.read_text(encoding="utf-8"), file=file.name, symbols=symbols(), own=True))


def _of_pack(loaded: Loaded) -> Loaded:
    """Return a pack's rules, whose queries are asked in the dialect of what a Prometheus has."""

    def marked(rule: Rule) -> Rule:
        query, proof = rule.query, rule.template.proof_query
        if proof is not None:
            rule = replace(rule, template=replace(rule.template, proof_query=replace(proof, of_pack=True)))
        return replace(rule, query=replace(query, of_pack=True)) if isinstance(query, PromQLQuery) else rule

    groups = (replace(group, rules=tuple(map(marked, group.rules))) for group in loaded.groups)
    return replace(loaded, groups=tuple(groups))


def read_rule_file(path: Path, settings: RulesSettings) -> Rulebook:
    """Read one rule file as if the settings named it."""
    loaded = _from_file(path, symbols())
    return Rulebook(groups=_with_interval(loaded.groups, settings), diagnostics=loaded.diagnostics)


def _from_file(path: Path, known_symbols: Symbols) -> Loaded:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = str(error.strerror) if isinstance(error, OSError) else sentence("it is not UTF-8 text")
        message = sentence("cannot be read: {reason}", reason=reason)
        diagnostic = Diagnostic(location=FileLocation(file=str(path)), message=message)
        return Loaded(diagnostics=(diagnostic,))
    loaded = load(text, file=str(path), symbols=known_symbols, own=True)
    if not loaded.is_empty:
        return loaded
    empty = Diagnostic(location=FileLocation(file=str(path)), message=NO_RULES)
    return replace(loaded, warnings=(*loaded.warnings, empty))


def _with_interval(groups: Iterable[RuleGroup], settings: RulesSettings) -> tuple[RuleGroup, ...]:
    """Return the groups, with the settings' interval for those that name none."""
    return tuple(
        group
        if group.interval is not None
        else replace(group, rules=tuple(replace(rule, interval=settings.interval) for rule in group.rules))
        for group in groups
    )


def _plain(overrides: dict[str, RuleOverride]) -> dict[str, dict[str, object]]:
    return {
        name: changes.model_dump(by_alias=True, exclude_unset=True) for name, changes in overrides.items()
    }


def _shipped() -> list[Path]:
    folder = resources.files("alerts.packs")
    return sorted(
        (
            Path(str(file))
            for file in folder.iterdir()
            if file.name.endswith(SUFFIXES) and ".test." not in file.name
        ),
        key=lambda path: path.name,
    )


def _pack(name: str) -> str:
    return name.partition(".")[0]
