"""The customers' page."""

from conftest import own
from playwright.sync_api import Page, expect


def api_calls(page: Page) -> list:
    calls = []
    page.on("request", lambda request: calls.append(request) if "/api/" in request.url else None)
    return calls


def test_the_link_that_staff_share_works_for_anybody_and_names_nobody(stack, visit):
    parcel = stack.create_parcel(recipient=own("Secret"), address="1 Hidden Lane")
    staff = visit(f"/parcel/?n={parcel['trackingNumber']}", stack.merchant)
    staff.get_by_role("link", name="What the customer sees").click()
    expect(staff.locator("#shown-number")).to_have_text(parcel["trackingNumber"])
    staff.get_by_role("button", name="Copy link").click()
    expect(staff.get_by_role("button", name="Copied")).to_be_visible()
    link = staff.evaluate("navigator.clipboard.readText()")

    calls = []
    customer = visit(link.removeprefix(stack.page_url), before=lambda page: calls.append(api_calls(page)))
    expect(customer.locator("#headline")).to_have_text("Created")
    expect(customer.locator("#timeline li")).to_have_count(1)
    assert calls[0] and all("authorization" not in call.headers for call in calls[0])
    text = customer.locator("body").inner_text()
    assert parcel["recipient"] not in text and "Hidden" not in text and parcel["email"] not in text


def test_the_short_address_is_enough(stack, visit):
    parcel = stack.create_parcel()
    page = visit(f"/track?n={parcel['trackingNumber']}")
    expect(page.locator("#headline")).to_have_text("Created")
    expect(page.locator("#next")).to_contain_text("Next: in transit.")


def test_a_wrong_check_digit_is_found_without_asking_anybody(stack, visit):
    parcel = stack.create_parcel()
    page = visit("/track/")
    calls = api_calls(page)
    number = parcel["trackingNumber"]
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    field = page.get_by_label("Tracking number")
    for text, words in [(wrong, "typing error"), ("LCL123", "8 or 10 digits"), ("", "Please enter")]:
        field.fill(text)
        page.get_by_role("button", name="Track").click()
        expect(page.locator("#number-error")).to_contain_text(words)
        expect(field).to_be_focused()
    assert calls == []
    field.fill(f"  {number[:5].lower()} {number[5:]} ")
    field.press("Enter")
    expect(page.locator("#shown-number")).to_have_text(number)
    expect(page.locator("#number-error")).to_be_empty()


def test_an_unknown_number_says_so_and_going_back_shows_the_known_one(stack, visit):
    parcel = stack.create_parcel()
    page = visit(f"/track/?n={parcel['trackingNumber']}", failures=True)
    expect(page.locator("#headline")).to_be_visible()
    # Ten digits: the stack draws such numbers only once it has run out of short ones.
    page.get_by_label("Tracking number").fill("LCL0000000000")
    page.get_by_role("button", name="Track").click()
    expect(page.get_by_text("We do not know this number", exact=True)).to_be_visible()
    expect(page.locator("#result")).to_be_hidden()
    page.go_back()
    expect(page.locator("#shown-number")).to_have_text(parcel["trackingNumber"])
    expect(page.get_by_text("We do not know this number", exact=True)).to_be_hidden()
