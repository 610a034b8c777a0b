"""Runs the emulator for as long as whoever started it lives.

Its standard input is a pipe that nobody writes to. When the other end closes, because the stack was stopped
or its process was killed, the emulator saves its state and ends, and the functions' processes end with it.
"""

import os
import signal
import sys
import threading

from ministack import app

SAVING_TAKES_AT_MOST = 20  # seconds

saved = threading.Event()
save_all = app.save_all


def end_functions():
    """End the functions' processes: they are all of this process group but this process."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(os.getpgrp(), signal.SIGTERM)


def save_and_say_so(services):
    # A function that still worked would change tables after they were saved.
    end_functions()
    save_all(services)
    saved.set()


def end_with_the_pipe():
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    saved.wait(SAVING_TAKES_AT_MOST)
    # Without waiting for what still runs: a function may be in the middle of its minute.
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    if os.getpgrp() != os.getpid():
        sys.exit("run.py must lead a process group of its own, since it ends the whole group")
    app.save_all = save_and_say_so
    threading.Thread(target=end_with_the_pipe, daemon=True).start()
    sys.argv = ["ministack"]
    app.main()
