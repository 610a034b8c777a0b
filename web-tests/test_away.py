"""Faces: what the pages show when something is away or forbidden."""

import pytest
from conftest import type_key
from playwright.sync_api import expect

PAGES = ["/", "/operations/", "/webhooks/", "/parcel/?n={number}", "/track/?n={number}"]


@pytest.mark.parametrize("path", PAGES)
def test_without_the_api_a_page_says_so_and_fills_by_itself_once_it_is_back(stack, visit, path):
    number = stack.create_parcel()["trackingNumber"]
    page = visit(path.format(number=number), failures=True, before=lambda page: page.route("**/api/**", lambda route: route.abort()))
    expect(page.get_by_text("This cannot be shown right now")).to_be_visible()
    expect(page.locator("#link-text")).to_contain_text("The API does not answer. Away since")
    expect(page.locator("#link-text")).to_contain_text("next try in")
    page.unroute("**/api/**")
    expect(page.locator("#link-text")).to_contain_text("Live")
    expect(page.get_by_text("This cannot be shown right now")).to_be_hidden()
    expect(page.locator("#live")).not_to_be_empty()


@pytest.mark.parametrize("path", PAGES)
def test_what_was_read_stays_while_the_api_is_away(stack, visit, path):
    parcel = stack.create_parcel()
    page = visit(path.format(number=parcel["trackingNumber"]), failures=True)
    expect(page.locator("#link-text")).to_contain_text("Live")
    before = page.locator("main").inner_text().count("\n")
    page.route("**/api/**", lambda route: route.fulfill(status=503, json={"title": "Temporarily unavailable", "detail": "Nothing was done."}))
    if path.startswith("/track"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#link-text")).to_contain_text("Nothing was done. Away since")
    expect(page.get_by_text("This cannot be shown right now")).to_be_hidden()
    assert page.locator("main").inner_text().count("\n") >= before
    page.unroute("**/api/**")
    page.get_by_role("button", name="Try now").click()
    expect(page.locator("#link-text")).to_contain_text("Live")


def test_a_key_that_is_not_good_is_asked_for_again(stack, visit):
    page = visit("/", "pt_thisisnotagoodone_" + "x" * 64, failures=True)
    expect(page.locator("#key-error")).to_have_text("This key is not good, or not any more.")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_visible()
    type_key(page, stack.merchant)
    expect(page.locator("#link-text")).to_contain_text("Live")
    page.reload()
    expect(page.locator("#link-text")).to_contain_text("Live")


def test_a_key_is_kept_for_its_tab_only(stack, visit):
    page = visit("/", stack.merchant)
    expect(page.locator("#link-text")).to_contain_text("Live")
    tab = page.context.new_page()
    visit.offer_no_key(tab)
    tab.goto(stack.page_url)
    expect(tab.get_by_role("dialog")).to_be_visible()


def test_a_drivers_key_gets_no_list(stack, visit):
    page = visit("/", stack.driver, failures=True)
    expect(page.get_by_text("This key is not for this page")).to_be_visible()
    page.get_by_role("button", name="Use another key").click()
    page.get_by_role("button", name="Keep the one in use").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("path", ["/", "/operations/", "/webhooks/", "/parcel/?n=LCL48291057", "/track/?n=LCL48291057"])
def test_without_its_settings_a_page_says_so(visit, path):
    lose = lambda page: page.route("**/config.json", lambda route: route.fulfill(status=404))  # noqa: E731
    page = visit(path, failures=True, before=lose)
    expect(page.get_by_text("The page's settings cannot be read")).to_be_visible()


def test_a_mailed_link_that_does_not_exist_opens_a_page_that_helps(stack, visit):
    page = visit("/track/", failures=True)
    answer = page.goto(f"{stack.api_url}/i/no-such-link")
    assert answer.status == 404
    expect(page.get_by_role("heading", level=1)).to_be_visible()
