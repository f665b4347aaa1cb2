"""Where tables may be: rules that cross, rules that stand over each other, aligned words."""

from dataclasses import replace

from visualproof_server.reading.engine import EngineWord
from visualproof_server.reading.tables.grid import Area, Grid, Joined, place
from visualproof_server.reading.tables.rules import Rule, Rules
from visualproof_server.reading.tables.text import Phrase, TextLine, text_lines

# Lines that are no rows of their own (headings, wrapped text) which may stand between two rows.
MAX_BETWEEN = 2
MIN_ROWS = 3
# Width of a table between level rules, in text heights.
MIN_STACK = 10.0
# Share of rows that a label stands beside, outside of the rules.
MIN_LABELLED = 0.6
# Height of a head over a table, in text heights.
MAX_HEAD = 10.0
# Share of the columns that a head over a table must name.
MIN_NAMED = 0.6
# Space between a table and the names of its columns over it, in text heights.
HEAD_SPACE = 2.0
# Space between two rows, in text heights.
MAX_SPACE = 5.0


def closed_areas(rules: Rules, height: float) -> list[Area]:
    """Areas of level and upright rules that touch each other, with some inside."""
    return [
        _around(hs, vs)
        for hs, vs in _groups(rules, height)
        if len(hs) >= 2 and vs and not _is_frame(hs, vs, height)
    ]


def stacked_areas(
    rules: Rules, closed: list[Area], words: list[EngineWord], height: float
) -> list[Area]:
    """Areas between level rules with the same ends and rows of words between them, outside of
    those that are closed."""
    level = [
        h
        for h in rules.level
        if not any(a.top - 1 <= h.at <= a.bottom + 1 and h.covers(a.left, a.right) for a in closed)
    ]
    return [_widened(a, words, height) for a in _stacks(level, closed, words, height)]


def _widened(area: Area, words: list[EngineWord], height: float) -> Area:
    """An area with the labels left of it: rules often run over the columns of values only."""
    outside = [
        w for w in words if w.right < area.left and area.top < (w.top + w.bottom) / 2 < area.bottom
    ]
    rows = text_lines([w for w in words if area.holds(w)])
    labels = []
    for line in text_lines(outside):
        last = line.phrases(1.3 * height)[-1]
        if not _is_prose(last) and any(abs(last.middle - r.middle) < 0.2 * height for r in rows):
            labels.append(last)
    if not labels or len(labels) < MIN_LABELLED * len(rows):
        return area
    return Area(min(p.left for p in labels) - 2, area.top, area.right, area.bottom)


def with_head(grid: Grid, words: list[EngineWord], height: float) -> Area | None:
    """The area of a table and of the names of its columns, printed over it; None without them."""
    area = grid.area
    over = [
        w
        for w in words
        if area.top - MAX_HEAD * height < w.bottom
        and (w.top + w.bottom) / 2 < area.top
        and area.left - height < (w.left + w.right) / 2 < area.right + height
    ]
    top = edge = area.top
    named: set[int] = set()
    for line in reversed(text_lines(over)):
        names = line.phrases(1.3 * height)
        if edge - line.bottom > HEAD_SPACE * height or any(
            _is_prose(p) or p.is_number for p in names
        ):
            break
        if len(names) == 1 and place(names[0].left, grid.xs) < place(names[0].right, grid.xs):
            # Over names of columns and not over the first, it heads some; else it is a caption.
            if top == area.top or place(names[0].left, grid.xs) == 0:
                break
            top = line.top - 1
        edge = line.top
        for p in names:
            named |= set(range(place(p.left, grid.xs), place(p.right, grid.xs) + 1))
        if len(names) > 1 and len(named) >= max(2, MIN_NAMED * grid.columns):
            top = edge - 1
    return replace(area, top=top) if top < area.top else None


def _groups(rules: Rules, height: float) -> list[tuple[list[Rule], list[Rule]]]:
    """Level and upright rules that touch; rules of a table end where it ends, folds run on."""
    out = []
    for hs, vs in _touching(list(rules.level), list(rules.upright), 0.6 * height):
        top, bottom = min([r.at for r in hs], default=0), max([r.at for r in hs], default=0)
        reach = 2 * height
        inner = [v for v in vs if v.start > top - reach and v.end < bottom + reach]
        out.append((hs, inner))
    return out


