"""Usable with a keyboard, a screen reader, little light and little sight."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import own
from playwright.sync_api import Page, expect

API_PAGES = Path(__file__).parent.parent / "functions/api/src/pages"

LOOKS = [(scheme, phone) for scheme in ("light", "dark") for phone in (False, True)]
BY_LOOK = pytest.mark.parametrize(("scheme", "phone"), LOOKS, ids=lambda value: {True: "phone", False: "desk"}.get(value, value))


def violations(page: Page) -> list[str]:
    # What is still fading in has the contrast of neither end.
    page.wait_for_function("document.getAnimations().every(animation => animation.playState === 'finished')")
    found = Axe().run(page).response["violations"]
    return [f"{violation['id']}: {node['html']}" for violation in found for node in violation["nodes"]]


@pytest.fixture
def parcel(stack) -> dict:
    parcel = stack.create_parcel(recipient=own("Aisyah"), reference="<b>PO</b>", address="1 Raffles Place")
    stack.request_invoice(parcel)
    return parcel


@BY_LOOK
def test_axe_finds_nothing_on_the_list(stack, visit, parcel, scheme, phone):
    page = visit("/", phone=phone, scheme=scheme, bypass_csp=True)
    expect(page.locator("li.parcel").filter(has_text=parcel["recipient"])).to_contain_text("Sent")
    page.get_by_text("Address and more").click()
    page.get_by_role("button", name="Create parcel").click()
    assert violations(page) == []


@BY_LOOK
def test_axe_finds_nothing_on_a_parcel(stack, visit, parcel, scheme, phone):
    page = visit(f"/parcel/?n={parcel['trackingNumber']}", phone=phone, scheme=scheme, bypass_csp=True)
    expect(page.locator("#invoice-status")).to_have_text("Sent")
    for summary in page.locator("summary").all():
        summary.click()
    assert violations(page) == []


@BY_LOOK
def test_axe_finds_nothing_on_the_tracking_page(stack, visit, parcel, scheme, phone):
    page = visit(f"/track/?n={parcel['trackingNumber']}", phone=phone, scheme=scheme, bypass_csp=True)
    expect(page.locator("#headline")).to_be_visible()
    assert violations(page) == []


@BY_LOOK
def test_axe_finds_nothing_on_operations(stack, visit, mail_server, scheme, phone):
    mail_server("rejecting")
    failed = stack.create_parcel(recipient=own("Failed"))
    stack.request_invoice(failed)
    page = visit("/operations/", phone=phone, scheme=scheme, bypass_csp=True)
    expect(page.locator(".group").filter(has_text=failed["recipient"])).to_be_visible()
    page.evaluate("for (const hidden of ['outage', 'rush-result']) document.getElementById(hidden).hidden = false")
    assert violations(page) == []


@BY_LOOK
def test_axe_finds_nothing_on_webhooks(stack, visit, scheme, phone):
    # A name that leads nowhere, so that there is an attempt to show.
    theirs = {"url": f"https://{own('nowhere')}.invalid/", "eventTypes": ["ParcelCreated"], "contactEmail": "it@example.com"}
    status, webhook = stack.call("POST", f"{stack.api_url}/api/webhooks", stack.merchant, theirs)
    assert status == 201, webhook
    page = visit("/webhooks/", stack.merchant, phone=phone, scheme=scheme, bypass_csp=True)
    card = page.locator("li.webhook").filter(has_text=theirs["url"])
    card.get_by_role("button", name="Send a test event").click()
    card.locator("li.delivery summary").first.click()
    expect(card.locator(".attempts li").first).to_be_visible()
    assert violations(page) == []
    card.get_by_role("button", name="New secret").click()
    expect(page.locator("#secret-text")).to_contain_text("whsec_")
    assert violations(page) == []
    assert stack.call("DELETE", f"{stack.api_url}/api/webhooks/{webhook['id']}", stack.merchant)[0] == 204


@BY_LOOK
def test_axe_finds_nothing_in_dialogs_and_faces(stack, visit, scheme, phone):
    page = visit("/", stack.driver, phone=phone, scheme=scheme, bypass_csp=True, failures=True)
    expect(page.get_by_text("This key is not for this page")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Use another key").click()
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#key-error")).to_have_text("Please enter a key.")
    assert violations(page) == []


@BY_LOOK
def test_axe_finds_nothing_on_the_pages_of_expired_and_unknown_links(visit, scheme, phone):
    page = visit("/track/", phone=phone, scheme=scheme, bypass_csp=True)
    for name in ["link_expired.html", "link_unknown.html"]:
        page.goto((API_PAGES / name).as_uri())
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert violations(page) == []


def test_a_parcel_is_created_and_its_invoice_asked_for_by_keyboard_alone(stack, visit):
    page, name = visit("/", stack.merchant), own("Keys")
    expect(page.locator("#link-text")).to_contain_text("Live")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the parcels")).to_be_focused()
    while page.evaluate("document.activeElement.id") != "recipient":
        page.keyboard.press("Tab")
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type("keys@example.com")
    page.keyboard.press("Enter")
    row = page.locator("li.parcel").filter(has_text=name)
    expect(row).to_be_visible()
    while not row.get_by_role("button", name="Email invoice").evaluate("button => button === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(row.locator(".state")).to_be_focused()
    expect(row).to_contain_text("Sent")
    expect(page.locator("#live")).to_contain_text(f"Invoice for {name}")


def test_nothing_moves_for_who_wants_less_motion(stack, visit):
    def still(page: Page) -> None:
        page.emulate_media(reduced_motion="reduce")
        page.route("**/api/**", lambda route: None)

    page = visit("/", before=still)
    expect(page.locator(".bones")).to_be_visible()
    assert page.evaluate("document.getAnimations().length") == 0


@pytest.mark.parametrize("path", ["/", "/operations/", "/webhooks/", "/parcel/?n={number}", "/track/?n={number}"])
def test_a_narrow_phone_need_not_scroll_sideways(stack, visit, path):
    parcel = stack.create_parcel(recipient="W" * 200, reference="R" * 100)
    page = visit(path.format(number=parcel["trackingNumber"]), phone=True)
    page.set_viewport_size({"width": 320, "height": 640})
    expect(page.locator("#link-text")).to_contain_text("Live")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
