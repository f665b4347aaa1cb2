"""The page for reviewers in a real browser: Debian's Chromium, headless."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect, sync_playwright
from proving.claims import report_of
from proving.pages import printed
from visualproof_server.model.geometry import box_of
from visualproof_server.model.report import Status

from evidence.made import invoice, page_of, turned

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        yield running
        running.close()


class Opened:
    """A page that is open, with all that it asked for and said."""

    def __init__(self, browser: Browser, file: Path, **options: Any) -> None:
        context = browser.new_context(
            viewport={"width": 1280, "height": 800}, accept_downloads=True, **options
        )
        self.page: Page = context.new_page()
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.on("dialog", self._dialog)
        self.page.goto(file.as_uri())
        self.shown()

    def _dialog(self, dialog: Dialog) -> None:
        self.errors.append(dialog.message)
        dialog.dismiss()

    def shown(self) -> None:
        """Waits until the picture of the page is there."""
        self.page.wait_for_function(
            "() => { const i = document.getElementById('image');"
            " return i.complete && i.naturalWidth > 0; }"
        )

    def row(self, name: str) -> Any:
        return self.page.locator(".row > button", has=self.page.get_by_text(name, exact=True))

    def names(self) -> list[str]:
        return self.page.locator(".row .name").all_text_contents()

    def chosen(self) -> str:
        return self.page.locator(".row.on .name").inner_text()

    def lit(self) -> dict[str, float]:
        """Where the lit frame lies, in fractions of the picture."""
        made: dict[str, float] = self.page.evaluate(
            """() => {
              const sheet = document.getElementById("image").getBoundingClientRect();
              const lit = document.querySelector("#frames .lit").getBoundingClientRect();
              return { left: (lit.left - sheet.left) / sheet.width, top: (lit.top - sheet.top) / sheet.height,
                       right: (lit.right - sheet.left) / sheet.width, bottom: (lit.bottom - sheet.top) / sheet.height };
            }"""
        )
        return made


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    file = tmp_path / "index.html"
    file.write_bytes(page_of(*invoice()))
    made = Opened(browser, file)
    yield made
    assert made.errors == []
    # One file, and pictures made of it: nothing was asked of any network.
    assert {url.split(":")[0] for url in made.requests} <= {"file", "blob"}
    assert len({u for u in made.requests if u.startswith("file:")}) == 1
    made.page.context.close()


def test_thrown_away_values_come_first_with_why(opened: Opened) -> None:
    assert opened.names()[0] == "total"
    headings = opened.page.locator("#results h2").all_text_contents()
    assert [re.sub(r" \(.*", "", h) for h in headings] == ["Thrown away", "To review", "Released"]
    assert opened.chosen() == "total"
    detail = opened.page.locator(".row.on .detail")
    assert "".join(detail.locator("ins").all_text_contents()) == ",0.0"
    expect(detail.locator("code")).to_have_text("DIGIT_DIFFERS")
    expect(opened.row("currency").locator(".why")).not_to_be_empty()


def test_a_click_turns_to_the_page_and_lights_the_words(opened: Opened) -> None:
    document, report = invoice()
    for name, path in (("amount", "/deposit/amount"), ("vat", "/vat")):
        opened.row(name).click()
        opened.shown()
        (evidence,) = next(r for r in report.results if r.path == path).evidence
        expect(opened.page.locator("#turn")).to_have_value(str(evidence.page))
        page = document.page(evidence.page)
        assert page is not None
        box, lit = evidence.boxes[0], opened.lit()
        for side, size in (("left", page.width), ("right", page.width), ("top", page.height), ("bottom", page.height)):  # fmt: skip
            assert abs(lit[side] * size - getattr(box, side)) <= 5, (name, side)


def test_frames_follow_a_tilted_line(browser: Browser, tmp_path: Path) -> None:
    document, _ = invoice()
    document = turned(document, 0.05)
    report = report_of(document, {"vendor": "Northgate Kitchen Supply Ltd"})
    file = tmp_path / "index.html"
    file.write_bytes(page_of(document, report))
    opened = Opened(browser, file)
    points = opened.page.locator("#frames .lit").get_attribute("points")
    corners = [tuple(float(n) for n in p.split(",")) for p in (points or "").split()]
    assert corners[1][1] - corners[0][1] == pytest.approx(
        0.05 * (corners[1][0] - corners[0][0]), abs=2
    )
    quad = report.results[0].evidence[0].quads[0]
    assert box_of(quad).height < 45


def test_keys_go_through_values_and_places(opened: Opened) -> None:
    page = opened.page
    page.keyboard.press("j")
    assert opened.chosen() == opened.names()[1]
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert opened.chosen() == "total"
    opened.row("term").click()
    first = opened.lit()
    expect(page.locator(".places")).to_contain_text("place 1 of 2")
    page.keyboard.press("n")
    expect(page.locator(".places")).to_contain_text("place 2 of 2")
    assert opened.lit() != first
    page.keyboard.press("p")
    assert opened.lit() == first
    page.keyboard.press("]")
    expect(page.locator("#turn")).to_have_value("2")
    page.keyboard.press("Enter")
    expect(page.locator("#turn")).to_have_value("1")
    width = page.locator("#sheet").bounding_box()
    page.keyboard.press("+")
    larger = page.locator("#sheet").bounding_box()
    assert width is not None
    assert larger is not None
    assert larger["width"] > 1.2 * width["width"]
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_filters_and_search(opened: Opened) -> None:
    page = opened.page
    page.get_by_role("button", name="To review").click()
    assert opened.names() == ["term"]
    page.get_by_role("button", name="All 6").click()
    page.keyboard.press("/")
    page.keyboard.type("16,020")
    assert opened.names() == ["total"]
    page.keyboard.press("Escape")
    page.locator("#search").fill("nothing like it")
    expect(page.locator(".empty")).to_have_text("No value matches.")
    page.locator("#search").fill("")
    page.get_by_label("as answered").check()
    assert opened.names() == ["vendor", "total", "vat", "term", "amount", "currency"]
    assert page.locator("#results h3").all_text_contents() == ["deposit"]


def test_a_click_on_a_frame_chooses_its_value(opened: Opened) -> None:
    opened.page.locator('#frames polygon[data-path="/vat"]').click()
    assert opened.chosen() == "vat"


def test_decisions_are_kept_and_downloaded(opened: Opened) -> None:
    page = opened.page
    expect(page.locator("#download")).to_be_disabled()
    page.keyboard.press("c")
    page.locator(".decide input").fill("16020.00")
    page.keyboard.press("Enter")
    opened.row("term").click()
    page.keyboard.press("r")
    page.keyboard.press("u")
    page.keyboard.press("a")
    accepted = opened.chosen()
    with page.expect_download() as download:
        page.locator("#download").click()
    body = json.loads(Path(download.value.path()).read_text())
    assert body["report_sha256"] == "c" * 64
    made = {d["path"]: (d["decision"], d["value"]) for d in body["decisions"]}
    assert made["/total"] == ("correct", "16020.00")
    assert made["/term"] == ("reject", None)
    assert next(p for p, d in made.items() if d[0] == "accept").endswith(accepted)
    assert len(body["decisions"]) + len(body["undecided"]) == 6
    page.reload()
    opened.shown()
    expect(opened.row("total").locator(".mine")).to_have_text("corrected: 16020.00")
    page.get_by_role("button", name="Undecided").click()
    assert len(opened.names()) == 3


HOSTILE = [
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<!--<script>",
    "'\"><svg/onload=window.hacked=1>",
    "javascript:window.hacked=1",
    "{{constructor.constructor('window.hacked=1')()}}",
    "\u2028window.hacked=1//@DATA@ @JS@",
]


def test_hostile_text_is_inert(browser: Browser, tmp_path: Path) -> None:
    document = printed([*HOSTILE, "Total 5.00"])
    report = report_of(document, {text: text for text in HOSTILE} | {"a": HOSTILE})
    bad = replace(report.results[0], printed_text=HOSTILE[0], status=Status.MISMATCH)
    report = replace(report, results=(bad, *report.results[1:]))
    file = tmp_path / "index.html"
    file.write_bytes(page_of(document, report, title="</title><script>window.hacked=1</script>"))
    opened = Opened(browser, file)
    for _ in range(len(report.results)):
        opened.page.keyboard.press("j")
    assert opened.page.evaluate("window.hacked") is None
    assert opened.errors == []
    assert {u.split(":")[0] for u in opened.requests} <= {"file", "blob"}
    assert opened.page.locator("#results img, #results svg, #results script").count() == 0
    assert HOSTILE[1] in opened.page.locator("#results").inner_text()


def test_the_policy_stops_what_is_smuggled_in(browser: Browser, tmp_path: Path) -> None:
    """Even markup that reached the file runs nothing and loads nothing."""
    whole = page_of(*invoice())
    smuggled = (
        b"<script>window.hacked=1</script><img src=x onerror='window.hacked=1'>"
        b"<img src='https://example.com/a.png'><a href='javascript:window.hacked=1' id=bait>x</a>"
        b"<form action='https://example.com/'><button id=send>x</button></form>"
    )
    file = tmp_path / "index.html"
    file.write_bytes(whole.replace(b"<main>", smuggled + b"<main>", 1))
    opened = Opened(browser, file)
    opened.page.locator("#bait").click()
    opened.page.locator("#send").click(no_wait_after=True)
    assert opened.page.evaluate("window.hacked") is None
    assert opened.page.url.startswith("file:")
    assert opened.page.locator("#results .row").count() == 6


def test_a_screen_reader_finds_its_way(opened: Opened) -> None:
    page = opened.page
    for role, name in (("region", "Values"), ("region", "Page"), ("searchbox", "Search values")):
        expect(page.get_by_role(role, name=name, exact=True)).to_be_visible()  # type: ignore[arg-type]
    opened.row("vat").click()
    expect(page.get_by_role("status")).to_have_text("vat: 2670, verified, page 1")
    expect(opened.row("vat")).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("img", name="Page 1 of the document")).to_be_visible()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select")].filter((n) =>
             !(n.textContent.trim() || n.getAttribute("aria-label") || n.labels?.length)).length"""
    )
    assert nameless == 0
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") in ("BUTTON", "INPUT", "SUMMARY")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(browser: Browser, tmp_path: Path, scheme: Any) -> None:
    file = tmp_path / "index.html"
    file.write_bytes(page_of(*invoice()))
    opened = Opened(browser, file, color_scheme=scheme)
    ratios = opened.page.evaluate(
        """() => {
          const level = (c) => { const [r, g, b] = c.match(/[0-9.]+/g).map(Number).map((v) => { v /= 255;
            return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const ground = (n) => { for (; n; n = n.parentElement) { const c = getComputedStyle(n).backgroundColor;
            if (!c.endsWith(", 0)")) return c; } return "rgb(255, 255, 255)"; };
          return [...document.querySelectorAll(".name, .value, .tag, .why, #verdict, h1, .reasons li, .search input")].map((n) => {
            const a = level(getComputedStyle(n).color), b = level(ground(n));
            return [n.className || n.tagName, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]; });
        }"""
    )
    # WCAG 2.2, 1.4.3: contrast of text.
    assert [r for r in ratios if r[1] < 4.5] == []


