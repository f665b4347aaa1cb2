"""Nulls: a value that is not there, where everything was read and its captions say so."""

from dataclasses import replace

from visualproof_server.model.report import REASONS, FieldSpec, Reason, Status
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.decide.sought import Page
from visualproof_server.proving.kinds.kind import ValueKind
from visualproof_server.proving.places.caption_phrases import Tier
from visualproof_server.proving.places.captions import Labelled, best, has_context
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.marks import mark_before
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.vocabulary.words import vocabulary

# Warnings of a page under which something may be printed that was not read.
NOT_WHOLE = frozenset({"XFA_FORM", "PAGE_DAMAGED"})


def null_finding(spec: FieldSpec, kind: ValueKind, page: Page) -> Finding:
    """ABSENT where the field's captions are not printed, or printed blank, and all pages were read."""
    required = (Reason("REQUIRED", REASONS["REQUIRED"]),) if spec.required else ()
    if not has_context(spec):
        note = Reason("NO_LABEL", "A null without labels cannot be checked; give labels.")
        status = Status.ABSENT if spec.required else Status.UNCERTAIN
        return Finding(status=status, reasons=(*required, note))
    unread = _unread(page.index)
    if unread is not None:
        return Finding(status=Status.UNCERTAIN, reasons=(unread, *required))
    places = _places(spec, kind, page)
    printed = [p for p in places if not is_blank(p.words, page.index)]
    if printed:
        found = _printed(printed[0], page.index)
        if spec.column_label and not spec.row_label:
            # The column has values; which is the item's row is not told.
            return replace(found, status=Status.UNCERTAIN)
        return found
    said = "printed without a value" if places else "not printed"
    note = Reason("SEARCHED", f"Searched for {len(spec.labels)} label(s), {said}.")
    return Finding(status=Status.ABSENT, reasons=(*required, note))


def _places(spec: FieldSpec, kind: ValueKind, page: Page) -> list[Labelled]:
    """What stands at the field's captions, its marks for a boolean."""
    if spec.row_label and spec.column_label:
        return page.captions.labelled(spec, kind)
    labels = (*spec.labels, spec.row_label, spec.column_label)
    captions = page.captions.of(labels, kind.is_text)
    places = []
    for caption in captions:
        mark = mark_before(caption.run, page.index) if kind.name == "boolean" else None
        if mark is not None and mark[0]:
            places.append(Labelled(caption.run, "left", (mark[1],), mark[1].words, caption.tier))
            continue
        places.append(page.captions.place(caption, spec, kind))
    whole = [p for p in places if p.tier < Tier.PART]
    if whole and all(not p.words for p in whole):
        return whole
    return best(whole or [p for p in places if p.values])


def is_blank(words: tuple[int, ...], index: Index) -> bool:
    """Whether what stands at a caption says that nothing does: a dash, N/A, nil, a line to fill in."""
    text = " ".join(index.words[w].text for w in words)
    folded = fold_text(text).strip(" .:;()[]")
    if not folded or not any(c.isalnum() for c in folded.replace("_", "")):
        return not any(c in "✓✔☑☒✗✘" for c in text)
    known = vocabulary().phrases("blank")
    return tuple(folded.split()) in known or tuple(folded.strip(".").split()) in known


def _printed(place: Labelled, index: Index) -> Finding:
    note = Reason("LABEL_HAS_VALUE", "The answer says null, but its label has a value.")
    if place.values and place.tier < Tier.PART:
        value = place.values[0]
        return Finding(
            status=Status.MISMATCH, reasons=(note,), places=(value,), printed=value.text, exact=True
        )
    text = " ".join(index.words[w].text for w in place.words)
    if place.tier is Tier.PART:
        note = Reason("CAPTION_DIFFERS", REASONS["CAPTION_DIFFERS"])
    return Finding(
        status=Status.UNCERTAIN,
        reasons=(note,),
        places=(Run(place.words, text),),
        printed=text,
        exact=True,
    )


def _unread(index: Index) -> Reason | None:
    """Why something may be printed that was not read."""
    for page in index.document.pages:
        if page.failure is not None:
            return Reason("PAGE_NOT_READ", f"Page {page.number} was not read.")
        for warning in page.warnings:
            if warning.code in NOT_WHOLE:
                code = warning.code if warning.code in REASONS else "PAGE_NOT_READ"
                return Reason(code, f"Page {page.number}: {warning.message}")
    if index.unclear_page is not None:
        return Reason("PAGE_UNCLEAR", REASONS["PAGE_UNCLEAR"])
    return None
