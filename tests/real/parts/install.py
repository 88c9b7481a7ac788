"""Installer of the real parts that the tests run against: `python3 tests/real/parts/install.py`.

It is idempotent, and instant when everything is installed. A part is installed completely or not at all.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.real.parts import layout
from tests.real.parts.controllers import CONTROLLERS, Controller, FixedPlace
from tests.real.parts.needs import NeedError, check_go, check_maven, java_home

_COMPONENT_VERSION = "k8s.io/component-base/version"
_ES_ARTIFACT = "org.elasticsearch.distribution.integ-test-zip:elasticsearch:{version}:zip"
_OPENSEARCH_ARTIFACT = "org.opensearch.distribution.integ-test-zip:opensearch:{version}:zip"
_ES_VERSIONS = (layout.ELASTICSEARCH, layout.ELASTICSEARCH_7)
_COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
_APT = ("apt-get", "-o", "DPkg::Lock::Timeout=300")
_GO_BUILDS = frozenset({"helm", "kube", *(one.part for one in CONTROLLERS)})
_FOR_SOAK = frozenset(one.part for one in CONTROLLERS if one.for_soak)
_MAVEN_PARTS = frozenset({"elasticsearch", "opensearch"})
_TRIES = 3  # of commands that use a registry


def install_debian(packages: tuple[layout.DebianPackage, ...] = layout.DEBIAN_PACKAGES) -> None:
    """Install the packages that are missing.

    A package may also start its server if systemd runs. The tests use other ports, so that server does no harm;
    `systemctl disable --now` stops it.
    """
    names = [package.name for package in layout.missing_packages(packages)]
    if not names:
        return
    install = ("install", "-y", "--no-install-recommends", *names)
    if shutil.which("apt-get") is None:
        raise NeedError(f"not a Debian system: install the equivalents of {' '.join(names)}")
    if os.geteuid() != 0:
        raise NeedError(f"not root: run `sudo apt-get update && sudo apt-get {' '.join(install)}`")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    _run("debian", [*_APT, "update"], quiet, tries=_TRIES)
    _run("debian", [*_APT, *install], quiet, tries=_TRIES)


def install_kube() -> None:
    """Build the control plane from the Go module in `kube/`."""
    target = layout.kube_folder()
    commands = layout.kube_commands()
    if all((target / name).is_file() for name in commands):
        return
    major, minor, _ = layout.KUBERNETES.split(".")
    stamps = {"gitVersion": f"v{layout.KUBERNETES}", "gitMajor": major, "gitMinor": minor}
    flags = " ".join(
        ("-s -w", *(f"-X {_COMPONENT_VERSION}.{name}={value}" for name, value in stamps.items()))
    )

    def build(folder: Path) -> None:
        sources = [f"./cmd/{name}" for name in commands]
        argv = [
            "go",
            "build",
            "-buildvcs=false",
            "-trimpath",
            "-ldflags",
            flags,
            "-o",
            f"{folder}/",
            *sources,
        ]
        _run("kube", argv, {"CGO_ENABLED": "0"}, cwd=layout.KUBE_MODULE, tries=_TRIES)

    _fill_new(target, build)


def install_helm() -> None:
    """Build helm and kubeconform."""
    _go_install(layout.helm_program(), f"helm.sh/helm/v3/cmd/helm@v{layout.HELM}")
    _go_install(
        layout.kubeconform_program(), f"github.com/yannh/kubeconform/cmd/kubeconform@v{layout.KUBECONFORM}"
    )


def install_controller(controller: Controller) -> None:
    """Build a controller in our Go module, and copy its definitions and webhooks from its own."""
    if all(file.is_file() for file in controller.present()):
        return

    def build(folder: Path) -> None:
        module, source = controller.module, _source_of(controller)
        if controller.fixed is not None:
            module = _with_main(controller.fixed, source, module, folder.with_name("module"))
        for name, package in controller.programs.items():
            argv = ["go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w"]
            argv += ["-o", f"{folder}/{name}", package if controller.fixed is None else "."]
            _run(controller.part, argv, {"CGO_ENABLED": "0"}, cwd=module, tries=_TRIES)
        for place, name in controller.files.items():
            (folder / name).write_bytes((source / place).read_bytes())  # Go's cache is read-only

    _fill_new(controller.folder, build)


def _source_of(controller: Controller) -> Path:
    """Return the folder of the upstream's module, which is downloaded if need be."""
    argv = ["go", "mod", "download", "-json", f"{controller.source}@v{controller.version}"]
    return Path(json.loads(_run(controller.part, argv, {}, cwd=controller.module, tries=_TRIES))["Dir"])


def _with_main(fixed: FixedPlace, source: Path, module: Path, folder: Path) -> Path:
    """Fill a folder with our module and the upstream's main in it, with its fixed place replaced."""
    main = (source / fixed.file).read_text("utf-8")
    if main.count(fixed.text) != 1:
        raise NeedError(f"{fixed.file} has {fixed.text} {main.count(fixed.text)} times: it was 1")
    folder.mkdir()
    for name in ("go.mod", "go.sum"):
        shutil.copy(module / name, folder / name)
    (folder / "main.go").write_text(main.replace(fixed.text, fixed.instead), "utf-8")
    return folder


def install_elasticsearch() -> None:
    """Fetch both Elasticsearch servers from Maven Central."""
    for version in _ES_VERSIONS:
        target = layout.elasticsearch_zip(version)
        if not target.is_file():
            artifact = _ES_ARTIFACT.format(version=version)
            _fill_new(target.parent, partial(_fetch, "elasticsearch", artifact))


