"""The operators' page."""

import re
from datetime import datetime, timezone

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


def test_the_banner_says_since_when_the_mail_server_has_not_answered(stack, visit, mail_server):
    mail_server("stopped")
    for _ in range(5):
        stack.request_invoice(stack.create_parcel())
    page = visit("/operations/")
    expect(page.locator("#outage-words")).to_contain_text("The mail server has not answered since")
    mail_server("running")
    expect(page.locator("#outage")).to_be_hidden()


def test_the_charts_have_the_hour_before_the_page_was_opened(stack, visit):
    def an_hour(page) -> None:
        def answer(route) -> None:
            now = page.evaluate("Date.now()")
            ago = lambda minutes: datetime.fromtimestamp(now / 1000 - 60 * minutes, timezone.utc).isoformat()
            sends = [{"at": ago(minutes), "sendsPerSecond": 0} for minutes in range(60, 0, -1)]
            sends[30]["sendsPerSecond"] = 17.5
            backlog = [{"at": ago(40), "backlog": 98_765, "oldestWaitSeconds": 60}]
            route.fulfill(json={"backlog": backlog, "sends": sends}, headers={"Access-Control-Allow-Origin": stack.page_url})

        page.route("**/api/queue/history", answer)

    page = visit("/operations/", before=an_hour)
    expect(page.get_by_role("img", name="Backlog: ")).to_have_accessible_name(re.compile("at most 98,765"))
    expect(page.locator("#sends-top")).to_contain_text("at most 17.5")
    expect(page.locator(".chart").first).to_contain_text("40 min ago")


def test_only_operators_see_the_way_to_this_page(stack, visit):
    parcel = stack.create_parcel()
    for path in ["/", f"/parcel/?n={parcel['trackingNumber']}"]:
        way = visit(path, stack.operator).get_by_role("link", name="Operations")
        expect(way).to_be_visible()
        page = visit(path, stack.merchant)
        expect(page.locator("#link")).to_contain_text("Live")
        expect(page.get_by_role("link", name="Operations")).to_be_hidden()
