"""What the tests of the pages share: a browser, people with keys, and the stack that `cargo xtask test` has started.

Every test makes its own parcels, and none looks at another's.
"""

import json
import os
import shutil
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

# Far longer than anything takes, for machines are unequal.
PATIENCE_MS = 120_000
DESK = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 812}

expect.set_options(timeout=PATIENCE_MS)


def own(purpose: str) -> str:
    """A word that no other test uses."""
    return f"{purpose}-{uuid.uuid4().hex[:8]}"


@dataclass
class Stack:
    """The running stack, and the keys that its people have."""

    api_url: str
    page_url: str
    inbox_url: str
    operator: str
    merchant: str
    other_merchant: str
    driver: str

    def call(self, method: str, url: str, key: str | None = None, body: object = None) -> tuple[int, dict | list]:
        request = urllib.request.Request(url, method=method, data=None if body is None else json.dumps(body).encode())
        request.add_header("Accept", "application/json")
        if body is not None:
            request.add_header("Content-Type", "application/json")
        if key:
            request.add_header("Authorization", f"Bearer {key}")
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def create_parcel(self, key: str | None = None, **fields: object) -> dict:
        parcel = {"recipient": "Tan Wei Ming", "email": f"{own('to')}@example.com"} | fields
        status, created = self.call("POST", f"{self.api_url}/api/parcels", key or self.merchant, parcel)
        assert status == 201, created
        return created

    def request_invoice(self, parcel: dict, key: str | None = None) -> str:
        url = f"{self.api_url}/api/parcels/{parcel['id']}/invoice"
        status, invoice = self.call("POST", url, key or self.merchant)
        assert status == 202, invoice
        return invoice["id"]

    def newest_parcels(self) -> list[dict]:
        _, page = self.call("GET", f"{self.api_url}/api/parcels?limit=100", self.merchant)
        return page["parcels"]

    def mails_to(self, address: str) -> list[dict]:
        _, mails = self.call("GET", f"{self.inbox_url}/api/mails")
        return [mail for mail in mails if any(address in to for to in mail["to"])]

    def mail_server(self, state: str) -> None:
        status, _ = self.call("POST", f"{self.inbox_url}/api/server", body={"state": state})
        assert status == 200


@dataclass
class Visits:
    """Opens pages, each in a browser profile of its own, and listens to their consoles."""

    browser: Browser
    stack: Stack
    complaints: list[str] = field(default_factory=list)

    def __call__(
        self,
        path: str,
        key: str | None = None,
        *,
        phone: bool = False,
        scheme: str = "light",
        failures: bool = False,
        bypass_csp: bool = False,
        before=None,
    ) -> Page:
        """Goes to a page. `key` is typed into its dialog; the operator's need not be, the laptop's page offers it.
        With `failures`, the browser's own lines about failed requests are no complaint. `before` gets the page before
        anything is loaded.
        """
        context = self.browser.new_context(
            viewport=PHONE if phone else DESK,
            color_scheme=scheme,
            has_touch=phone,
            is_mobile=phone,
            bypass_csp=bypass_csp,
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        self.listen(page, failures)
        if key:
            self.offer_no_key(page)
        if before:
            before(page)
        page.goto(f"{self.stack.page_url}{path}")
        if key:
            type_key(page, key)
        return page

    def offer_no_key(self, page: Page) -> None:
        """The settings of a page anywhere but on a laptop."""
        settings = {"apiUrl": self.stack.api_url}
        page.route("**/config.json", lambda route: route.fulfill(json=settings))

    def listen(self, page: Page, failures: bool) -> None:
        def hear(message) -> None:
            by_the_browser = failures and message.text.startswith("Failed to load resource")
            if message.type in ("error", "warning") and not by_the_browser:
                self.complaints.append(f"{page.url}: {message.text}")

        page.on("console", hear)
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))


def type_key(page: Page, key: str) -> None:
    field = page.get_by_label("Key", exact=True)
    field.fill(key)
    # Not by the mouse, which would be left on the list and hold it still.
    field.press("Enter")


@pytest.fixture(scope="session")
def stack() -> Stack:
    addresses = json.loads(Path(os.environ["PARCELTRACK_LOCAL_STACK"]).read_text())
    return Stack(
        api_url=addresses["apiUrl"],
        page_url=addresses["pageUrl"],
        inbox_url=addresses["inboxUrl"],
        **{role: os.environ[f"PARCELTRACK_{role.upper()}_KEY"] for role in ("operator", "merchant", "other_merchant", "driver")},
    )


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which(os.environ["PARCELTRACK_CHROMIUM"]),
            # A sandbox of its own is what a container's root may not make.
            args=["--no-sandbox"],
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, stack: Stack):
    """Opens pages; afterwards their consoles must be clean."""
    visits = Visits(browser, stack)
    yield visits
    for context in browser.contexts:
        context.close()
    assert visits.complaints == []


@pytest.fixture
def mail_server(stack: Stack):
    """Sets what the mail server does, and has it take mail again afterwards."""
    yield stack.mail_server
    stack.mail_server("running")
