"""How Lambda reads the stream of a table, in place of the emulator's own way.

By itself ministack knows no batch window and no partial failures, so that what a function reports as failed is lost; it
gives a batch up by its age alone; it calls functions on the thread that also looks after queues, which wait meanwhile; and
it forgets what was not yet read when it stops. A stream has one shard here.
https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
"""

import json
import threading
import time

from ministack.core.arn import parse_arn
from ministack.services import cloudwatch, dynamodb, lambda_svc

# After a failure; AWS does not say how long it waits.
RETRY_AFTER_SECONDS = 1.0

# AWS keeps them for a day. They are in memory, and nobody replays anything older here.
KEEP_READ_SECONDS = 120

UNREAD = "unread_stream_records"

# Positions count a stream's records from its beginning. Whoever changes what is kept of them, or saves it, holds this.
_keeping = threading.Lock()
# By mapping: since when records wait that do not fill a batch.
_waiting_since: dict[str, float] = {}
# By mapping: what its failing batch is cut to, and how often it was tried.
_trouble: dict[str, dict] = {}

_get_state = dynamodb.get_state
_load_persisted_state = dynamodb.load_persisted_state


def poll() -> bool:
    """Hands each mapping's next batch to its function. Says whether there was one."""
    begun = False
    for account, region, mapping in lambda_svc._iter_all_esms():
        tokens = lambda_svc._request_account_id.set(account), lambda_svc._request_region.set(region)
        try:
            begun = begin_batch(mapping) or begun
        finally:
            lambda_svc._request_account_id.reset(tokens[0])
            lambda_svc._request_region.reset(tokens[1])
    return begun


def begin_batch(mapping: dict) -> bool:
    identity, source = mapping["UUID"], parse_arn(mapping["EventSourceArn"])
    if source.service != "dynamodb" or not mapping.get("Enabled", True):
        return False
    name, _ = lambda_svc._dynamodb_stream_table_from_arn_spec(source)
    table = dynamodb._tables.get(name)
    function, _ = lambda_svc._get_func_record_for_qualifier(mapping["FunctionName"], mapping.get("Qualifier"))
    if function is None or table is None or table.get("LatestStreamArn") != mapping["EventSourceArn"]:
        return False
    if lambda_svc._esm_inflight.get(identity) or lambda_svc._esm_backoff_until.get(identity, 0) > time.time():
        return False
    with _keeping:
        forget_read(name, mapping["EventSourceArn"])
        start, end = dynamodb.stream_start_position(name), dynamodb.stream_end_position(name)
        position = lambda_svc._dynamodb_stream_positions.get(identity, start)
        # Not behind the end either: a crash may have saved more of the position than of the stream.
        position = min(max(position, start), end)
        lambda_svc._dynamodb_stream_positions[identity] = position
        size = int(mapping["BatchSize"])
        trouble = _trouble.get(identity)
        batch = dynamodb.stream_records_since(name, position, trouble["size"] if trouble else size)
    if not batch:
        return False
    window = float(mapping.get("MaximumBatchingWindowInSeconds") or 0)
    if len(batch) < size and not trouble and window:
        since = _waiting_since.setdefault(identity, time.monotonic())
        if time.monotonic() - since < window:
            return False
    _waiting_since.pop(identity, None)
    lambda_svc._dispatch_esm_batch(identity, run_batch, mapping, function, position, batch)
    return True


def run_batch(mapping: dict, function: dict, position: int, batch: list[dict]) -> None:
    identity = mapping["UUID"]
    measure_age(mapping["FunctionName"], batch)
    result = lambda_svc._execute_function(function, {"Records": batch})
    failed = first_failure(mapping, result, batch)
    position += len(batch) if failed is None else failed
    lambda_svc._dynamodb_stream_positions[identity] = position
    if failed is None:
        _trouble.pop(identity, None)
        return
    trouble = _trouble.get(identity)
    if not trouble or trouble["position"] != position:
        trouble = {"position": position, "tries": 0}
    rest = batch[failed:]
    trouble["tries"] += 1
    trouble["size"] = len(rest)
    condition = given_up(mapping, rest, trouble["tries"])
    if failed == 0 and len(rest) > 1 and mapping.get("BisectBatchOnFunctionError"):
        trouble["size"] = (len(rest) + 1) // 2
    elif condition:
        lambda_svc._send_ddb_stream_failure_record(
            mapping, function, rest, mapping["EventSourceArn"], result, condition
        )
        lambda_svc._dynamodb_stream_positions[identity] = position + len(rest)
        _trouble.pop(identity, None)
        return
    _trouble[identity] = trouble
    lambda_svc._esm_backoff_until[identity] = time.time() + RETRY_AFTER_SECONDS


