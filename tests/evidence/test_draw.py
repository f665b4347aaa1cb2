"""Marked pages and crops, by what their pixels hold."""

import io
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from proving.claims import report_of
from proving.pages import printed
from visualproof_server.evidence import fonts
from visualproof_server.evidence.draw import Picture, encode_page, pictures, tag_text
from visualproof_server.evidence.presentation import COLOURS, ON_DARK, Colour
from visualproof_server.model.document import Document
from visualproof_server.model.drawing import DrawRequest
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.geometry import Box
from visualproof_server.model.report import Action, Report, Status

from evidence.made import grey, invoice, turned

GOLDEN = Path(__file__).parent / "golden"
UPDATE = bool(os.environ.get("VISUALPROOF_UPDATE_GOLDEN"))


def pixels(picture: Picture) -> NDArray[Any]:
    return np.asarray(Image.open(io.BytesIO(picture.data)).convert("RGB")).astype(int)


def drawn(
    document: Document, report: Report, image_of: Callable[[int], NDArray[Any]] | None = None,
    **request: Any,
) -> list[Picture]:  # fmt: skip
    wanted = DrawRequest(media="image/png", **request)
    return list(pictures(document, report, wanted, image_of or grey(document)))


def of_colour(image: NDArray[Any], colour: Colour) -> NDArray[Any]:
    return np.asarray(np.abs(image - colour).max(2) < 12)


def around(image: NDArray[Any], box: Box, air: int = 9) -> NDArray[Any]:
    return image[max(0, box.top - air) : box.bottom + air, max(0, box.left - air) : box.right + air]


def test_each_action_has_its_colour_at_its_words() -> None:
    document, report = invoice()
    first, _ = (pixels(p) for p in drawn(document, report))
    for result in report.results:
        for evidence in result.evidence:
            if evidence.page == 1:
                ring = around(first, evidence.boxes[0])
                assert of_colour(ring, COLOURS[result.action]).any(), result.path


def test_nothing_covers_words() -> None:
    """Frames, tags and their margins leave every word of the page as it is."""
    document, _ = invoice()
    for slope in (0.0, 0.03):
        tilted = turned(document, slope)
        marked = pixels(drawn(tilted, report_of(tilted, {"a": "16,020.00", "b": "30"}))[0])
        plain = grey(tilted)(1)
        for word in tilted.pages[0].words:
            b = word.box
            inside = slice(b.top, b.bottom), slice(b.left, b.right)
            # Outlines are whole pixels, so a tilted one may be off by one.
            ink = cv2.erode((plain[inside] == 0).astype(np.uint8), np.ones((3, 3))) > 0
            assert ink.sum() > 100
            assert not marked[inside][ink].any(), word.text


def test_tags_never_cover_words_on_a_full_page() -> None:
    """Where there is no room, the page is widened; frames may touch only what they frame."""
    lines = [" ".join(f"w{row}x{n} {row}{n}.00" for n in range(7)) for row in range(44)]
    document = printed(lines)
    answer = {f"field with a long name {n}": f"{n}1.00" for n in range(1, 12)}
    report = report_of(document, answer)
    (picture,) = drawn(document, report)
    marked, plain = pixels(picture), grey(document)(1)
    assert picture.width > plain.shape[1]
    for word in document.pages[0].words:
        b = word.box
        assert not marked[b.top : b.bottom, b.left : b.right].any(), word.text


def test_styles_tell_actions_apart_without_colour() -> None:
    """Solid, dashed and double: counted along the upper edge and down through it."""
    document = printed(["Total 5.00"])
    report = report_of(document, {"a": "5.00"})
    gaps: dict[Action, tuple[int, int]] = {}
    for action in Action:
        result = replace(report.results[0], action=action)
        image = pixels(drawn(document, replace(report, results=(result,)))[0])
        box = report.results[0].evidence[0].boxes[0]
        colour = of_colour(image, COLOURS[action])
        edge = colour[box.top - 2, box.left : box.right]
        gaps[action] = (
            int((np.diff(edge.astype(int)) != 0).sum()),
            int((np.diff(colour[box.top - 9 : box.top + 1, box.left + 5].astype(int)) == 1).sum()),
        )
    assert gaps[Action.RELEASE] == (0, 1)
    assert gaps[Action.REVIEW][0] > 2
    assert gaps[Action.BLOCK] == (0, 2)


