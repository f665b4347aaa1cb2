"""Reads a model's answer: strict JSON in, claims out."""

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

from visualproof_server.model.answer import Claim, Proof
from visualproof_server.model.errors import VisualProofError

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 32
MAX_FIELDS = 5_000
MAX_PROOFS = 20
MAX_NUMBER_CHARS = 64
MAX_EXPONENT = 30
MAX_TEXT = 20_000
MAX_PATH = 2_000
# Longer ones are cut, and then too long for relations.derive.
MAX_DERIVATION = 1_000
_FIELD_KEYS = {"value", "proof", "derivation"}
# A text that is not closed goes on to the end, once: nothing is tried again from its middle.
_NESTING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|([\[{])|([\]}])', re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Number:
    """A JSON number as it is spelled."""

    text: str


def _not_json(message: str) -> NoReturn:
    raise VisualProofError("ANSWER_NOT_JSON", message)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            _not_json("The answer repeats a key; each key may stand once in an object.")
        out[key] = value
    return out


def _constant(_: str) -> NoReturn:
    _not_json("The answer holds NaN or Infinity; those are no JSON numbers.")


def parse_answer(data: bytes) -> list[Claim]:
    """Claims in the answer's order; errors ANSWER_NOT_JSON, ANSWER_TOO_LARGE.

    An object with a `value` key (and no keys but value, proof, derivation) is a field; anything
    else nests, and a plain leaf is a field without proof.
    """
    if len(data) > MAX_BYTES:
        raise VisualProofError("ANSWER_TOO_LARGE", f"At most {MAX_BYTES} bytes of answer are read.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        _not_json("The answer is not UTF-8.")
    depth = 0
    for match in _NESTING.finditer(text):
        depth += (match.group(1) is not None) - (match.group(2) is not None)
        if depth > MAX_DEPTH:
            raise VisualProofError("ANSWER_TOO_LARGE", f"At most {MAX_DEPTH} levels are read.")
    try:
        root = json.loads(
            text,
            object_pairs_hook=_pairs,
            parse_constant=_constant,
            parse_int=_Number,
            parse_float=_Number,
        )
    except (json.JSONDecodeError, RecursionError):
        _not_json("The answer is not one JSON value.")
    claims: list[Claim] = []
    _collect(root, "", claims)
    return claims


def _collect(node: Any, path: str, claims: list[Claim]) -> None:
    if isinstance(node, dict):
        if "value" in node and set(node) <= _FIELD_KEYS:
            _field(node, path, claims)
            return
        for key, child in node.items():
            _collect(child, f"{path}/{_step(key)}", claims)
    elif isinstance(node, list):
        for index, child in enumerate(node):
            _collect(child, f"{path}/{index}", claims)
    else:
        _add(claims, _claim(path, node))


def _step(key: str) -> str:
    """A key as a step of a path, which is said again for all that it holds."""
    if len(key) > MAX_PATH:
        _long_path()
    return escape(_sound(key))


def _long_path() -> NoReturn:
    raise VisualProofError("ANSWER_TOO_LARGE", f"Paths of up to {MAX_PATH} characters are read.")


def _add(claims: list[Claim], claim: Claim) -> None:
    if len(claim.path) > MAX_PATH:
        _long_path()
    if len(claims) >= MAX_FIELDS:
        raise VisualProofError("ANSWER_TOO_LARGE", f"At most {MAX_FIELDS} fields are proven.")
    claims.append(claim)


def _field(node: dict[str, Any], path: str, claims: list[Claim]) -> None:
    raw = node.get("proof")
    items = raw if isinstance(raw, list) else [] if raw is None else [raw]
    parsed = [_proof(item) for item in items[:MAX_PROOFS]]
    proofs = tuple(p for p in parsed if p is not None)
    malformed = len(items) - len(proofs)
    derivation = node.get("derivation")
    value = node["value"]
    if isinstance(value, list) and value and not any(isinstance(v, dict | list) for v in value):
        # A list under one proof: each item is a claim with the same proofs.
        for index, item in enumerate(value):
            _add(claims, _claim(f"{path}/{index}", item, proofs, malformed))
        return
    text = derivation if isinstance(derivation, str) else ""
    _add(claims, _claim(path, value, proofs, malformed, text[:MAX_DERIVATION]))


def _claim(
    path: str,
    value: Any,
    proofs: tuple[Proof, ...] = (),
    malformed: int = 0,
    derivation: str = "",
) -> Claim:
    if isinstance(value, _Number):
        return Claim(path, _decimal(value.text), value.text, proofs, malformed, derivation)
    if isinstance(value, str):
        spelled = json.dumps(_sound(value), ensure_ascii=False)
        return Claim(path, value, spelled, proofs, malformed, derivation)
    if value is None or isinstance(value, bool):
        return Claim(path, value, json.dumps(value), proofs, malformed, derivation)
    return Claim(path, None, json.dumps(None), proofs, malformed, derivation, comparable=False)


def _decimal(text: str) -> Decimal:
    mantissa, _, exponent = text.lower().partition("e")
    if (
        len(text) > MAX_NUMBER_CHARS
        or len(exponent) > 4
        or abs(int(exponent or "0")) > MAX_EXPONENT
    ):
        raise VisualProofError(
            "ANSWER_TOO_LARGE",
            f"Numbers of up to {MAX_NUMBER_CHARS} characters, exponent {MAX_EXPONENT}, are read.",
        )
    return Decimal(mantissa).scaleb(int(exponent or "0"))


def _sound(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise VisualProofError(
            "ANSWER_TOO_LARGE", f"Texts of up to {MAX_TEXT} characters are read."
        )
    if any("\ud800" <= c <= "\udfff" for c in text):
        _not_json("The answer holds half of a surrogate pair.")
    return text


def escape(key: str) -> str:
    """A key as a JSON Pointer reference token (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _proof(item: Any) -> Proof | None:
    """A proof, or None when it has not the shape of any form."""
    if not isinstance(item, dict):
        return None
    form = item.get("type")
    text = _text(item.get("value", item.get("text")))
    if form == "WORD":
        line = _int(item.get("line", item.get("id")))
        return Proof("WORD", id=line, text=text) if line is not None else None
    if form in ("LINE", "TABLE"):
        number = _int(item.get("id", item.get(form.lower())))
        return Proof(form, id=number) if number is not None else None
    if form == "QUOTE":
        quote = _text(item.get("text", item.get("value")))
        if not quote or not quote.strip() or _bad_int(item, "page"):
            return None
        return Proof("QUOTE", text=quote, page=_int(item.get("page")))
    if form == "CELL":
        table, row, column = (_int(item.get(k)) for k in ("table", "row", "column"))
        if table is None or (text is None and (row is None or column is None)):
            return None
        return Proof("CELL", id=table, row=row, column=column, text=text)
    if form == "REGION":
        return _region(item)
    return None


def _region(item: dict[str, Any]) -> Proof | None:
    page, box = _int(item.get("page")), item.get("box")
    if page is None or not isinstance(box, list) or len(box) != 4:
        return None
    if not all(isinstance(v, _Number) and len(v.text) <= MAX_NUMBER_CHARS for v in box):
        return None
    left, top, width, height = (float(v.text) for v in box)
    if not (0 <= left <= 1 and 0 <= top <= 1 and 0 < width <= 1 and 0 < height <= 1):
        return None
    return Proof("REGION", page=page, box=(left, top, width, height))


def _bad_int(item: dict[str, Any], key: str) -> bool:
    return item.get(key) is not None and _int(item[key]) is None


def _int(value: Any) -> int | None:
    if isinstance(value, _Number) and re.fullmatch(r"\d{1,9}", value.text):
        return int(value.text)
    return None


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return _sound(value)
    if isinstance(value, _Number):
        return value.text[:MAX_NUMBER_CHARS]
    return None
