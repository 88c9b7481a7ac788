"""This file becomes another program, after making sure that it cannot outlive its parent.

It is run as a script (`python guard.py PARENT USER PROGRAM ARGUMENT...`), not imported, because the usual way,
`preexec_fn`, may deadlock in a process that has threads. USER may be empty: stay who we are.
PARENT is the process id that must still be our parent; if it is not, it died in between, and so do we.
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
    """Drop to the user, tie our life to the parent's, and exec."""
    parent, user, *argv = sys.argv[1:]
    if user:
        _become(user)
    if sys.platform.startswith("linux"):
        # After the change of user, which would clear it.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(parent):
        raise SystemExit("the process that started this one is gone")
    try:
        os.execv(argv[0], argv)
    except OSError as error:
        raise SystemExit(f"cannot run {argv[0]}: {error.strerror}") from error


if __name__ == "__main__":
    main()
