"""The API's four busiest calls as one would write them in Python: Powertools for routing and idempotency, boto3 for AWS.

It reads and writes the same rows as the function in Rust. README.md says what is the same and what is not.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import time
import unicodedata
import uuid
from base64 import urlsafe_b64encode
from datetime import datetime, timedelta, timezone

import boto3
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyValidationError
from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.config import Config
from botocore.exceptions import ClientError

PARCELS = os.environ["PARCELS_TABLE"]
TRACKING_NUMBERS = os.environ["TRACKING_NUMBERS_TABLE"]
INVOICES = os.environ["INVOICES_TABLE"]
API_KEYS = os.environ["API_KEYS_TABLE"]
TICKETS = os.environ["TICKETS_QUEUE_URL"]
SELLER = {
    "name": os.environ["SELLER_NAME"],
    "address": os.environ["SELLER_ADDRESS"],
    "gstNumber": os.environ["SELLER_GST_NUMBER"],
    "registrationNumber": os.environ["SELLER_UEN"],
    "email": os.environ["SELLER_EMAIL"],
}
DELIVERY_FEE = round(float(os.environ["DELIVERY_FEE"]) * 100)
PAYMENT_TERMS_DAYS = int(os.environ["PAYMENT_TERMS_DAYS"])

INVOICE_NAMESPACE = uuid.UUID("6f1d2f0c-59a7-4b1e-9c55-1b8e0a4d7e21")
FIRST_DUE_MILLIS = 60_000
DUE_SHARDS = 8
KEY_BELIEVED_MILLIS = 60_000
KEY_USE_IS_NEWS_MILLIS = 300_000
SINGAPORE = timezone(timedelta(hours=8))
END_OF_TEXT = "\x1f"
MOST_MILLIS = 9_999_999_999_999
EMAIL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@([A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,63}")
TRACKING_NUMBER = re.compile(r"LCL(\d{8}|\d{10})")
POSTAL_CODE = re.compile(r"\d{6}")
TEXTS = {"recipient": 200, "address": 300, "phone": 30, "reference": 100}
REQUIRED = ("recipient", "email")

CONFIG = Config(
    connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 3}, tcp_keepalive=True
)
dynamodb = boto3.client("dynamodb", config=CONFIG)
sqs = boto3.client("sqs", config=CONFIG)
serialize = TypeSerializer().serialize
deserialize = TypeDeserializer().deserialize

# While Lambda gives the process its most.
dynamodb.get_item(TableName=INVOICES, Key={"invoiceId": {"S": str(uuid.UUID(int=0))}})
sqs.get_queue_attributes(QueueUrl=TICKETS, AttributeNames=["ApproximateNumberOfMessages"])

app = APIGatewayHttpResolver()
known_keys: dict[str, tuple[int, dict]] = {}


class Problem(Exception):
    """An answer other than the one the caller hoped for (RFC 9457)."""

    def __init__(self, status: int, kind: str, title: str, detail: str, **more):
        super().__init__(kind)
        self.status = status
        self.body = {"type": f"/problems/{kind}", "title": title, "status": status, "detail": detail}
        self.more = more


@app.exception_handler(Problem)
def problem(error: Problem) -> Response:
    body = error.body | {"requestId": request_id()} | error.more
    headers = {"WWW-Authenticate": 'Bearer realm="ParcelTrack"'} if error.status == 401 else {}
    if "invoiceId" in error.more:
        headers["Location"] = f"/api/invoices/{error.more['invoiceId']}"
    return Response(error.status, "application/problem+json", json.dumps(body), headers)


def request_id() -> str:
    return app.current_event.request_context.request_id


def now_millis() -> int:
    return time.time_ns() // 1_000_000


def shown_time(millis: int) -> str:
    moment = datetime.fromtimestamp(millis / 1000, timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{millis % 1000:03}Z"


def row_of(item: dict) -> dict:
    return {name: deserialize(value) for name, value in item.items()}


def item_of(row: dict) -> dict:
    return {name: serialize(value) for name, value in row.items()}


# Who is calling


def unauthorized() -> Problem:
    return Problem(401, "unauthorized", "An API key is needed", "Send a good key with Authorization: Bearer pt_….")


def owner_of_caller() -> str:
    scheme, _, key = (app.current_event.headers.get("authorization") or "").partition(" ")
    parts = key.strip().split("_")
    if scheme.lower() != "bearer" or len(parts) != 3 or parts[0] != "pt":
        raise unauthorized()
    _, key_id, secret = parts
    now = now_millis()
    read_at, row = known_keys.get(key_id, (0, None))
    fresh = now >= read_at + KEY_BELIEVED_MILLIS
    if fresh:
        answer = dynamodb.get_item(TableName=API_KEYS, Key={"keyId": {"S": key_id}}, ConsistentRead=True)
        row = row_of(answer["Item"]) if "Item" in answer else None
        known_keys[key_id] = (now, row)
    digest = urlsafe_b64encode(hashlib.sha256(secret.encode()).digest()).rstrip(b"=").decode()
    if row is None or row["secretHash"] != digest or row.get("revokedAt") or row.get("expires", now + 1) <= now:
        raise unauthorized()
    if fresh and now - int(row.get("lastUsedAt", 0)) >= KEY_USE_IS_NEWS_MILLIS:
        dynamodb.update_item(
            TableName=API_KEYS,
            Key={"keyId": {"S": key_id}},
            UpdateExpression="SET lastUsedAt = :now",
            ConditionExpression="attribute_exists(keyId)",
            ExpressionAttributeValues={":now": {"N": str(now)}},
        )
    return row["owner"]


# Parcels


def search_form(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text).strip().casefold()
    return unicodedata.normalize("NFKC", folded)[:100]


def text_key(text: str, created_at: int, parcel_id: str) -> str:
    return f"{search_form(text)}{END_OF_TEXT}{MOST_MILLIS - created_at:013}#{parcel_id}"


def draw_tracking_number() -> str:
    digits = f"{random.randrange(10_000_000):07}"
    total = sum(int(digit) * (3, 1)[place % 2] for place, digit in enumerate(reversed(digits)))
    return f"LCL{digits}{(10 - total % 10) % 10}"


def problem_with_text(value: object, longest: int) -> str | None:
    if not isinstance(value, str):
        return "must be a text"
    if any(unicodedata.category(character) == "Cc" or character in "\u2028\u2029" for character in value):
        return "must not contain line breaks or control characters"
    trimmed = value.strip()
    if not trimmed:
        return "is required"
    return f"must be at most {longest} characters long" if len(trimmed) > longest else None


def checked(body: object) -> dict:
    """The fields of a new parcel, or a problem that names everything wrong with them."""
    if not isinstance(body, dict):
        raise invalid_fields([{"field": "body", "message": "must be a JSON object"}])
    body = {name: value for name, value in body.items() if value is not None}
    errors = []
    fields = {}
    for name in ("recipient", "email", "address", "postalCode", "phone", "reference"):
        if name not in body:
            if name in REQUIRED:
                errors.append({"field": name, "message": "is required"})
            continue
        value = body.pop(name)
        if name in TEXTS:
            message = problem_with_text(value, TEXTS[name])
        elif name == "email":
            valid = isinstance(value, str) and EMAIL.fullmatch(value.strip(" ")) and len(value) <= 254
            message = None if valid else "must be an e-mail address such as tan@example.com"
        else:
            valid = isinstance(value, str) and POSTAL_CODE.fullmatch(value)
            message = None if valid else "must be six digits such as 018956"
        if message:
            errors.append({"field": name, "message": message})
        else:
            fields[name] = value.strip()
    errors += [{"field": name, "message": "is not a known field"} for name in body]
    if errors:
        raise invalid_fields(errors)
    return fields


def invalid_fields(errors: list[dict]) -> Problem:
    detail = "; ".join(f"{error['field']} {error['message']}" for error in errors) + "."
    return Problem(422, "invalid-fields", "Some fields are wrong", detail, errors=errors, errorCount=len(errors))


def shown_parcel(row: dict, invoice: dict | None, events: bool) -> dict:
    shown = {"id": row["parcelId"]} | {
        name: row[name]
        for name in ("trackingNumber", "recipient", "email", "address", "postalCode", "phone", "reference", "status")
        if name in row
    }
    shown["createdAt"] = shown_time(int(row["createdAt"]))
    shown["updatedAt"] = shown_time(int(row["updatedAt"]))
    shown["invoice"] = None
    if invoice:
        shown["invoice"] = {"id": invoice["invoiceId"], "status": invoice["status"]}
        if "reason" in invoice:
            shown["invoice"]["reason"] = invoice["reason"]
    if events:
        shown["events"] = [
            {
                "id": event["id"],
                "status": event["status"],
                "at": shown_time(int(event["at"])),
                "recordedAt": shown_time(int(event["recordedAt"])),
            }
            for event in row["events"]
        ]
    return shown


def put_new(table: str, key: str, row: dict) -> dict:
    condition = f"attribute_not_exists({key})"
    return {"Put": {"TableName": table, "Item": item_of(row), "ConditionExpression": condition}}


def write_parcel(owner: str, fields: dict) -> dict:
    now = now_millis()
    parcel_id = str(uuid.uuid4())
    event = {"id": str(uuid.uuid4()), "status": "Created", "at": now, "recordedAt": now, "correlationId": request_id()}
    row = {"parcelId": parcel_id, "owner": owner, **fields, "status": "Created", "createdAt": now, "updatedAt": now}
    row["events"] = [event]
    row["createdKey"] = f"{now:013}#{parcel_id}"
    row["statusKey"] = f"Created#{now:013}#{parcel_id}"
    row["recipientKey"] = text_key(fields["recipient"], now, parcel_id)
    if "reference" in fields:
        row["referenceKey"] = text_key(fields["reference"], now, parcel_id)
    for attempt in range(5):
        row["trackingNumber"] = draw_tracking_number()
        number = {"trackingNumber": row["trackingNumber"], "parcelId": parcel_id}
        try:
            dynamodb.transact_write_items(
                TransactItems=[
                    put_new(PARCELS, "parcelId", row),
                    put_new(TRACKING_NUMBERS, "trackingNumber", number),
                ]
            )
            return shown_parcel(row, None, events=True)
        except dynamodb.exceptions.TransactionCanceledException:
            if attempt == 4:
                raise


idempotency = IdempotencyConfig(
    event_key_jmespath="key", payload_validation_jmespath="body", expires_after_seconds=24 * 60 * 60
)
answers = DynamoDBPersistenceLayer(
    table_name=os.environ["IDEMPOTENCY_TABLE"], key_attr="idempotencyKey", boto3_client=dynamodb
)


@idempotent_function(data_keyword_argument="request", config=idempotency, persistence_store=answers)
def write_parcel_once(request: dict, owner: str, fields: dict) -> dict:
    return write_parcel(owner, fields)


@app.post("/api/parcels")
def create_parcel() -> Response:
    owner = owner_of_caller()
    body = app.current_event.json_body
    key = app.current_event.headers.get("idempotency-key")
    if key is None:
        parcel = write_parcel(owner, checked(body))
    else:
        request = {"key": f"{owner}|POST /api/parcels|{key}", "body": body}
        try:
            parcel = write_parcel_once(request=request, owner=owner, fields=checked(body))
        except IdempotencyValidationError:
            raise Problem(
                422,
                "idempotency-key-reused",
                "The idempotency key was used for another request",
                "Send the same content again, or use a new Idempotency-Key.",
            ) from None
    headers = {"Location": f"/api/parcels/{parcel['id']}"}
    return Response(201, "application/json", json.dumps(parcel), headers)


def path_id(text: str) -> str:
    """The parcel's id, from an id or a tracking number in the path."""
    if len(text) == 36:
        try:
            return str(uuid.UUID(text))
        except ValueError:
            pass
    if not TRACKING_NUMBER.fullmatch(text):
        error = {"field": "id", "message": "must be a UUID or a tracking number"}
        raise Problem(400, "invalid-parameter", "A parameter is wrong", f"id {error['message']}.", errors=[error], errorCount=1)
    answer = dynamodb.get_item(TableName=TRACKING_NUMBERS, Key={"trackingNumber": {"S": text}}, ConsistentRead=True)
    if "Item" not in answer:
        raise no_such("parcel")
    return answer["Item"]["parcelId"]["S"]


