"""How a password of a PDF may be spelled in bytes."""

import unicodedata

# PDFDocEncoding (ISO 32000-2, annex D.3) where it differs from Latin-1; handlers up to revision 4 ask for it.
_PDFDOC = {
    **{char: 0x18 + n for n, char in enumerate("˘ˇˆ˙˝˛˚˜")},
    **{char: 0x80 + n for n, char in enumerate("•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž")},
    "€": 0xA0,
}


def spellings(password: str) -> tuple[bytes, ...]:
    """UTF-8 (revisions 5 and 6), as it is and composed, and PDFDocEncoding if it can be spelled so."""
    composed = unicodedata.normalize("NFC", password)
    found = [password.encode(), unicodedata.normalize("NFKC", password).encode(), composed.encode()]
    codes = [_PDFDOC.get(char, ord(char)) for char in composed]
    if all(code < 256 for code in codes):
        found.append(bytes(codes))
    return tuple(dict.fromkeys(found))