def install_opensearch() -> None:
    """Fetch OpenSearch from Maven Central."""
    target = layout.opensearch_zip()
    if not target.is_file():
        artifact = _OPENSEARCH_ARTIFACT.format(version=layout.OPENSEARCH)
        _fill_new(target.parent, partial(_fetch, "opensearch", artifact))


def _fetch(part: str, artifact: str, folder: Path) -> None:
    argv = ["mvn", "-q", "-B", _COPY_GOAL, f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    _run(part, argv, {}, tries=_TRIES)


def missing_parts() -> dict[str, str]:
    """Return the parts that are not installed, each with its missing files or packages."""
    programs = {
        "kube": [layout.kube_program(name) for name in layout.KUBE_COMMANDS],
        "helm": [layout.helm_program(), layout.kubeconform_program()],
        "elasticsearch": [layout.elasticsearch_zip(version) for version in _ES_VERSIONS],
        **{one.part: list(one.present()) for one in CONTROLLERS},
        "opensearch": [layout.opensearch_zip()],
    }
    missing = {part: [str(file) for file in files if not file.is_file()] for part, files in programs.items()}
    missing["debian"] = [package.name for package in layout.missing_packages(layout.DEBIAN_PACKAGES)]
    return {part: ", ".join(names) for part, names in missing.items() if names}


def main() -> None:
    """Install the missing ones of the chosen parts, the slow ones in parallel."""
    installers: dict[str, Callable[[], None]] = {
        "debian": install_debian,
        "elasticsearch": install_elasticsearch,
        "helm": install_helm,
        "kube": install_kube,
        "opensearch": install_opensearch,
        **{one.part: partial(install_controller, one) for one in CONTROLLERS},
    }
    parser = argparse.ArgumentParser(
        description="Install the real servers and programs that the tests run against."
    )
    parser.add_argument(
        "--only", choices=sorted(installers), action="append", help="only this part; may be repeated"
    )
    parser.add_argument("--demo", action="store_true", help="only what the demo needs: Debian's prometheus")
    parser.add_argument("--soak", action="store_true", help="also what only `make soak` runs")
    parser.add_argument(
        "--check", action="store_true", help="install nothing; list what is missing, and fail if anything is"
    )
    chosen = parser.parse_args()
    parts = set(chosen.only or installers.keys() - (set() if chosen.soak else _FOR_SOAK))
    missing = {part: names for part, names in missing_parts().items() if part in parts}
    if chosen.check:
        for part, names in missing.items():
            print(f"{part}: missing {names}")
        raise SystemExit(1 if missing else 0)
    try:
        if chosen.demo:
            install_debian(layout.DEMO_PACKAGES)
            return
        _check_tools(set(missing))
        _install_all({part: install for part, install in installers.items() if part in missing})
    except (NeedError, FileNotFoundError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"parts: {_text_of(error)}") from error


def _check_tools(parts: set[str]) -> None:
    """Report every missing tool at once, before the first long build."""
    checks: list[Callable[[], object]] = []
    if parts & _GO_BUILDS:
        checks.append(check_go)
    if parts & _MAVEN_PARTS:
        checks += [java_home, check_maven]
    errors = []
    for check in checks:
        try:
            check()
        except NeedError as error:
            errors.append(str(error))
    if errors:
        raise NeedError("\n       ".join(errors))


def _install_all(installers: dict[str, Callable[[], None]]) -> None:
    """Run the Go builds one after the other, because each uses all cores, in parallel with downloads."""
    builds = [part for part in installers if part in _GO_BUILDS]
    lanes = [builds, *([part] for part in installers if part not in builds)]

    def work(lane: list[str]) -> None:
        for part in lane:
            started = time.monotonic()
            try:
                installers[part]()
            except (NeedError, subprocess.CalledProcessError) as error:
                print(f"{part}: {_text_of(error)}", flush=True)  # now: the other lane may take minutes more
                raise
            print(f"{part}: done in {time.monotonic() - started:.0f} s", flush=True)

    with concurrent.futures.ThreadPoolExecutor(len(lanes)) as pool:
        for done in [pool.submit(work, lane) for lane in lanes]:
            done.result()


def _go_install(target: Path, package: str) -> None:
    if not target.is_file():
        argv = ["go", "install", "-trimpath", "-ldflags", "-s -w", package]
        place = {"CGO_ENABLED": "0"}
        _fill_new(target.parent, lambda new: _run("helm", argv, {**place, "GOBIN": str(new)}, tries=_TRIES))


def _fill_new(target: Path, fill: Callable[[Path], object]) -> None:
    """Fill a new folder, and replace the target with it only when it is complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as scratch:
        folder = Path(scratch, "new")
        folder.mkdir()
        fill(folder)
        shutil.rmtree(target, ignore_errors=True)
        folder.rename(target)


def _run(
    part: str, argv: list[str], environment: dict[str, str], *, cwd: Path | None = None, tries: int = 1
) -> str:
    """Print and run a command. Return its output, or raise CalledProcessError with it if the last try fails."""
    left = tries
    while True:
        left -= 1
        print(f"{part}: {' '.join(argv)}", flush=True)
        done = subprocess.run(
            argv, env={**os.environ, **environment}, cwd=cwd, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return done.stdout
        if left == 0:
            raise subprocess.CalledProcessError(done.returncode, argv, done.stdout, done.stderr)


def _text_of(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        output = f"{error.stdout}\n{error.stderr}".strip().splitlines()[-30:]
        return "\n".join((f"`{' '.join(error.cmd)}` failed with status {error.returncode}:", *output))
    return str(error)


if __name__ == "__main__":
    main()
