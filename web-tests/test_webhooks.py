"""A merchant's webhooks."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from conftest import PATIENCE_MS, own
from playwright.sync_api import Page, expect


class Receiver:
    """A merchant's own server, which keeps what it is sent and answers as it is told."""

    def __init__(self) -> None:
        self.events: list[dict] = []
        self.arrived = threading.Condition()
        self.answer = 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with receiver.arrived:
                    receiver.events.append(json.loads(body) | {"signature": self.headers["webhook-signature"]})
                    receiver.arrived.notify_all()
                self.send_response(receiver.answer)
                self.end_headers()
                self.wfile.write(b"<b>thank you</b>")

            def log_message(self, *_) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/hook"

    def hears_of(self, parcel: dict) -> bool:
        """Waits for an event of this parcel: those of other tests' parcels come as well."""
        with self.arrived:
            return self.arrived.wait_for(
                lambda: any(event.get("parcelId") == parcel["id"] for event in self.events), PATIENCE_MS / 1000
            )

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def webhooks(stack):
    """Takes away what a test has left, since a merchant may have only a few."""
    yield
    for key in [stack.merchant, stack.other_merchant]:
        _, page = stack.call("GET", f"{stack.api_url}/api/webhooks", key)
        for webhook in page["webhooks"]:
            if webhook["url"].startswith("http://127.0.0.1:"):
                stack.call("DELETE", f"{stack.api_url}/api/webhooks/{webhook['id']}", key)


def create(page: Page, url: str) -> None:
    page.get_by_label("Address").fill(url)
    page.get_by_label("Contact").fill("it@example.com")
    page.get_by_role("button", name="Create webhook").click()


def card(page: Page, url: str):
    return page.locator("li.webhook").filter(has_text=url)


def test_a_merchant_makes_a_webhook_sees_its_secret_once_and_what_is_delivered(stack, visit, receiver, webhooks):
    page = visit("/webhooks/", stack.merchant)
    create(page, receiver.url)
    secret = page.locator("#secret-text")
    expect(secret).to_contain_text("whsec_")
    page.get_by_role("button", name="Copy", exact=True).click()
    assert page.evaluate("navigator.clipboard.readText()").startswith("whsec_")
    page.get_by_role("button", name="I have kept it").click()
    expect(secret).to_be_empty()
    assert "whsec_" not in page.content()

    ours = card(page, receiver.url)
    expect(ours.locator(".state")).to_have_text("Active")
    ours.get_by_role("button", name="Send a test event").click()
    expect(ours.locator("li.delivery").filter(has_text="Test")).to_contain_text("Delivered")
    parcel = stack.create_parcel()
    delivery = ours.locator("li.delivery").filter(has_text="Parcel created").first
    expect(delivery).to_contain_text("Delivered")
    delivery.get_by_text("Attempts").click()
    # What an endpoint answers is shown as it came, and is no markup of ours.
    expect(delivery.locator("pre")).to_have_text("<b>thank you</b>")
    assert receiver.hears_of(parcel)
    assert all(event["signature"].startswith("v1,") for event in receiver.events)


def test_a_failing_endpoint_is_shown_with_its_reasons_and_sent_to_again_when_it_is_well(stack, visit, receiver, webhooks):
    receiver.answer = 500
    page = visit("/webhooks/", stack.merchant)
    create(page, receiver.url)
    page.get_by_role("button", name="I have kept it").click()
    ours = card(page, receiver.url)
    ours.get_by_role("button", name="Send a test event").click()
    delivery = ours.locator("li.delivery").filter(has_text="Test")
    expect(delivery).to_contain_text("Answered 500")
    expect(ours.locator(".state")).to_have_text("Failing")
    receiver.answer = 200
    delivery.get_by_role("button", name="Send again").click()
    expect(delivery).to_contain_text("Delivered")
    expect(ours.locator(".state")).to_have_text("Active")


def test_a_new_secret_is_shown_and_a_deleted_webhook_is_gone(stack, visit, receiver, webhooks):
    page = visit("/webhooks/", stack.other_merchant)
    create(page, receiver.url)
    first = page.locator("#secret-text").text_content()
    page.get_by_role("button", name="I have kept it").click()
    ours = card(page, receiver.url)
    ours.get_by_role("button", name="New secret").click()
    expect(page.locator("#secret-text")).to_contain_text("whsec_")
    assert page.locator("#secret-text").text_content() != first
    expect(page.locator("#secret-note")).to_contain_text("signed with the one before as well")
    page.get_by_role("button", name="I have kept it").click()
    ours.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Keep it").click()
    expect(ours).to_be_visible()
    ours.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete it").click()
    expect(ours).to_have_count(0)


def test_what_is_wrong_stands_beside_the_field(stack, visit, webhooks):
    page = visit("/webhooks/", stack.merchant, failures=True)
    page.get_by_role("button", name="Create webhook").click()
    expect(page.locator("#url-error")).to_have_text("Address is required.")
    for box in page.get_by_role("checkbox").all():
        box.uncheck()
    create(page, "http://169.254.169.254/latest/meta-data")
    expect(page.locator("#eventTypes-error")).to_have_text("Events must be one at least.")
    page.get_by_label("Parcel created").check()
    page.get_by_role("button", name="Create webhook").click()
    expect(page.locator("#url-error")).not_to_be_empty()
    expect(page.locator("li.webhook").filter(has_text="169.254")).to_have_count(0)


def test_an_operator_looks_after_a_merchants_webhooks_and_a_driver_has_none(stack, visit, receiver, webhooks):
    theirs = {"url": receiver.url, "eventTypes": ["ParcelCreated"], "contactEmail": "it@example.com", "description": own("theirs")}
    assert stack.call("POST", f"{stack.api_url}/api/webhooks", stack.other_merchant, theirs)[0] == 201
    page = visit("/webhooks/", stack.operator)
    expect(page.locator("#link")).to_contain_text("Live")
    expect(card(page, receiver.url)).to_have_count(0)
    page.get_by_label("Merchant", exact=True).fill("orchard-books")
    expect(card(page, receiver.url)).to_contain_text(theirs["description"])
    driver = visit("/webhooks/", stack.driver, failures=True)
    expect(driver.get_by_text("This key is not for this page")).to_be_visible()
    expect(driver.get_by_role("button", name="Create webhook")).to_be_hidden()
