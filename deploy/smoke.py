#!/usr/bin/env python3
"""Tries out a deployed ParcelTrack, as a caller would: the standard library, an address and a key are all it needs.

Without --parcel-to it only reads, so that production gets no invoice that nobody owes. With it, one parcel goes the
whole way, to an address such as success@simulator.amazonses.com, which SES takes and nobody reads.
"""

import argparse
import json
import os
import sys
import time
import urllib.error
import urllib.request

PATIENCE_SECONDS = 120
TIMEOUT_SECONDS = 30


class Failed(Exception):
    """One line for the person who called."""


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirects)


def call(method, url, key=None, body=None, headers=None):
    """Status, headers and content of the answer, whatever it says."""
    headers = {"Accept": "application/json", **(headers or {})}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    if body is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(body).encode()
    request = urllib.request.Request(url, method=method, data=body, headers=headers)
    try:
        with OPENER.open(request, timeout=TIMEOUT_SECONDS) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()
    except OSError as error:
        raise Failed(f"{method} {url}: {error}") from error


def expect(wanted, method, url, **arguments):
    status, headers, content = call(method, url, **arguments)
    if status != wanted:
        raise Failed(f"{method} {url}: {status} instead of {wanted}: {content[:300].decode(errors='replace')}")
    return headers, content


def step(what):
    print(f"  {what}", flush=True)


def reads(url, key):
    _, content = expect(200, "GET", f"{url}/health")
    if content != b"Healthy":
        raise Failed(f"{url}/health says {content[:80]!r}")
    step("GET /health: Healthy")
    expect(401, "GET", f"{url}/api/parcels?limit=1")
    step("GET /api/parcels without a key: 401")
    _, content = expect(200, "GET", f"{url}/api/parcels?limit=1", key=key)
    if not isinstance(json.loads(content).get("parcels"), list):
        raise Failed("the list of parcels is none")
    step("GET /api/parcels with the key: 200")


def page(url):
    headers, content = expect(200, "GET", f"{url}/", headers={"Accept": "text/html"})
    if b"ParcelTrack" not in content:
        raise Failed(f"{url}/ is another page")
    for name in ("Content-Security-Policy", "Strict-Transport-Security", "X-Content-Type-Options"):
        if not headers.get(name):
            raise Failed(f"{url}/ has no {name}")
    _, content = expect(200, "GET", f"{url}/config.json")
    if json.loads(content).keys() - {"rush"}:
        raise Failed("config.json is that of a laptop")
    step("GET /: the page, with its security headers")


def one_parcel(url, key, email):
    _, content = expect(201, "POST", f"{url}/api/parcels", key=key, body={"recipient": "Smoke Test", "email": email})
    parcel = json.loads(content)
    step(f"POST /api/parcels: 201, {parcel['trackingNumber']}")
    _, content = expect(202, "POST", f"{url}/api/parcels/{parcel['id']}/invoice", key=key)
    invoice = json.loads(content)
    begin = time.monotonic()
    while invoice["status"] != "Sent":
        if invoice["status"] == "Failed":
            raise Failed(f"invoice {invoice['id']} failed: {invoice.get('reason')}")
        if time.monotonic() - begin > PATIENCE_SECONDS:
            raise Failed(f"invoice {invoice['id']} is still {invoice['status']} after {PATIENCE_SECONDS} s")
        time.sleep(1)
        _, content = expect(200, "GET", f"{url}/api/invoices/{invoice['id']}", key=key)
        invoice = json.loads(content)
    step(f"the invoice is Sent, {time.monotonic() - begin:.0f} s after it was asked for")
    _, content = expect(200, "GET", f"{url}/api/invoices/{invoice['id']}/pdf", key=key)
    _, pdf = expect(200, "GET", json.loads(content)["url"])
    if not pdf.startswith(b"%PDF-"):
        raise Failed("what is behind the link is no PDF")
    step(f"the link leads to its PDF, {len(pdf) // 1000} KB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="base of page and API")
    parser.add_argument("--key-from", required=True, metavar="VARIABLE", help="environment variable with an API key")
    parser.add_argument("--parcel-to", metavar="EMAIL", help="also create a parcel and have its invoice sent there")
    parser.add_argument("--api-only", action="store_true", help="the page is elsewhere, as on a laptop")
    arguments = parser.parse_args()
    url, key = arguments.url.rstrip("/"), os.environ.get(arguments.key_from, "").strip()
    print(f"Smoke test of {url}")
    try:
        if not key:
            raise Failed(f"{arguments.key_from} is not set")
        reads(url, key)
        if not arguments.api_only:
            page(url)
        if arguments.parcel_to:
            one_parcel(url, key, arguments.parcel_to)
    except Failed as failure:
        print(f"smoke test failed: {failure}", file=sys.stderr)
        return 1
    print("Smoke test passed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
