"""Texts that make patterns try again: each is one piece, said over and over."""

# Unclosed quotes and escapes, brackets, addresses, digits and their marks, marks on letters, what turns
# the direction, words that numbers, dates and captions hang on.
PIECES = [
    '"', '\\"', "\\", "[", "{", '{"a":', '{"value":', "]", "<", "< ", "</", "<L I N ", "&lt;", "&#0", "&amp;",
    "a.", "a@", "@", "@.", "a@b.", "a-", "a_", "a/", "a/*", "~1", "http://", "www.", "'a ", "'", "a", "A ", "AB", "-",
    "1", "1 ", "1,", "1.", "1'", "1-", "1:", "1/", "1;", "1|", "[1]", "(1", "()", "(", "100 000 ", "000 ", "0",
    "12:", "1/1/", "2026-01-01 ", "1.1.", "1:30 ", "jan ", "March 1 ", "1st ", "1e", "1a", "x1 ", "No.1", "l1O0 ",
    "€1 ", "€", "$ ", "1EUR", "EUR1", "CHF ", "Mio. ", "1% ", "% ", "1 kg ", "kg", "kg/", "m²·", "1m²/", "1h ", "30 min ",
    "½", "3½", "²", "1×", "* ", "**", "+1 ", "+49 ", "(0)", "DE89 ", "=1+", "<1 ", "≤", "±", "between 1 and ", "1 to ",
    "1 of ", "one hundred ", "million ", "twenty-", "one", "zero ", "XIV ", "十", "億", "Ⅷ", "١", "१२ ", "中", "א",
    "e\u0301", "\u0301", "\u0301\u0323", "\u0345\u0301\u0323", "\u202e", "\u200b", "\u00ad", "\u00a0", "ﷺ", "\t", "1\t", "\n",
    "not ", "no ", "and ", "the ", "yes ", "x [ ] ", "☐ ", "☒ yes ", "Total ", "total: ", ". ", "a. ", "..", "--", " ,", "|", "#",
]  # fmt: skip


def text_of(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]
