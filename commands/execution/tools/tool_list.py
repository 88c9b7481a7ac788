"""The fixed list of programs that may be run in a container. No word of a chat or a cluster is in a command line."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from collectors.facts.sentences import sentence
from commands.execution.tools.java_threads import read_java_threads
from commands.execution.tools.nccl_ras import read_ras_status
from commands.execution.tools.py_spy import read_stacks
from commands.execution.tools.reading import ToolResult
from commands.execution.tools.smi_gpus import QUERIED, read_smi_gpus

SHELL = ("/bin/sh", "-c")
NOT_THERE = frozenset({126, 127})  # exit codes of a shell: it cannot be run, or it is not there


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program. `command` is what is run, `read` takes apart what it printed and its exit code."""

    name: str
    command: tuple[str, ...]
    shows: str  # what for, after "to": "read the Python stacks"
    read: Callable[[str, int], ToolResult]


# Python processes by their program, or by the name that PyTorch gives its main thread. Sixteen at most: the ranks of
# one container, and not the hundreds of workers of a data loader.
_PYTHON = """n=0
command -v py-spy >/dev/null 2>&1 || exit 127
for d in /proc/[0-9]*; do
  e=$(readlink "$d/exe" 2>/dev/null); c=; read -r c 2>/dev/null < "$d/comm"
  case "${e##*/}:$c" in python*|pypy*|*:python*|*:pt_main_thread) ;; *) continue ;; esac
  n=$((n+1)); [ "$n" -le 16 ] || break
  timeout 20 py-spy dump --nonblocking --pid "${d#/proc/}" 2>&1
done
[ "$n" -gt 0 ] || exit 3"""

_JAVA = """n=0
command -v jstack >/dev/null 2>&1 || exit 127
for d in /proc/[0-9]*; do
  c=; read -r c 2>/dev/null < "$d/comm"
  [ "$c" = java ] || continue
  n=$((n+1)); [ "$n" -le 4 ] || break
  echo "Process ${d#/proc/}"; timeout 20 jstack "${d#/proc/}" 2>&1
done
[ "$n" -gt 0 ] || exit 3"""

TOOLS: Mapping[str, Tool] = {
    one.name: one
    for one in (
        Tool(
            name="py-spy",
            command=(*SHELL, _PYTHON),
            shows=sentence("read the stacks of its Python processes"),
            read=read_stacks,
        ),
        Tool(
            name="ncclras",
            command=("ncclras", "-v"),
            shows=sentence("ask NCCL about its communicators"),
            read=read_ras_status,
        ),
        Tool(
            name="nvidia-smi",
            command=(
                "nvidia-smi",
                f"--query-gpu={','.join(QUERIED)}",
                "--format=csv,noheader,nounits",
            ),
            shows=sentence("ask the driver about its GPUs"),
            read=read_smi_gpus,
        ),
        Tool(
            name="jstack",
            command=(*SHELL, _JAVA),
            shows=sentence("read the stacks of its Java processes"),
            read=read_java_threads,
        ),
    )
}