def _touching(
    level: list[Rule], upright: list[Rule], reach: float
) -> list[tuple[list[Rule], list[Rule]]]:
    """Rules that cross or touch, as groups of level and upright ones."""
    total = len(level) + len(upright)
    joined = Joined(range(total))
    for i, h in enumerate(level):
        for j, v in enumerate(upright):
            if h.start - reach <= v.at <= h.end + reach:
                if v.start - reach <= h.at <= v.end + reach:
                    joined.join(i, len(level) + j)
    return [
        (
            [level[i] for i in group if i < len(level)],
            [upright[i - len(level)] for i in group if i >= len(level)],
        )
        for group in joined.groups()
    ]


def _around(hs: list[Rule], vs: list[Rule]) -> Area:
    return Area(
        min([r.start for r in hs] + [r.at for r in vs]),
        min([r.at for r in hs] + [r.start for r in vs]),
        max([r.end for r in hs] + [r.at for r in vs]),
        max([r.at for r in hs] + [r.end for r in vs]),
    )


def _is_frame(hs: list[Rule], vs: list[Rule], height: float) -> bool:
    """Four sides around something, and nothing ruled inside."""
    area = _around(hs, vs)
    parted = [v for v in vs if area.left + height < v.at < area.right - height]
    rows = [
        h
        for h in hs
        if area.top + height < h.at < area.bottom - height and h.covers(area.left, area.right) > 0.5
    ]
    return not parted and not rows


def _stacks(
    level: list[Rule], taken: list[Area], words: list[EngineWord], height: float
) -> list[Area]:
    ordered = sorted(level, key=lambda r: r.at)
    below: dict[int, int] = {}
    for a, upper in enumerate(ordered):
        for b in range(a + 1, len(ordered)):
            if _alike(upper, ordered[b], height):
                if _are_rows(upper, ordered[b], words, height):
                    below[a] = b
                break
    areas = []
    starts = [a for a in below if a not in below.values()]
    for a in starts:
        chain = [ordered[a]]
        while a in below:
            a = below[a]
            chain.append(ordered[a])
        area = _around(chain, [])
        if (
            area.height > height
            and area.width > MIN_STACK * height
            and not any(area.overlaps(t) for t in taken)
        ):
            areas.append(area)
    return areas


def _are_rows(upper: Rule, lower: Rule, words: list[EngineWord], height: float) -> bool:
    """Whether most lines between two rules are parted into columns."""
    left, right = min(upper.start, lower.start), max(upper.end, lower.end)
    inside = [
        w
        for w in words
        if upper.at < (w.top + w.bottom) / 2 < lower.at and left <= (w.left + w.right) / 2 <= right
    ]
    if not inside:
        return lower.at - upper.at < 2 * height
    lines = text_lines(inside)
    parted = sum(len(line.phrases(1.2 * height)) >= 2 for line in lines)
    return parted >= 0.5 * len(lines)


def _alike(a: Rule, b: Rule, height: float) -> bool:
    """Whether two level rules have the same ends, more or less."""
    return abs(a.start - b.start) < 1.5 * height and abs(a.end - b.end) < 1.5 * height


def aligned_areas(words: list[EngineWord], height: float) -> list[Area]:
    """Areas of consecutive lines that are parted in three or more, with values among them."""
    lines = text_lines(words)
    parted = [line.phrases(1.3 * height) for line in lines]
    areas: list[Area] = []
    group: list[int] = []
    for number, phrases in enumerate(parted):
        if _is_row(phrases):
            group.append(number)
            continue
        if group and (
            number - group[-1] > MAX_BETWEEN or not _follows(lines, group[-1], number, height)
        ):
            areas += _area_of(group, lines)
            group = []
    return areas + _area_of(group, lines)


def _is_row(phrases: list[Phrase]) -> bool:
    values = sum(p.is_value for p in phrases)
    return len(phrases) >= 3 and values >= 1 and not any(_is_prose(p) for p in phrases[1:])


def _is_prose(phrase: Phrase) -> bool:
    return sum(w.text.strip(".,;:()").isalpha() for w in phrase.words) >= 6


def _follows(lines: list[TextLine], above: int, below: int, height: float) -> bool:
    return lines[below].top - lines[above].bottom < MAX_SPACE * height


def _area_of(group: list[int], lines: list[TextLine]) -> list[Area]:
    if len(group) < MIN_ROWS:
        return []
    left = min(lines[n].words[0].left for n in group)
    right = max(w.right for n in group for w in lines[n].words)
    members = range(group[0], group[-1] + 1)
    return [
        Area(
            left - 2,
            min(lines[n].top for n in members) - 1,
            right + 2,
            max(lines[n].bottom for n in members) + 1,
        )
    ]