def no_such(what: str) -> Problem:
    return Problem(404, "not-found", "Not found", f"There is no such {what}.")


def invoice_id_of(parcel_id: str) -> str:
    # A name of bytes, not of text, which uuid5 takes from Python 3.12 on only.
    digest = hashlib.sha1(INVOICE_NAMESPACE.bytes + uuid.UUID(parcel_id).bytes, usedforsecurity=False).digest()
    return str(uuid.UUID(bytes=digest[:16], version=5))


SUMMARY = {
    "ProjectionExpression": "invoiceId, #status, reason",
    "ExpressionAttributeNames": {"#status": "status"},
}


@app.get("/api/parcels/<parcel>")
def get_parcel(parcel: str) -> dict:
    owner = owner_of_caller()
    parcel_id = path_id(parcel)
    invoice_key = {"invoiceId": {"S": invoice_id_of(parcel_id)}}
    answer = dynamodb.batch_get_item(
        RequestItems={
            PARCELS: {"Keys": [{"parcelId": {"S": parcel_id}}], "ConsistentRead": True},
            INVOICES: {"Keys": [invoice_key], **SUMMARY},
        }
    )["Responses"]
    rows = [row_of(item) for item in answer[PARCELS]]
    if not rows or rows[0]["owner"] != owner:
        raise no_such("parcel")
    invoices = [row_of(item) for item in answer[INVOICES]]
    return shown_parcel(rows[0], invoices[0] if invoices else None, events=True)


