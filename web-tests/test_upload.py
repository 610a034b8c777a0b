"""What a page of ours may upload past the API: the bucket has a CORS rule, and the stack of the laptop holds to it."""

import pytest

PHOTO = b"\xff\xd8\xff\xe0 a photograph"

# Exactly as told; what a browser sets itself, such as the length, it leaves out by itself.
UPLOAD = """async ({ url, method, headers, photo }) => {
  try {
    return (await fetch(url, { method, headers, body: new Uint8Array(photo) })).status;
  } catch (error) {
    return error.name;
  }
}"""


@pytest.fixture
def upload(browser, stack):
    """Asks for a place, and uploads from the page's origin, with more headers than told if there are any."""
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(f"{stack.page_url}/track")

    def upload_with(more: dict | None = None) -> int | str:
        parcel = stack.create_parcel()
        url = f"{stack.api_url}/api/parcels/{parcel['id']}/proof-of-delivery"
        status, told = stack.call("POST", url, stack.driver, {"contentType": "image/jpeg", "size": len(PHOTO)})
        assert status == 201, told
        request = told["upload"]
        return page.evaluate(UPLOAD, request | {"headers": request["headers"] | (more or {}), "photo": list(PHOTO)})

    yield upload_with
    context.close()


def test_a_browser_uploads_as_it_is_told(upload):
    assert upload() == 200


def test_a_header_that_the_bucket_does_not_allow_is_refused_as_on_aws(upload):
    assert upload({"x-amzn-trace-id": "Root=1"}) == "TypeError"