def test_narrow_and_print(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    file.write_bytes(page_of(*invoice()))
    opened = Opened(browser, file)
    opened.page.set_viewport_size({"width": 400, "height": 800})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 400
    expect(opened.page.locator("#results")).to_be_visible()
    expect(opened.page.locator("#image")).to_be_visible()
    # The browser's own, not one of ours with its name.
    assert "[native code]" in opened.page.evaluate("window.print.toString()")
    # null last: a function as the result would be called.
    opened.page.evaluate("window.printed = 0; window.print = () => { window.printed += 1; }; null")
    opened.page.get_by_role("button", name="Print", exact=True).click()
    opened.page.wait_for_function("() => window.printed")
    opened.page.emulate_media(media="print")
    expect(opened.page.locator("#filters")).to_be_hidden()
    expect(opened.page.locator("#paper figure")).to_have_count(2)
    assert opened.page.evaluate("window.printed") == 1
    assert opened.page.locator("#paper polygon").count() >= 3
    pdf = opened.page.pdf()
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 3


def test_only_the_pages_looked_at_are_decoded(browser: Browser, tmp_path: Path) -> None:
    document = printed(*([f"Value {n}.00"] for n in range(1, 121)))
    report = report_of(document, {f"v{n}": f"{n}.00" for n in range(1, 121)})
    file = tmp_path / "index.html"
    file.write_bytes(page_of(document, report))
    opened = Opened(browser, file)
    made = "() => performance.getEntriesByType('resource').filter((e) => e.name.startsWith('blob:')).length"
    assert opened.page.evaluate("pictures.size") == 1
    for _ in range(30):
        opened.page.keyboard.press("j")
    opened.shown()
    assert opened.page.evaluate("pictures.size") <= 6
    assert opened.page.evaluate(made) < 120
