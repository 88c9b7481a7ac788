"""The scripts of our suite, run for real in a folder of their own, with tools that are recorded or played."""

import os
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from collectors.acceptance.nccl_tests import ALL_REDUCE, COPY
from collectors.acceptance.reader_catalogue import OUTPUT_READERS
from collectors.acceptance.readings import ReadResult
from commands.acceptance.suites import our_suite

OUTPUTS = Path("tests/collectors/acceptance/outputs").resolve()
TESTS = {one.name: one for one in our_suite().tests}


def run(
    name: str, folder: Path, env: Mapping[str, str] | None = None, tools: Mapping[str, str] | None = None
) -> tuple[str, ReadResult]:
    """Run a script with these tools first in its path; return what it printed, and what is read of it."""
    bin = folder / "bin"
    bin.mkdir(exist_ok=True)
    for tool, text in (tools or {}).items():
        (bin / tool).write_text(f"#!/bin/sh\n{text}\n")
        (bin / tool).chmod(0o755)
    test = TESTS[name]
    ran = subprocess.run(
        [test.shell, "-c", test.text],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PATH": f"{bin}:{os.environ['PATH']}", "YARDMASTER_GPUS": "4", **(env or {})},
    )
    assert ran.returncode == 0, ran.stderr
    # As the log of a Job keeps it.
    assert all(len(line) <= 4_000 for line in ran.stdout.splitlines())
    return ran.stdout, OUTPUT_READERS[test.reads](ran.stdout)


@pytest.mark.parametrize("name", sorted(TESTS))
def test_each_script_is_one_that_the_shell_can_read(name: str) -> None:
    subprocess.run([TESTS[name].shell, "-n", "-c", TESTS[name].text], check=True)


def test_the_drivers_answer_is_read(tmp_path: Path) -> None:
    tools = {"nvidia-smi": f'echo "$@" > {tmp_path}/asked; cat {OUTPUTS}/smi-580-pass.csv'}
    _, result = run("driver", tmp_path, tools=tools)
    assert result.has_passed
    assert result.gpus == 4
    asked = (tmp_path / "asked").read_text()
    assert asked.startswith("--query-gpu=index,name,uuid,driver_version,")
    assert asked.endswith("--format=csv\n")


def test_a_driver_that_does_not_answer_fails(tmp_path: Path) -> None:
    tools = {"nvidia-smi": f"cat {OUTPUTS}/smi-no-driver.txt; exit 9"}
    _, result = run("driver", tmp_path, tools=tools)
    assert [one.part for one in result.failed] == ["driver"]


def test_device_files_that_are_there_pass_and_missing_ones_are_named(tmp_path: Path) -> None:
    dev = tmp_path / "dev"
    dev.mkdir()
    for name in ("nvidia0", "nvidia1", "nvidia2", "nvidia3", "nvidiactl", "nvidia-uvm"):
        (dev / name).touch()
    _, result = run("devices", tmp_path, {"YARDMASTER_DEV": str(dev)})
    assert result.has_passed
    (dev / "nvidia3").unlink()
    (dev / "nvidia-uvm").unlink()
    _, result = run("devices", tmp_path, {"YARDMASTER_DEV": str(dev)})
    assert [(one.part, one.said) for one in result.failed] == [
        ("device-files", "3 of 4 files /dev/nvidiaN are there"),
        ("nvidia-uvm", "/dev/nvidia-uvm is missing: node repair with nvidia-uvm makes it"),
    ]


@pytest.mark.parametrize("file", sorted(path.name for path in OUTPUTS.glob("dcgm-*.json")))
def test_the_diagnostic_is_read_the_same_in_short_lines(file: str, tmp_path: Path) -> None:
    whole = (OUTPUTS / file).read_text()
    tools = {"dcgmi": f'[ "$1" = discovery ] || cat {OUTPUTS}/{file}', "nv-hostengine": "exit 1"}
    printed, result = run("dcgm", tmp_path, tools=tools)
    assert max(map(len, printed.splitlines())) <= 2_000
    assert result == OUTPUT_READERS["dcgm-diag"](whole)


def test_each_gpu_is_measured_alone_and_then_all_together(tmp_path: Path) -> None:
    one = (OUTPUTS / "nccl-2.18-each.txt").read_text().split("yardmaster/1 gpu 1\n")[0].partition("\n")[2]
    (tmp_path / "one").write_text(one)
    play = f"""
echo "$CUDA_VISIBLE_DEVICES: $*" >> {tmp_path}/asked
case "$*" in *"-g 1") cat {tmp_path}/one;; *) cat {OUTPUTS}/nccl-2.18-pass.txt;; esac
"""
    _, result = run("nccl", tmp_path, tools={"all_reduce_perf": play})
    assert result.has_passed
    assert [(figure.name, figure.gpu) for figure in result.figures] == [
        *((COPY, gpu) for gpu in range(4)),
        (ALL_REDUCE, None),
    ]
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == [
        *(f"{gpu}: -b 1G -e 1G -f 2 -g 1" for gpu in range(4)),
        ": -b 256M -e 4G -f 2 -g 4",
    ]


