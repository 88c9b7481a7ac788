"""The readers on outputs in the formats that the tools document; the README beside the files names the sources."""

from pathlib import Path

import pytest

from collectors.acceptance.nccl_tests import ALL_REDUCE, COPY
from collectors.acceptance.reader_catalogue import OUTPUT_READERS
from collectors.acceptance.readings import NextStep, PartReport, PartState, ReadResult

OUTPUTS = Path(__file__).parent / "outputs"
READER_OF = {"dcgm": "dcgm-diag", "nccl": "nccl-tests", "smi": "nvidia-smi", "lines": "lines"}
PASSING = [
    *sorted(path.name for path in OUTPUTS.glob("*-pass.*")),
    "dcgm-4-persistence.json",
    "nccl-2.18-each.txt",
    "nccl-2.18-mpi.txt",
]


def read(file: str, text: str | None = None) -> ReadResult:
    reader = OUTPUT_READERS[READER_OF[file.partition("-")[0]]]
    return reader(text if text is not None else (OUTPUTS / file).read_text())


def failed(reading: ReadResult) -> list[tuple[str, int | None, NextStep]]:
    return [(one.part, one.gpu, one.next_step) for one in reading.failed]


@pytest.mark.parametrize("file", PASSING)
def test_what_passed_is_read_as_passed(file: str) -> None:
    reading = read(file)
    assert reading.has_passed, reading


@pytest.mark.parametrize("file", PASSING)
def test_an_output_that_is_cut_anywhere_before_its_last_line_is_no_pass(file: str) -> None:
    text = (OUTPUTS / file).read_text()
    end = (
        text.rstrip().rfind("\n}")
        if file.endswith("json")
        else text.rindex("yardmaster/1 end")
        if (file.startswith("lines"))
        else text.rindex("# Avg bus")
        if file.startswith("nccl")
        else 0
    )
    if file.startswith("smi"):  # that rows are missing shows by their number
        half = read(file, text[: text.rindex("\n3, ") + 30])
        assert half.problem
        assert half.gpus == 3
        return
    for cut in range(0, end, 37):
        reading = read(file, text[:cut])
        assert not reading.has_passed, text[:cut][-80:]
        assert reading.problem


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("dcgm-1.7-fail.json", [("GPU Memory", 2, NextStep.REPLACE)]),
        ("dcgm-3.1-fail.json", [("PCIe", 1, NextStep.REPLACE)]),
        ("dcgm-4-fail.json", [("memory", 3, NextStep.RESET)]),
        ("nccl-2.13-wrong.txt", [("NCCL", None, NextStep.REPLACE)]),
        ("nccl-2.17-failure.txt", [("NCCL", None, NextStep.REBOOT)]),
        (
            "smi-580-fail.csv",
            [
                ("memory", 0, NextStep.RESET),
                ("memory", 1, NextStep.REPLACE),
                ("PCIe", 2, NextStep.REBOOT),
                ("memory", 3, NextStep.RESET),
            ],
        ),
        ("smi-535-reset.csv", [("GPU", 2, NextStep.RESET)]),
        ("smi-535-lost.txt", [("driver", None, NextStep.REBOOT)]),
        ("smi-no-driver.txt", [("driver", None, NextStep.CONFIGURE)]),
        ("lines-fail.txt", [("device-files", None, NextStep.CONFIGURE), ("network", 9, NextStep.LOOK)]),
    ],
)
def test_what_failed_names_the_part_the_gpu_and_the_next_step(
    file: str, expected: list[tuple[str, int | None, NextStep]]
) -> None:
    reading = read(file)
    assert failed(reading) == expected
    assert not reading.has_passed
    assert all(one.said for one in reading.failed)


def test_persistence_mode_that_is_off_is_a_warning_and_fails_no_gpu() -> None:
    reading = read("dcgm-4-persistence.json")
    assert [one.outcome for one in reading.findings] == [PartState.WARNED] * 4
    assert {one.next_step for one in reading.findings} == {NextStep.CONFIGURE}


def test_a_diagnostic_that_tested_no_hardware_proves_nothing() -> None:
    reading = read("dcgm-4-skipped.json")
    assert reading.problem == "DCGM tested no hardware: Plugin is not allowed on this SKU"
    assert not reading.has_passed


def test_a_diagnostic_that_could_not_run_says_why() -> None:
    reading = read("dcgm-3.1-error.json")
    assert reading.problem == (
        "DCGM could not run: Unable to run diagnostic: the GPUs are in use by another process"
    )