@app.get("/api/parcels")
def list_parcels() -> dict:
    owner = owner_of_caller()
    limit = int(app.current_event.query_string_parameters.get("limit", 20))
    answer = dynamodb.query(
        TableName=PARCELS,
        IndexName="by-owner",
        KeyConditionExpression="#owner = :owner",
        ExpressionAttributeNames={"#owner": "owner"},
        ExpressionAttributeValues={":owner": {"S": owner}},
        ScanIndexForward=False,
        Limit=limit,
    )
    rows = [row_of(item) for item in answer["Items"]]
    invoices = {}
    if rows:
        keys = [{"invoiceId": {"S": invoice_id_of(row["parcelId"])}} for row in rows]
        found = dynamodb.batch_get_item(RequestItems={INVOICES: {"Keys": keys, **SUMMARY}})["Responses"][INVOICES]
        invoices = {row["invoiceId"]: row for row in map(row_of, found)}
    parcels = [shown_parcel(row, invoices.get(invoice_id_of(row["parcelId"])), events=False) for row in rows]
    cursor = None
    if "LastEvaluatedKey" in answer:
        cursor = urlsafe_b64encode(json.dumps(answer["LastEvaluatedKey"]).encode()).decode()
    return {"parcels": parcels, "nextCursor": cursor}


