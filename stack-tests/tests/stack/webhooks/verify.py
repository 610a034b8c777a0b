"""Checks signatures with the implementation of Standard Webhooks on PyPI, which is not ours.

Reads [{"secret", "headers": [id, timestamp, signature], "body"}] and prints a list of what is wrong with each, or null.
"""

import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")


def problem(request):
    try:
        Webhook(request["secret"]).verify(request["body"], dict(zip(NAMES, request["headers"])))
    except WebhookVerificationError as error:
        return str(error)
    return None


print(json.dumps([problem(request) for request in json.load(sys.stdin)]))
