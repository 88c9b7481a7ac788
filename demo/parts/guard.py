"""Wrapper that executes a program which the kernel kills when its parent dies.

It is run as a script (`python guard.py PARENT USER PROGRAM ARGUMENT...`), not imported, because the usual way,
`preexec_fn`, may deadlock in a process that has threads. An empty USER keeps the current user.
PARENT is the expected parent's process id; if the parent is another one, it has died, and this process exits.
"""

import ctypes
import os
import pwd
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def _become(user: str) -> None:
    entry = pwd.getpwnam(user)
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)
    os.environ["HOME"] = "/"


def main() -> None:
    """Change to the user, arrange to be killed with the parent, and execute the program."""
    parent, user, *argv = sys.argv[1:]
    if user:
        _become(user)
    if sys.platform.startswith("linux"):
        # After the change of user, which clears the setting.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(parent):
        raise SystemExit("the parent process is gone")
    try:
        os.execv(argv[0], argv)
    except OSError as error:
        raise SystemExit(f"cannot run {argv[0]}: {error.strerror}") from error


if __name__ == "__main__":
    main()