def test_a_word_that_is_not_known_is_no_pass() -> None:
    text = (OUTPUTS / "dcgm-4-pass.json").read_text().replace('"Pass"', '"Excellent"')
    reading = read("dcgm-4-pass.json", text)
    assert not reading.has_passed
    assert reading.problem


@pytest.mark.parametrize(
    ("file", "versions"),
    [
        ("dcgm-1.7-pass.json", {"DCGM": "1.7"}),
        ("dcgm-3.1-pass.json", {"DCGM": "3.1.0", "driver": "525.75"}),
        ("dcgm-4-pass.json", {"DCGM": "4.2.3", "driver": "580.126.09"}),
        ("nccl-2.18-pass.txt", {"nccl-tests": "2.18.3", "NCCL": "23003"}),
        (
            "smi-535-pass.csv",
            {"driver": "535.183.06", "VBIOS": "96.00.61.00.01", "GPU": "NVIDIA H100 80GB HBM3"},
        ),
        ("lines-pass.txt", {"kernel": "6.8.0-45-generic"}),
    ],
)
def test_versions_are_read(file: str, versions: dict[str, str]) -> None:
    assert read(file).versions == versions


@pytest.mark.parametrize(
    "file", ["nccl-2.0-pass.txt", "nccl-2.13-pass.txt", "nccl-2.18-pass.txt", "nccl-2.18-mpi.txt"]
)
def test_the_best_bus_bandwidth_is_the_figure_of_all_versions(file: str) -> None:
    (figure,) = read(file).figures
    assert (figure.name, figure.value, figure.unit, figure.gpu) == (ALL_REDUCE, 466.57, "GB/s", None)


def test_each_gpu_alone_has_its_own_figure() -> None:
    figures = {(one.name, one.gpu): one.value for one in read("nccl-2.18-each.txt").figures}
    assert figures == {
        (COPY, 0): 1339.8,
        (COPY, 1): 1341.1,
        (COPY, 2): 1102.5,
        (COPY, 3): 1340.0,
        (ALL_REDUCE, None): 466.57,
    }


def test_the_figures_of_pcie_are_in_the_words_of_the_test() -> None:
    figures = {(one.name, one.gpu): one.value for one in read("dcgm-1.7-pass.json").figures}
    assert figures["PCIe GPU to Host", 3] == 24.9
    assert figures["PCIe bidirectional", 0] == 19.9
    assert len(figures) == 12


def test_our_lines_have_figures_of_which_some_are_costs() -> None:
    figures = {one.name: (one.value, one.unit, one.is_cost) for one in read("lines-pass.txt").figures}
    assert figures == {
        "disk-write": (1.92, "GB/s", False),
        "dns": (3.0, "ms", True),
        "network": (0.4, "ms", True),
    }


def test_a_gpu_that_is_held_back_is_a_warning() -> None:
    (warning,) = [one for one in read("smi-580-fail.csv").findings if one.outcome is PartState.WARNED]
    assert warning == PartReport(
        part="clocks",
        gpu=3,
        outcome=PartState.WARNED,
        said="held back by hw_thermal_slowdown",
        next_step=NextStep.LOOK,
    )


@pytest.mark.parametrize("reader", sorted(OUTPUT_READERS))
@pytest.mark.parametrize(
    "text", ["", "\n \n", "command not found", "{}", "[]", "null", "#", "index", "," * 999]
)
def test_what_is_not_an_output_of_the_tool_says_so(reader: str, text: str) -> None:
    reading = OUTPUT_READERS[reader](text)
    assert reading.problem
    assert not reading.has_passed


@pytest.mark.parametrize(
    "said",
    [
        "/bin/sh: 12: all_reduce_perf: not found",
        "bash: line 12: all_reduce_perf: command not found",
        "sh: all_reduce_perf: not found",
    ],
)
def test_a_program_that_the_image_does_not_have_is_named(said: str) -> None:
    lines = f"yardmaster/1 gpu 0\n{said}\nyardmaster/1 gpu all\n{said}\n"
    assert OUTPUT_READERS["nccl-tests"](lines).problem == "its image has no `all_reduce_perf`"
    for reader in ("dcgm-diag", "nvidia-smi", "lines"):
        assert OUTPUT_READERS[reader](said).problem == "its image has no `all_reduce_perf`"
