"""The list of parcels, and the form beside it."""

import re

from conftest import PATIENCE_MS, own
from playwright.sync_api import Page, expect


def row(page: Page, text: str):
    return page.locator("li.parcel").filter(has_text=text)


def fill(page: Page, recipient: str, email: str) -> None:
    page.get_by_label("Recipient", exact=True).fill(recipient)
    page.get_by_label("E-mail", exact=True).fill(email)


def test_a_merchant_creates_a_parcel_and_finds_it_in_the_list(stack, visit):
    page, name = visit("/", stack.merchant), own("Priya")
    fill(page, name, "priya@example.com")
    page.get_by_label("Recipient", exact=True).press("Enter")
    expect(row(page, name)).to_contain_text("Created")
    expect(page.locator("#created")).to_contain_text(name)
    expect(page.locator("#live")).to_contain_text(f"for {name} created")
    expect(page.get_by_label("Recipient", exact=True)).to_have_value("")
    row(page, name).get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_a_double_click_makes_one_parcel(stack, visit):
    page, name = visit("/", stack.merchant), own("Double")
    fill(page, name, "double@example.com")
    page.get_by_role("button", name="Create parcel").dblclick()
    expect(row(page, name)).to_have_count(1)
    expect(page.get_by_role("button", name="Create parcel")).to_be_enabled()
    assert [parcel["recipient"] for parcel in stack.newest_parcels()].count(name) == 1


def test_a_lost_answer_and_another_click_make_one_parcel(stack, visit):
    page, name = visit("/", stack.merchant, failures=True), own("Lost")

    def lose(route) -> None:
        if route.request.method != "POST":
            return route.continue_()
        assert route.fetch().status == 201
        route.abort()

    page.route("**/api/parcels", lose)
    fill(page, name, "lost@example.com")
    page.get_by_role("button", name="Create parcel").click()
    expect(page.locator("#create-error")).to_contain_text("it will not be made twice")
    page.unroute("**/api/parcels")
    page.get_by_role("button", name="Create parcel").click()
    expect(page.locator("#created")).to_be_visible()
    assert [parcel["recipient"] for parcel in stack.newest_parcels()].count(name) == 1


def test_what_is_edited_after_a_lost_answer_is_another_parcel(stack, visit):
    page, name, keys = visit("/", stack.merchant, failures=True), own("Edited"), []

    def lose(route) -> None:
        if route.request.method != "POST":
            return route.continue_()
        keys.append(route.request.headers["idempotency-key"])
        route.abort()

    page.route("**/api/parcels", lose)
    for recipient in [name, name, f"{name} Bte"]:
        fill(page, recipient, "edited@example.com")
        page.get_by_role("button", name="Create parcel").click()
        expect(page.locator("#create-error")).to_contain_text("it will not be made twice")
    assert keys[0] == keys[1] != keys[2]


def test_wrong_fields_are_named_before_anything_is_sent(stack, visit):
    page, sent = visit("/", stack.merchant), []
    page.on("request", lambda request: sent.append(request.method))
    page.get_by_role("button", name="Create parcel").click()
    expect(page.locator("#recipient-error")).to_have_text("Recipient is required.")
    expect(page.get_by_label("Recipient", exact=True)).to_be_focused()
    email = page.get_by_label("E-mail", exact=True)
    email.fill("nobody")
    expect(page.locator("#email-error")).to_have_text("E-mail must be an e-mail address such as tan@example.com.")
    expect(email).to_have_attribute("aria-invalid", "true")
    email.fill("nobody@example.com")
    expect(page.locator("#email-error")).to_be_empty()
    page.get_by_text("Address and more").click()
    page.get_by_label("Postal code").fill("12")
    page.get_by_label("Phone").focus()
    expect(page.locator("#postalCode-error")).to_have_text("Postal code must be six digits such as 018956.")
    assert "POST" not in sent


def test_what_only_the_api_finds_wrong_stands_beside_the_field_too(stack, visit):
    page = visit("/", stack.merchant, failures=True)
    fill(page, own("Dots"), "two..dots@example.com")
    page.get_by_role("button", name="Create parcel").click()
    expect(page.locator("#email-error")).to_contain_text("E-mail must be")
    expect(page.get_by_label("E-mail", exact=True)).to_be_focused()


def test_hostile_names_show_as_text(stack, visit):
    page, mark = visit("/", stack.merchant), own("x")
    names = [f"<img src=x onerror=alert(1)> {mark}", f"</li><script>alert(1)</script> {mark}", f"\u202e{mark} &amp; ${{7*7}}"]
    page.on("dialog", lambda dialog: dialog.dismiss() or visit.complaints.append("a name was run"))
    for name in names:
        parcel = stack.create_parcel(recipient=name, reference=f"<b>{mark}</b>")
        # What would turn around the text beside it is taken out by the API.
        shown = name.replace("\u202e", "")
        expect(page.locator("li.parcel .name").filter(has_text=mark).first).to_have_text(shown)
        page.goto(f"{stack.page_url}/parcel/?n={parcel['trackingNumber']}")
        expect(page.get_by_role("heading", level=1)).to_have_text(shown)
        expect(page.locator("#parcel-facts")).to_contain_text(f"<b>{mark}</b>")
        page.goto(stack.page_url)
    assert page.locator("#rows img, #rows script, #rows b").count() == 0


