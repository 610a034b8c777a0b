"""The operators' page."""

import re

from conftest import own
from playwright.sync_api import expect


def test_an_operator_sees_the_queue_and_a_merchant_does_not(stack, visit):
    operator = visit("/operations/")
    expect(operator.locator("#sends")).to_have_text(re.compile(r"\d"))
    expect(operator.get_by_role("img", name="Backlog: ")).to_be_visible()
    for key in [stack.merchant, stack.driver]:
        page = visit("/operations/", key, failures=True)
        expect(page.get_by_text("This key is not for this page")).to_be_visible()
        expect(page.locator("#backlog")).to_be_hidden()


def test_another_key_opens_what_the_first_did_not(stack, visit):
    page = visit("/operations/", stack.merchant, failures=True)
    page.get_by_role("button", name="Use another key").click()
    page.get_by_label("Key", exact=True).fill(stack.operator)
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#backlog")).to_be_visible()


def test_failed_invoices_stand_under_their_reason_and_are_tried_again(stack, visit, mail_server):
    parcels = [stack.create_parcel(recipient=own("Failed")) for _ in range(3)]
    mail_server("rejecting")
    for parcel in parcels:
        stack.request_invoice(parcel)
    page = visit("/operations/", failures=True)
    rows = [page.locator(".group li").filter(has_text=parcel["recipient"]) for parcel in parcels]
    for row in rows:
        expect(row).to_be_visible()
    group = page.locator(".group").filter(has_text=parcels[1]["recipient"])
    expect(group.get_by_role("heading")).to_contain_text("550")
    for parcel in parcels:
        expect(group.locator("li").filter(has_text=parcel["recipient"])).to_have_count(1)
    mail_server("running")
    rows[0].get_by_role("button", name="Try again").click()
    expect(rows[0]).to_have_count(0)
    expect(rows[1]).to_be_visible()
    group.get_by_role("button", name="Try these again").click()
    for parcel, row in zip(parcels, rows):
        expect(row).to_have_count(0)
        page_of_parcel = visit(f"/parcel/?n={parcel['trackingNumber']}", stack.merchant)
        expect(page_of_parcel.locator("#invoice-status")).to_have_text("Sent")
        assert len(stack.mails_to(parcel["email"])) == 1


def test_a_rush_while_the_mail_server_is_down_loses_nothing(stack, visit, mail_server):
    mail_server("stopped")
    page = visit("/operations/")
    page.get_by_label("Parcels").select_option("20")
    page.get_by_role("button", name="Send a rush").dblclick()
    words = page.locator("#rush-words")
    expect(words).to_contain_text("All 20 are promised")
    expect(page.get_by_text("No mail is going out", exact=True)).to_be_visible()
    page.reload()
    expect(words).to_contain_text("All 20 are promised, and 20 are still to be sent.")
    mail_server("running")
    expect(words).to_have_text("All 20 are sent. Nothing got lost.")
    expect(page.get_by_text("No mail is going out", exact=True)).to_be_hidden()
    reference = page.evaluate("JSON.parse(sessionStorage.getItem('parceltrack-rush')).reference")
    to = [mail["to"][0] for mail in stack.mails_to(reference)]
    assert (len(to), len(set(to))) == (20, 20)