# Invoices


@app.post("/api/parcels/<parcel>/invoice")
def request_invoice(parcel: str) -> Response:
    owner = owner_of_caller()
    parcel_id = path_id(parcel)
    amount = DELIVERY_FEE
    body = json.loads(app.current_event.body) if app.current_event.body else None
    if body is not None:
        amount = round(float(body["amount"]) * 100)
    answer = dynamodb.get_item(TableName=PARCELS, Key={"parcelId": {"S": parcel_id}}, ConsistentRead=True)
    if "Item" not in answer or answer["Item"]["owner"]["S"] != owner:
        raise no_such("parcel")
    row = row_of(answer["Item"])
    now = now_millis()
    invoice_id = invoice_id_of(parcel_id)
    number = row["trackingNumber"]
    line = {
        "description": f"Delivery of parcel {number}",
        "quantity": 1,
        "unitPrice": amount,
        "amount": amount,
        "taxCode": "standard",
    }
    invoice = {name: row[name] for name in ("recipient", "email", "address", "postalCode", "reference") if name in row}
    invoice |= {
        "invoiceId": invoice_id,
        "number": f"INV-{datetime.fromtimestamp(now / 1000, SINGAPORE).year:04}-{number[3:]}",
        "parcelId": parcel_id,
        "owner": owner,
        "trackingNumber": number,
        "seller": SELLER,
        "lines": [line],
        "currency": "SGD",
        "taxRate": 900,
        "paymentTermsDays": PAYMENT_TERMS_DAYS,
        "createdAt": now,
        "status": "Pending",
        "due": now + FIRST_DUE_MILLIS,
        "dueShard": uuid.UUID(invoice_id).bytes[15] % DUE_SHARDS,
        "dueMoves": 0,
        "parks": 0,
        "abandoned": 0,
        "attempts": [],
        "attemptCount": 0,
        "linkSecret": str(uuid.uuid4()),
        "corrections": [],
        "correlationId": request_id(),
        "eventCount": 1,
        "retiredMessages": [],
        "handledLetters": [],
        "updatedAt": now,
    }
    status = "Pending"
    try:
        dynamodb.put_item(
            TableName=INVOICES,
            Item=item_of(invoice),
            ConditionExpression="attribute_not_exists(invoiceId)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except dynamodb.exceptions.ConditionalCheckFailedException as refusal:
        existing = row_of(refusal.response["Item"])
        if body is not None and existing["lines"] != [line]:
            raise Problem(
                409,
                "invoice-differs",
                "The parcel has another invoice",
                f"A parcel has one invoice, ever. Invoice {invoice_id} exists and says something else.",
                invoiceId=invoice_id,
            ) from None
        status = existing["status"]
    else:
        try:
            sqs.send_message(
                QueueUrl=TICKETS,
                MessageBody=json.dumps({"invoiceId": invoice_id}, separators=(",", ":")),
                MessageAttributes={
                    "requestId": {
                        "DataType": "String",
                        "StringValue": request_id(),
                    }
                },
            )
        except ClientError as error:
            print(json.dumps({"event": "ticket_left_to_relay", "invoice": invoice_id, "error": str(error)}))
    headers = {"Location": f"/api/invoices/{invoice_id}"}
    return Response(202, "application/json", json.dumps({"id": invoice_id, "status": status}), headers)


def handler(event: dict, context: object) -> dict:
    idempotency.register_lambda_context(context)
    return app.resolve(event, context)