def test_search_finds_a_number_a_recipient_and_a_reference(stack, visit):
    mark = own("Zhang")
    parcel = stack.create_parcel(recipient=f"{mark} Li", reference=f"po-{mark}")
    stack.create_parcel(recipient=own("Other"))
    page = visit("/", stack.merchant)
    search = page.get_by_label("Tracking number, recipient or reference")
    for text in [parcel["trackingNumber"], mark.lower(), f"PO-{mark}"]:
        search.fill(text)
        expect(page.locator("li.parcel")).to_have_count(1)
        expect(row(page, mark)).to_be_visible()
        assert re.search(r"[?&]q=", page.url)
        search.fill("")
        expect(page.locator("li.parcel").nth(1)).to_be_visible()
    search.fill(own("nobody"))
    expect(page.get_by_text("No parcel matches", exact=True)).to_be_visible()
    page.get_by_role("button", name="Show all parcels").click()
    expect(row(page, mark)).to_be_visible()


def test_a_search_and_a_status_survive_a_reload(stack, visit):
    mark = own("Status")
    stack.create_parcel(recipient=f"{mark} One")
    cancelled = stack.create_parcel(recipient=f"{mark} Two")
    assert stack.call("POST", f"{stack.api_url}/api/parcels/{cancelled['id']}/cancel", stack.merchant)[0] == 200
    page = visit("/", stack.merchant)
    page.get_by_label("Tracking number, recipient or reference").fill(mark)
    page.get_by_label("Status", exact=True).select_option("Cancelled")
    for _ in range(2):
        expect(page.locator("li.parcel")).to_have_count(1)
        expect(row(page, f"{mark} Two")).to_contain_text("Cancelled")
        page.reload()


def test_an_operator_may_look_at_another_merchants_list_and_share_its_address(stack, visit):
    theirs = stack.create_parcel(key=stack.other_merchant, recipient=own("Theirs"))
    page = visit("/", stack.operator)
    merchant = page.get_by_label("Merchant", exact=True)
    merchant.fill("orchard-books")
    expect(row(page, theirs["recipient"])).to_be_visible()
    merchant.fill("nobody-at-all")
    expect(page.get_by_text("No parcel matches", exact=True)).to_be_visible()
    page.get_by_role("button", name="Show all parcels").click()
    expect(page.locator("li.parcel").first).to_be_visible()
    expect(row(page, theirs["recipient"])).to_have_count(0)
    shared = visit("/?owner=orchard-books", stack.operator)
    expect(row(shared, theirs["recipient"])).to_be_visible()
    # To a merchant the same address shows their own.
    own_parcel = stack.create_parcel(recipient=own("Mine"))
    page = visit("/?owner=orchard-books", stack.merchant)
    expect(row(page, own_parcel["recipient"])).to_be_visible()
    expect(page.get_by_label("Merchant", exact=True)).to_be_hidden()


def test_older_parcels_follow_when_they_are_asked_for(stack, visit):
    mark = own("page")
    for number in range(23):
        stack.create_parcel(recipient=f"No {number}", reference=mark)
    page = visit(f"/?q={mark}", stack.merchant)
    expect(page.locator("li.parcel")).to_have_count(20)
    page.get_by_role("button", name="Older parcels").click()
    expect(page.locator("li.parcel")).to_have_count(23)
    expect(page.get_by_role("button", name="Older parcels")).to_be_hidden()
    names = page.locator("li.parcel .name").all_text_contents()
    assert names == [f"No {number}" for number in reversed(range(23))]


def test_nothing_moves_under_the_pointer(stack, visit):
    mark = own("still")
    stack.create_parcel(recipient="Here first", reference=mark)
    page = visit(f"/?q={mark}", stack.merchant)
    here = row(page, "Here first")
    here.hover()
    before = here.bounding_box()
    stack.create_parcel(recipient="Newcomer", reference=mark)
    news = page.get_by_role("button", name="Show 1 new parcel")
    expect(news).to_be_visible()
    assert here.bounding_box() == before
    news.click()
    expect(row(page, "Newcomer")).to_be_visible()


def test_one_request_at_a_time_however_slow_the_api_is(stack, visit):
    stack.create_parcel()
    page, under_way, most = visit("/", stack.merchant), set(), [0]

    def begin(request) -> None:
        if request.method == "GET" and "/api/" in request.url:
            under_way.add(request)
            most[0] = max(most[0], len(under_way))

    def delay(route) -> None:
        page.wait_for_timeout(700)
        route.continue_()

    page.on("request", begin)
    page.on("requestfinished", lambda request: under_way.discard(request))
    page.on("requestfailed", lambda request: under_way.discard(request))
    page.route("**/api/**", delay)
    for _ in range(3):
        with page.expect_response(lambda answer: "/api/parcels?" in answer.url, timeout=PATIENCE_MS):
            pass
    assert most[0] == 1
