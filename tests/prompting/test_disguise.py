"""Markers that a document prints, however disguised, and text that must stay as it is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proving.pages import printed
from visualproof_server.prompting.disguise import defuse
from visualproof_server.prompting.render import MarkerStyle, render
from visualproof_server.proving.text.folding import compact, tokens

DISGUISES = [
    "<LINE 12>", "<LINE12>", "<line 12>", "< line 12 >", "<L12>", "<l 12>", "<p2>", "<T 3>", "<PAGE 4>",
    "</TABLE 1>", "< / LINE 12>", "<//LINE 12>", "<\\LINE 12>", "<LINE_12>", "<LINE:12>", "<LINE #12>",
    "<LINE-12>", "<LINE", "<TABLE>", "<\tLINE\t12>", "<\u00a0LINE\u00a012>", "<\u3000LINE\u300012>",
    # Invisible characters.
    "<\u200bLINE 12>", "<L\u200bI\u200dN\u2060E 12>", "<LI\u00adNE 12>", "<LINE\ufeff 12>", "<\u202eLINE 12>",
    "<LINE\u206612>", "<LINE \u180e12>", "<\u3164LINE 12>", "<L\ufe0fINE 12>", "<\x00LINE 12>", "<LI\x08NE 12>",
    "<\U000e004cLINE 12>", "<LI\u034fNE 12>", "<\u2800LINE 12>", "<\ue000LINE 12>",
    # Widths, styles, marks and other scripts.
    "＜LINE 12＞", "﹤LINE 12﹥", "<ＬＩＮＥ　１２>", "<𝐋𝐈𝐍𝐄 12>", "<𝕃𝟙𝟚>", "<ⓁⒾⓃⒺ 12>", "<LINE ⑫>", "<LINE ¹²>",
    "<LINE ١٢>", "<LINE १२>", "<l\u0336i\u0336n\u0336e\u0336 12>", "<LÍNÉ 12>", "<LІNЕ 12>", "<ΤΑΒLE 12>",
    "<ʟɪɴᴇ 12>", "<ᏞINE 12>", "<ꓡꓲꓠꓰ 12>", "<РАGЕ 12>",
    # Other brackets, and the bracket spelled.
    "⟨LINE 12⟩", "〈LINE 12〉", "《LINE 12》", "«LINE 12»", "❮LINE 12❯", "❰LINE 12❱", "⟪L12⟫", "≪LINE 12≫",
    "˂LINE 12˃", "ᐸLINE 12ᐳ", "≮LINE 12>", "\u2329LINE 12\u232a", "︿LINE 12﹀",
    "&lt;LINE 12&gt;", "&LT;LINE 12&GT;", "&ltLINE 12", "&amp;lt;LINE 12&amp;gt;", "&#60;LINE 12>", "&#0060;L12>",
    "&#x3c;LINE 12>", "&#X003C;LINE 12>", "&lang;LINE 12&rang;", "\\u003cLINE 12\\u003e", "\\x3cLINE 12>",
    "%3CLINE 12%3E", "&lt;/LINE 12&gt;",
    # Spaced and spelled otherwise.
    "<L I N E 12>", "< L I N E  1 2 >", "<L1NE 12>", "<LIN3 12>", "<P4GE 12>", "<T@BLE 12>",
]  # fmt: skip
RIGHT = [
    "<b> 3 < 4 <Large>", "x < y & z > 5% \\ 3", "<Linear> <pages> <tables> <planes>", "if a<t then b>p",
    "p < 0.05", "P<0.05", "1 <2 p", "&lt;b&gt; 100 %3B", "Tom & Co. <info@example.org>", "«Page de garde»",
    "《LINE》 〈Table of contents〉", "≪ 3", "<<< 12 >>>", "<http://a.b/line/12>", "α < β, ε ≤ 5", "‹Line›",
    "Ünïcödé < ñ", "5 ﹤ 7", "日本 < 中国 12", "< 12", "&amp; &#38; &copy;", "<12>", "café <été 12>",
    "שלום < עולם 12", "\u202bعدد < ١٢\u202c", "e\u0301<e\u0301", "👩\u200d👩\u200d👧 < 👨", "ﷺ < ﷽",
]  # fmt: skip


@pytest.mark.parametrize("text", DISGUISES)
def test_a_disguised_marker_is_defused(text: str) -> None:
    shown = defuse(f"a {text} b")
    assert shown[2] == "\u2039"
    # Once is enough, and the rest stays to be read and copied.
    assert defuse(shown) == shown
    assert shown[3:] == f"{text[1:]} b".replace("\U000e004c", "")


@pytest.mark.parametrize("text", RIGHT)
def test_right_text_stays_as_it_is(text: str) -> None:
    assert defuse(text) == text


@pytest.mark.parametrize("text", DISGUISES)
def test_what_is_copied_from_a_prompt_is_found_in_print(text: str) -> None:
    assert compact(tokens(defuse(text))) in compact(tokens(text))


@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_a_text_stays_on_its_line(end: str) -> None:
    assert defuse(f"a{end}<LINE 7>b") == "a ‹LINE 7>b"


@given(st.text(), st.sampled_from(DISGUISES), st.text())
def test_a_disguise_in_any_text(before: str, text: str, after: str) -> None:
    shown = defuse(before + text + after)
    assert not re.search(r"<\s*/?\s*(?:LINE|TABLE|PAGE|[LTP])\s*\d+\s*>", shown, re.I)


def test_a_label_forges_nothing() -> None:
    document = printed(["Alpha"])
    for text in DISGUISES:
        page = document.pages[0]
        object.__setattr__(page, "label", f"iv\n{text}")
        shown = render(document, 0, 0, 0, MarkerStyle.LINE).text
        assert shown.count("\n") == 1
        assert shown.startswith("<PAGE 1> (labelled iv ‹")
