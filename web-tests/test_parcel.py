"""One parcel: its invoice, its timeline, its recipient."""

import re
import struct
import urllib.request
import zlib

from conftest import own
from playwright.sync_api import Page, expect


def path(parcel: dict) -> str:
    return f"/parcel/?n={parcel['trackingNumber']}"


def status_of_invoice(page: Page):
    return page.locator("#invoice-status")


def png() -> bytes:
    """A picture of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\x0b\x55\x63")) + chunk(b"IEND", b"")


def test_an_invoice_is_asked_for_watched_until_it_is_sent_and_its_pdf_opened(stack, visit):
    parcel = stack.create_parcel()
    page = visit(path(parcel), stack.merchant)
    page.get_by_role("button", name="Email invoice").dblclick()
    expect(status_of_invoice(page)).to_have_text("Sent")
    expect(page.locator("#invoice-words")).to_contain_text("E-mailed")
    assert len(stack.mails_to(parcel["email"])) == 1
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Open PDF").click()
    tab = opened.value
    tab.wait_for_url("**INV-**")
    assert tab.evaluate("opener") is None
    answer = page.context.request.get(tab.url)
    assert answer.headers["content-type"] == "application/pdf" and answer.body().startswith(b"%PDF")


def test_the_pdf_is_shown_on_the_page_and_saved(stack, visit):
    parcel = stack.create_parcel()
    stack.request_invoice(parcel)
    page = visit(path(parcel), stack.merchant)
    expect(status_of_invoice(page)).to_have_text("Sent")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download").click()
    assert saved.value.suggested_filename.startswith("INV-")
    assert saved.value.path().read_bytes().startswith(b"%PDF")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("dialog")).to_contain_text("INV-")
    expect(page.locator("#frame")).to_have_attribute("src", re.compile("INV-"))
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_an_invoice_waits_in_plain_words_while_the_mail_server_is_down_and_goes_out_once_it_is_up(stack, visit, mail_server):
    parcel = stack.create_parcel()
    mail_server("stopped")
    page = visit(path(parcel), stack.merchant)
    page.get_by_role("button", name="Email invoice").click()
    words = page.locator("#invoice-words")
    expect(words).to_contain_text("Waiting for the mail server, next try in")
    expect(words).to_contain_text("attempt")
    expect(status_of_invoice(page)).to_have_text("Generated")
    page.get_by_text("Attempts").click()
    expect(page.locator(".attempts li").first).to_contain_text("Did not go through")
    mail_server("running")
    expect(status_of_invoice(page)).to_have_text("Sent")
    expect(page.locator("#live")).to_have_text("Invoice: Sent.")
    assert len(stack.mails_to(parcel["email"])) == 1


def test_a_sent_invoice_is_sent_again_but_not_twice_in_a_minute(stack, visit):
    parcel = stack.create_parcel()
    stack.request_invoice(parcel)
    page = visit(path(parcel), stack.merchant, failures=True)
    expect(status_of_invoice(page)).to_have_text("Sent")
    again = page.get_by_role("button", name="Send it again")
    again.click()
    expect(page.locator("#invoice-words")).to_contain_text("attempt 2")
    expect(status_of_invoice(page)).to_have_text("Sent")
    assert len(stack.mails_to(parcel["email"])) == 2
    again.click()
    expect(page.locator("#problem")).to_contain_text("It may be sent once more in")
    assert len(stack.mails_to(parcel["email"])) == 2


def test_a_refused_address_is_corrected_and_the_invoice_tried_again(stack, visit, mail_server):
    parcel, right = stack.create_parcel(), f"{own('right')}@example.com"
    mail_server("rejecting")
    stack.request_invoice(parcel)
    page = visit(path(parcel), stack.merchant)
    expect(status_of_invoice(page)).to_have_text("Failed")
    expect(page.locator("#invoice-words")).to_contain_text("Not sent: ")
    mail_server("running")
    page.get_by_text("Correct the e-mail address").click()
    address = page.get_by_label("E-mail", exact=True)
    address.fill("nobody")
    address.press("Enter")
    expect(page.locator("#new-email-error")).to_contain_text("must be an e-mail address")
    address.fill(right)
    address.press("Enter")
    expect(page.locator("#invoice-facts")).to_contain_text(right)
    expect(page.locator("#invoice-facts")).to_contain_text(parcel["email"])
    page.get_by_role("button", name="Try again").click()
    expect(status_of_invoice(page)).to_have_text("Sent")
    assert (len(stack.mails_to(right)), len(stack.mails_to(parcel["email"]))) == (1, 0)


def test_a_parcel_is_cancelled_after_a_question(stack, visit):
    parcel = stack.create_parcel()
    page = visit(path(parcel), stack.merchant)
    cancel = page.get_by_role("button", name="Cancel parcel")
    cancel.click()
    page.get_by_role("button", name="Keep it").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(cancel).to_be_focused()
    cancel.click()
    page.get_by_role("button", name="Cancel the parcel").click()
    expect(page.locator("#status")).to_have_text("Cancelled")
    expect(cancel).to_be_hidden()
    expect(page.locator("#timeline li").first).to_contain_text("Cancelled")


def test_what_a_driver_reports_shows_up_with_place_note_and_photo(stack, visit):
    parcel = stack.create_parcel()
    base = f"{stack.api_url}/api/parcels/{parcel['id']}"
    page = visit(path(parcel), stack.merchant)
    expect(page.locator("#timeline li")).to_have_count(1)
    for step in [
        {"status": "InTransit", "location": "Changi Hub"},
        {"status": "OutForDelivery"},
        {"status": "Delivered", "location": "Bedok", "note": "Handed to a neighbour"},
    ]:
        status, answer = stack.call("POST", f"{base}/events", stack.driver, step)
        assert status in (201, 409), answer  # 409: the simulator was faster
    expect(page.locator("#timeline li").first).to_contain_text("Delivered")
    photo = png()
    asked = {"contentType": "image/png", "size": len(photo)}
    status, answer = stack.call("POST", f"{base}/proof-of-delivery", stack.driver, asked)
    assert status == 201, answer
    upload = answer["upload"]
    request = urllib.request.Request(upload["url"], data=photo, method=upload["method"], headers=upload["headers"])
    assert urllib.request.urlopen(request).status == 200
    page.reload()
    expect(page.locator("#photo")).to_be_visible()
    expect(page.locator("#photo")).to_have_js_property("naturalWidth", 1)


def test_another_merchants_parcel_and_a_made_up_number_are_unknown(stack, visit):
    parcel = stack.create_parcel()
    for number, key in [(parcel["trackingNumber"], stack.other_merchant), ("LCL1", stack.merchant), ("", None)]:
        page = visit(f"/parcel/?n={number}", key, failures=True)
        expect(page.get_by_text("There is no such parcel", exact=True)).to_be_visible()
        expect(page.get_by_role("heading", name="Invoice")).to_be_hidden()