def test_frames_are_seen_on_dark_ground() -> None:
    document = printed(["Total 5.00"])
    report = report_of(document, {"a": "5.00"})
    image = pixels(drawn(document, report, grey(document, ground=20, ink=230))[0])
    box = report.results[0].evidence[0].boxes[0]
    assert of_colour(image, ON_DARK[Action.RELEASE])[box.top - 2, box.left : box.right].all()


@pytest.mark.parametrize(
    "text", ["Größe", "сумма", "合計金額", "المجموع", "סכום", "कुल", "รวม", "합계", "📄", "ꙮ"]
)
def test_any_script_is_drawn(text: str) -> None:
    """Not as empty boxes: another character of the script looks otherwise."""
    document = printed(["Total 5.00"])
    report = report_of(document, {"x": "5.00"})

    def tag_of(name: str) -> NDArray[Any]:
        result = replace(report.results[0], path=f"/{name}")
        return pixels(drawn(document, replace(report, results=(result,)))[0])

    other = tag_of("\U000f0000" * len(text))
    assert fonts.width(text, 14) > 0
    assert np.abs(tag_of(text) - other).sum() > 0
    known = dict(fonts._known())
    assert all(ord(c) in known[file] for file, part in fonts._parts(text) for c in part)


def test_crops_hold_the_words_and_lines_around() -> None:
    document, report = invoice()
    one = drawn(document, report, crops=True, path="/vat", context_lines=1)
    more = drawn(document, report, crops=True, path="/vat", context_lines=3)
    assert [p.path for p in one] == ["/vat"]
    assert one[0].height < more[0].height
    assert of_colour(pixels(one[0]), COLOURS[Action.RELEASE]).any()
    everything = drawn(document, report, crops=True)
    assert [p.path for p in everything] == [r.path for r in report.results if r.evidence]


def test_sizes_and_formats() -> None:
    document, report = invoice()
    for media in ("image/png", "image/jpeg", "image/webp"):
        request = DrawRequest(pages=(1,), side=700, media=media)
        (picture,) = pictures(document, report, request, grey(document))
        assert max(picture.width, picture.height) <= 760
        with Image.open(io.BytesIO(picture.data)) as image:
            assert (Image.MIME[image.format or ""], image.size) == (
                media,
                (picture.width, picture.height),
            )
        plain = encode_page(grey(document)(1), 1, 700, media)
        assert plain.height == 700
    with pytest.raises(VisualProofError, match="PAGE_OUT_OF_RANGE"):
        drawn(document, report, pages=(9,))


def test_a_tag_says_what_differs() -> None:
    _, report = invoice()
    by_path = {r.path: tag_text(r) for r in report.results}
    assert by_path["/total"] == "total: 16200 ≠ 16,020.00"
    assert (by_path["/vat"], by_path["/term"]) == ("vat", "term: ambiguous")
    long = replace(report.results[0], path="/" + "x" * 200, status=Status.MISMATCH)
    assert len(tag_text(long)) == 60


def test_pages_look_as_they_did() -> None:
    """Golden pictures: rewrite them with VISUALPROOF_UPDATE_GOLDEN=1, and look at them."""
    document, report = invoice()
    GOLDEN.mkdir(exist_ok=True)
    for slope, name in ((0.0, "upright"), (0.02, "tilted")):
        tilted = turned(document, slope) if slope else document
        proven = report_of(tilted, {"vendor": "Northgate Kitchen Supply Ltd"}) if slope else report
        made = pixels(drawn(tilted, proven, side=700)[0])[:340]
        file = GOLDEN / f"{name}.png"
        if UPDATE:
            Image.fromarray(made.astype(np.uint8)).save(file, optimize=True)
        kept = np.asarray(Image.open(file).convert("RGB")).astype(int)
        assert kept.shape == made.shape
        # Fonts differ by a hair between versions; frames do not move.
        assert (np.abs(kept - made).max(2) > 40).mean() < 0.002


def test_golden_pictures_are_not_being_rewritten() -> None:
    assert not UPDATE
