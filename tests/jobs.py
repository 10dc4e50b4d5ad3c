"""A shell with jobs, as small as it can be."""

from __future__ import annotations

__all__ = ["JOB_SHELL"]

JOB_SHELL = """
import os, signal, subprocess, sys, termios
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
def in_front():
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
mine = termios.tcgetattr(0)
started = subprocess.Popen(sys.argv[1:], preexec_fn=in_front)
while os.WIFSTOPPED(os.waitpid(started.pid, os.WUNTRACED)[1]):
    os.tcsetpgrp(0, os.getpgrp())
    termios.tcsetattr(0, termios.TCSADRAIN, mine)
    print("woken", flush=True)
    os.tcsetpgrp(0, started.pid)
    os.killpg(started.pid, signal.SIGCONT)
"""
"""A program that starts a command as a shell with jobs does; whenever that pauses it puts the terminal in order, says
`woken`, and wakes it."""