UUID = "GPU-00000002-1111-2222-3333-444444444444"
DISCOVERY = """2 GPUs found.
+--------+----------------------------------------------------------------------+
| GPU ID | Device Information                                                   |
+--------+----------------------------------------------------------------------+
| 0      | Name: NVIDIA H100 80GB HBM3                                          |
|        | PCI Bus ID: 00000000:1B:00.0                                         |
|        | Device UUID: GPU-00000009-1111-2222-3333-444444444444                |
+--------+----------------------------------------------------------------------+
| 5      | Name: NVIDIA H100 80GB HBM3                                          |
|        | PCI Bus ID: 00000000:43:00.0                                         |
|        | Device UUID: GPU-00000002-1111-2222-3333-444444444444                |
+--------+----------------------------------------------------------------------+
"""


def test_one_gpu_is_diagnosed_by_the_number_that_dcgm_gives_it(tmp_path: Path) -> None:
    (tmp_path / "discovery").write_text(DISCOVERY)
    play = (
        f'[ "$1" = discovery ] && exec cat {tmp_path}/discovery\n'
        f'echo "$*" > {tmp_path}/asked\ncat {OUTPUTS}/dcgm-4-pass.json'
    )
    _, result = run("dcgm", tmp_path, {"YARDMASTER_GPU": UUID}, tools={"dcgmi": play})
    assert result.has_passed
    assert (tmp_path / "asked").read_text() == "diag -r 2 -j -i 5\n"
    _, result = run("dcgm", tmp_path, {"YARDMASTER_GPU": "GPU-none"}, tools={"dcgmi": play})
    assert result.problem == "DCGM could not run: it does not see GPU GPU-none"


def test_the_driver_and_nccl_are_asked_for_the_one_gpu_alone(tmp_path: Path) -> None:
    rows = (OUTPUTS / "smi-580-pass.csv").read_text().splitlines()
    (tmp_path / "one").write_text("\n".join(rows[:2]))
    tools = {"nvidia-smi": f'echo "$@" > {tmp_path}/asked; cat {tmp_path}/one'}
    _, result = run("driver", tmp_path, {"YARDMASTER_GPU": UUID}, tools=tools)
    assert result.gpus == 1
    assert (tmp_path / "asked").read_text().startswith(f"-i {UUID} --query-gpu=index,")

    alone = (OUTPUTS / "nccl-2.18-each.txt").read_text().split("yardmaster/1 gpu 1\n")[0].partition("\n")[2]
    (tmp_path / "alone").write_text(alone)
    tools = {"all_reduce_perf": f'echo "$CUDA_VISIBLE_DEVICES: $*" >> {tmp_path}/ran; cat {tmp_path}/alone'}
    _, result = run("nccl", tmp_path, {"YARDMASTER_GPU": UUID}, tools=tools)
    assert result.has_passed
    assert [(one.name, one.gpu) for one in result.figures] == [(COPY, 0)]
    assert (tmp_path / "ran").read_text() == f"{UUID}: -b 1G -e 1G -f 2 -g 1\n"


def test_a_disk_is_written_and_read_again(tmp_path: Path) -> None:
    _, result = run("disk", tmp_path, {"YARDMASTER_SCRATCH": str(tmp_path), "YARDMASTER_BLOCKS": "2"})
    assert result.has_passed
    assert [figure.name for figure in result.figures] == ["disk-write"]
    assert not (tmp_path / "yardmaster-disk-test").exists()
    _, result = run("disk", tmp_path, {"YARDMASTER_SCRATCH": "/nowhere", "YARDMASTER_BLOCKS": "2"})
    assert {one.part for one in result.failed} == {"disk-write", "disk-read"}


def test_a_neighbour_that_answers_passes_and_one_that_does_not_fails(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        port = str(server.getsockname()[1])
        env = {"YARDMASTER_NEIGHBOUR": "127.0.0.1", "YARDMASTER_PORT": port, "YARDMASTER_NAME": "localhost"}
        _, result = run("network", tmp_path, env)
        assert result.has_passed
    _, result = run("network", tmp_path, env)
    assert [one.said for one in result.failed] == ["20 of 20 connections to the neighbour failed"]


def test_without_a_neighbour_the_network_is_not_tested(tmp_path: Path) -> None:
    _, result = run("network", tmp_path, {"YARDMASTER_NAME": "localhost", "YARDMASTER_NEIGHBOUR": ""})
    assert [(one.part, one.outcome) for one in result.findings] == [("network", "skipped")]
    _, result = run("network", tmp_path, {"YARDMASTER_NAME": "no.such.invalid", "YARDMASTER_NEIGHBOUR": ""})
    assert [one.part for one in result.failed] == ["dns"]
