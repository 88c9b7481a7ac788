"""Errors that `run` refuses and `check` reports: in the settings, in the files that they name, and in the rules."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from alerts.loading.overrides import LOCATION as OVERRIDES
from alerts.rules import Diagnostic
from bot.evaluation.rulebook import Rulebook, read_rulebook
from bot.settings.loading import LoadedSettings, load_settings
from bot.settings.locations import KeyPath
from bot.settings.named_files import store_folder, unreadable_files
from bot.settings.schema import Settings
from collectors.facts.results import SourceError
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions

_PACKS = "rules.packs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """The settings and their rules. `diagnostics`: why they cannot be run.

    `unreadable`: files of secrets and certificates that cannot be read now. Sources of theirs would be blind, but the
    rest runs. `settings` and `rulebook` are None when nothing of them can be used.
    """

    settings: Settings | None
    rulebook: Rulebook | None
    diagnostics: tuple[Diagnostic, ...] = ()
    unreadable: tuple[Diagnostic, ...] = ()


async def validate(config: Path | None) -> Validated:
    """Validate everything that the settings name, without a request to any server."""
    loaded = load_settings(config)
    settings = loaded.settings
    if settings is None:
        return Validated(settings=None, rulebook=None, diagnostics=loaded.diagnostics)
    rulebook = read_rulebook(settings.rules)
    diagnostics = [
        *loaded.diagnostics,
        *(loaded.diagnostic(path, text) for path, text in store_folder(settings)),
        *[loaded.diagnostic(path, text) async for path, text in _kubeconfigs(settings)],
        *_rule_diagnostics(rulebook, settings, loaded),
    ]
    unreadable = [loaded.diagnostic(path, text) for path, text in unreadable_files(settings)]
    return Validated(
        settings=settings,
        rulebook=rulebook,
        diagnostics=tuple(diagnostics),
        unreadable=tuple(unreadable),
    )


async def _kubeconfigs(settings: Settings) -> AsyncIterator[tuple[KeyPath, str]]:
    """Yield the clusters whose credentials for Kubernetes cannot be read."""
    for number, cluster in enumerate(settings.clusters):
        if (kube := cluster.kubernetes) is None:
            continue
        options = KubernetesOptions(kubeconfig=kube.kubeconfig, context=kube.context)
        key = "kubeconfig" if kube.kubeconfig else "context" if kube.context else ""
        path: KeyPath = ("clusters", number, "kubernetes")
        async with AsyncExitStack() as stack:
            try:
                client = await KubernetesClient.connect(options)
                stack.push_async_callback(client.close)
            except SourceError as error:
                yield (*path, key) if key else path, str(error)


def _rule_diagnostics(rulebook: Rulebook, settings: Settings, loaded: LoadedSettings) -> Iterator[Diagnostic]:
    """Yield the rules' errors; those of the settings about rules get the line of the settings."""
    files = [str(file) for file in settings.rules.files]
    for diagnostic in rulebook.diagnostics:
        where = diagnostic.location.file
        if where.startswith(f"{OVERRIDES}."):
            path = _override_path(where.removeprefix(f"{OVERRIDES}."), tuple(settings.rules.overrides))
            yield loaded.diagnostic(path, diagnostic.message)
        elif where.startswith(f"{_PACKS}."):
            number = int(where.removeprefix(f"{_PACKS}."))
            yield loaded.diagnostic(("rules", "packs", number), diagnostic.message)
        elif where in files and not diagnostic.location.line:
            text = f"{where} {diagnostic.message}"
            yield loaded.diagnostic(("rules", "files", files.index(where)), text)
        else:
            yield diagnostic


def _override_path(where: str, names: Sequence[str]) -> KeyPath:
    name = next((one for one in names if where == one or where.startswith(f"{one}.")), where)
    rest = where.removeprefix(name).removeprefix(".")
    return ("rules", "overrides", name, *((rest,) if rest else ()))
