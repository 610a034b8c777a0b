"""How CloudWatch evaluates an alarm, in place of the emulator's own way.

By itself ministack looks at all metrics of a name together, whatever their dimensions, so that tickets on one queue set
off the alarm of another; it takes all periods as one; and it does not know what an alarm says of missing data.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
"""

import operator
import time

from ministack.services import cloudwatch

COMPARISONS = {
    "GreaterThanOrEqualToThreshold": operator.ge,
    "GreaterThanThreshold": operator.gt,
    "LessThanThreshold": operator.lt,
    "LessThanOrEqualToThreshold": operator.le,
}

# Alarms without a word on missing data, or that ignore it, look so many periods further back for what they lack.
FURTHER_BACK = 2


def values_by_period(alarm: dict, periods: int) -> list[float | None]:
    """The metric in each of the latest periods, newest first; None where nothing was measured."""
    dimensions = cloudwatch._dims_key({entry["Name"]: entry["Value"] for entry in alarm["Dimensions"]})
    points = cloudwatch._metrics.get((alarm["Namespace"], alarm["MetricName"], dimensions)) or []
    now = time.time()
    by_period = [[] for _ in range(periods)]
    for point in points:
        age = int((now - point["Timestamp"]) // alarm["Period"])
        if 0 <= age < periods:
            by_period[age].append(point)
    statistic = alarm.get("ExtendedStatistic") or alarm["Statistic"]
    return [
        cloudwatch._stat_value(cloudwatch._calc_stats(found), statistic, found) if found else None
        for found in by_period
    ]


def state_of(alarm: dict) -> tuple[str, str] | None:
    """The alarm's state and why it is so; None if nothing that was measured could change it."""
    periods = alarm["EvaluationPeriods"]
    missing = alarm["TreatMissingData"]
    counts_missing = missing in ("breaching", "notBreaching")
    values = values_by_period(alarm, periods if counts_missing else periods + FURTHER_BACK)
    if not counts_missing:
        values = [value for value in values if value is not None][:periods]
        if not values:
            return None if missing == "ignore" else ("INSUFFICIENT_DATA", "Nothing was measured")
    beyond = COMPARISONS[alarm["ComparisonOperator"]]
    breaching = sum(missing == "breaching" if value is None else beyond(value, alarm["Threshold"]) for value in values)
    wanted = alarm.get("DatapointsToAlarm") or periods
    state = "ALARM" if breaching >= wanted else "OK"
    return state, f"{breaching} of {len(values)} periods, newest first {values}, against {alarm['Threshold']}"


def evaluate(alarm: dict) -> None:
    found = state_of(alarm)
    old_state = alarm["StateValue"]
    if found is None or found[0] == old_state:
        return
    new_state, reason = found
    alarm.update(StateValue=new_state, StateReason=reason, StateUpdatedTimestamp=int(time.time()))
    cloudwatch._record_history(alarm["AlarmName"], old_state, new_state, reason)
    cloudwatch._dispatch_alarm_actions(alarm, old_state, new_state, reason)
    cloudwatch._evaluate_parent_alarms(alarm)
