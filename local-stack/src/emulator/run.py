"""Runs the emulator, ministack, for as long as whoever started it lives, with eight things changed.

- It ends with its parent, however that died, and its functions end with it. Its standard input is a pipe that nobody
  writes to: when the other end closes, it saves its state and ends.
- A crash loses at most a few seconds: by itself ministack saves its state only when it stops in an orderly way.
- The state can be used on another port: by itself ministack no longer finds its queues there.
- An invocation takes 10 ms of its own instead of 95.
- OPTIONS reaches the function, as on AWS when an HTTP API has no CORS settings: by itself it answers 403.
- A preflight for a bucket is answered by the bucket's own CORS rule: by itself it allows everything to everybody.
- Alarms go off as in CloudWatch; see alarms.py.
- Functions get what is written to tables as from Lambda; see streams.py.

Everything else is ministack with its own environment variables.
"""

import logging
import os
import signal
import socketserver
import sys
import threading
import time
from functools import partial

import alarms
import ministack.app as app
import streams
from ministack.core.lambda_runtime import Worker
from ministack.services import apigateway, cloudformation, cloudwatch, cloudwatch_logs, sqs

SAVE_EVERY_SECONDS = 3.0
SAVING_TAKES_AT_MOST_SECONDS = 20

# Every invocation makes a log stream of its own, which nothing else would ever remove.
KEEP_LOGS_SECONDS = 3600.0

# No alarm looks further back.
KEEP_METRICS_SECONDS = 3600.0

# Logs and metrics grow with every call and are nothing that a person would miss after a crash.
NOT_WORTH_SAVING_OFTEN = {"cloudwatch", "cloudwatch_logs"}

_saving = threading.Lock()
_saved_at_the_end = threading.Event()
_save_all = app.save_all


def deployment_runs() -> bool:
    """Says whether some stack is between two states."""
    return any(
        stack.get("StackStatus", "").endswith("_IN_PROGRESS") for stack in list(cloudformation._stacks._data.values())
    )


def copied(get_state):
    """Copies a service's state, which may change meanwhile; under load the copy needs more than one try."""
    for _ in range(20):
        try:
            return get_state()
        except RuntimeError:
            time.sleep(0.01)
    return get_state()


def save(services: dict) -> None:
    """Saves, unless a deployment is half done: nothing could continue from there after a restart."""
    with _saving:
        if not deployment_runs():
            _save_all({name: partial(copied, get_state) for name, get_state in services.items()})


def forget_old_logs() -> None:
    oldest = (time.time() - KEEP_LOGS_SECONDS) * 1000
    for group in list(cloudwatch_logs._log_groups._data.values()):
        for name, stream in list(group["streams"].items()):
            if (stream["lastEventTimestamp"] or stream["creationTime"]) < oldest:
                del group["streams"][name]


def save_now_and_then() -> None:
    while True:
        time.sleep(SAVE_EVERY_SECONDS)
        forget_old_logs()
        services = app._build_persistence_save_dict()
        save({name: state for name, state in services.items() if name not in NOT_WORTH_SAVING_OFTEN})


class RoutedOptions(str):
    """The method OPTIONS, not recognised by the emulator's check for it, and so routed like any other."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


_handle_execute = apigateway._handle_execute_in_scope


async def handle_execute(api_id, stage, path, method, *rest):
    api = apigateway._apis.get(api_id) or {}
    if method == "OPTIONS" and not api.get("corsConfiguration"):
        method = RoutedOptions(method)
    return await _handle_execute(api_id, stage, path, method, *rest)


_handle_options = app._handle_options_request


def handle_options(method, path, headers, query_params, request_id):
    target = app._s3_cors_target(headers.get("host", ""), path) if method == "OPTIONS" else None
    if not target:
        return _handle_options(method, path, headers, query_params, request_id)
    return app._get_module("s3").cors_preflight(*target, headers)


def hasten_invocations() -> None:
    # The runtime API writes head and body apart, and the kernel held the body back until the function's delayed ACK.
    socketserver.StreamRequestHandler.disable_nagle_algorithm = True
    # After the answer it waits for log lines, 50 ms if there are none. What comes later joins the next invocation's.
    first_line, idle, hard_cap = Worker._drain_stderr_bounded.__defaults__
    Worker._drain_stderr_bounded.__defaults__ = (min(first_line, 0.005), idle, hard_cap)


def end_functions() -> None:
    """Ends the functions' processes: they are all of this process group but this process."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(os.getpgrp(), signal.SIGTERM)


def save_at_the_end(services: dict) -> None:
    # A function that still worked would change tables after they were saved.
    end_functions()
    save(services)
    _saved_at_the_end.set()


def end_with_the_pipe() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    _saved_at_the_end.wait(SAVING_TAKES_AT_MOST_SECONDS)
    # Without waiting for what still runs: a function may be in the middle of its minute.
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main() -> None:
    if os.getpgrp() != os.getpid():
        sys.exit("run.py must lead a process group of its own, since it ends the whole group")
    # Saving is no news when it happens all the time; its errors still are.
    logging.getLogger("persistence").setLevel(logging.WARNING)
    app.save_all = save_at_the_end
    apigateway._handle_execute_in_scope = handle_execute
    app._handle_options_request = handle_options
    hasten_invocations()
    cloudwatch._evaluate_alarm = alarms.evaluate
    streams.install()
    # With each call it forgets metrics that are older than this, by itself two weeks.
    cloudwatch.TWO_WEEKS_SECONDS = KEEP_METRICS_SECONDS
    # Queues are found by their URL, and clients call their endpoint whatever the URL says.
    sqs.DEFAULT_PORT = "4566"
    sqs._CANONICAL_NETLOC = f"{sqs.DEFAULT_HOST}:{sqs.DEFAULT_PORT}"
    threading.Thread(target=save_now_and_then, daemon=True).start()
    threading.Thread(target=end_with_the_pipe, daemon=True).start()
    sys.argv = ["ministack"]
    app.main()


if __name__ == "__main__":
    main()