def first_failure(mapping: dict, result: dict, batch: list[dict]) -> int | None:
    """Where in the batch the first record is that comes again; None if none does."""
    if result.get("error"):
        return 0
    if "ReportBatchItemFailures" not in mapping.get("FunctionResponseTypes", []):
        return None
    body = result.get("body")
    if isinstance(body, (str, bytes)):
        body = json.loads(body or "{}")
    numbers = [record["dynamodb"]["SequenceNumber"] for record in batch]
    failures = [failure.get("itemIdentifier") for failure in (body or {}).get("batchItemFailures") or []]
    # What names no record is a failure of the whole batch.
    places = [numbers.index(number) if number in numbers else 0 for number in failures]
    return min(places, default=None)


def given_up(mapping: dict, batch: list[dict], tries: int) -> str | None:
    """Why the batch is not tried again; None if it is."""
    oldest = batch[0]["dynamodb"]["ApproximateCreationDateTime"]
    age, most_tries = int(mapping.get("MaximumRecordAgeInSeconds", -1)), int(mapping.get("MaximumRetryAttempts", -1))
    if age >= 0 and time.time() - oldest > age:
        return "MaxRecordAgeExceeded"
    if 0 <= most_tries < tries:
        return "RetryAttemptsExhausted"
    return None


def measure_age(function: str, batch: list[dict]) -> None:
    newest = batch[-1]["dynamodb"]["ApproximateCreationDateTime"]
    age = max(0.0, time.time() - newest) * 1000
    cloudwatch.record_metric("AWS/Lambda", "IteratorAge", age, "Milliseconds", {"FunctionName": function})


def read_by_all(stream: str) -> int | None:
    """Up to where every mapping of a stream has read; None if it has no mapping."""
    mappings = (mapping for mapping in lambda_svc._esms._data.values() if mapping["EventSourceArn"] == stream)
    positions = {key[-1]: position for key, position in lambda_svc._dynamodb_stream_positions._data.items()}
    return min((positions.get(mapping["UUID"], 0) for mapping in mappings), default=None)


def forget_read(table: str, stream: str) -> None:
    records, trimmed = dynamodb._stream_records.get(table) or [], dynamodb._stream_trimmed.get(table, 0)
    oldest = time.time() - KEEP_READ_SECONDS
    read = max(0, (read_by_all(stream) or 0) - trimmed)
    old = 0
    while old < min(read, len(records)) and records[old]["dynamodb"]["ApproximateCreationDateTime"] < oldest:
        old += 1
    del records[:old]
    dynamodb._stream_trimmed[table] = trimmed + old


def get_state() -> dict:
    """The state of the tables, with what of their streams is not yet read."""
    unread = []
    with _keeping:
        for (account, region, name), records in dynamodb._stream_records.all_items():
            table = dynamodb._tables.get_scoped(account, region, name)
            read = read_by_all(table["LatestStreamArn"]) if table else None
            if read is not None:
                trimmed = dynamodb._stream_trimmed.get_scoped(account, region, name, 0)
                unread.append([account, region, name, max(read, trimmed), records[max(0, read - trimmed) :]])
        state = _get_state()
    return {**state, UNREAD: unread}


def load_persisted_state(data: dict) -> None:
    # Before the tables, without which nobody reads a stream.
    for account, region, name, read, records in data.pop(UNREAD, []):
        dynamodb._stream_trimmed.set_scoped(account, region, name, read)
        dynamodb._stream_records.set_scoped(account, region, name, records)
    _load_persisted_state(data)


def install() -> None:
    lambda_svc._poll_dynamodb_streams = poll
    dynamodb.get_state = get_state
    dynamodb.load_persisted_state = load_persisted_state
