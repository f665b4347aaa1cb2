// ---- decisions ----
const decisions = new Map(); // path -> {decision, value, time}
const STORE = `visualproof ${data.report_sha256}`;
let unsaved = false;

function restore() {
  // A browser may keep nothing for local files; then decisions last as long as the tab.
  try {
    for (const d of JSON.parse(localStorage.getItem(STORE) || "[]")) decisions.set(d.path, d);
  } catch { /* nothing kept */ }
}

function decisionText(r) {
  const d = decisions.get(r.path);
  return d ? { accept: "accepted", reject: "rejected", correct: `corrected: ${d.value}` }[d.decision] : "";
}

function decide(i, decision, value = null) {
  const r = results[i], before = decisions.get(r.path);
  if (before && before.decision === decision && before.value === value) decisions.delete(r.path);
  else decisions.set(r.path, { path: r.path, decision, value, extracted: r.value, printed: r.printed, status: r.status, decided_at: new Date().toISOString() });
  unsaved = decisions.size > 0;
  try { localStorage.setItem(STORE, JSON.stringify([...decisions.values()])); } catch { /* as above */ }
  if (rows[i]) {
    rows[i].querySelector(".mine").textContent = decisionText(r);
    mark(i);
  }
  $("live").textContent = `${nameOf(r)}: ${decisionText(r) || "not decided"}`;
  counts();
}

function decideBox(i) {
  const r = results[i], now = decisions.get(r.path);
  const box = make("div", { className: "decide", role: "group", "aria-label": "Decision" });
  const button = (decision, text, key, act) => make("button", {
    type: "button", "aria-pressed": String(now?.decision === decision), onclick: act, title: `key ${key}` }, text);
  const input = make("input", { type: "text", value: now?.value ?? (r.printed || saidOf(r)), "aria-label": "Correct value", hidden: now?.decision !== "correct" });
  const correct = () => { if (input.hidden) { input.hidden = false; input.focus(); input.select(); } else if (input.value) decide(i, "correct", input.value); };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter" && input.value) { decide(i, "correct", input.value); rows[i]?.firstChild.focus(); }
    if (event.key === "Escape") { input.hidden = true; rows[i]?.firstChild.focus(); }
  });
  box.append(button("accept", "Accept", "a", () => decide(i, "accept")), button("reject", "Reject", "r", () => decide(i, "reject")),
    button("correct", "Correct…", "c", correct), input);
  return box;
}

function download() {
  const body = {
    format: "visualproof-decisions/1",
    report_sha256: data.report_sha256, document_id: data.document_id, source_sha256: data.source_sha256,
    decisions: results.filter((r) => decisions.has(r.path)).map((r) => decisions.get(r.path)),
    undecided: results.filter((r) => !decisions.has(r.path)).map((r) => r.path),
  };
  const url = URL.createObjectURL(new Blob([JSON.stringify(body, null, 1) + "\n"], { type: "application/json" }));
  make("a", { href: url, download: `decisions-${data.document_id.slice(0, 8)}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 5000);
  unsaved = false;
}

// ---- head, filters, keys ----
function counts() {
  const number = (filter) => results.filter((r) => filter === "all" || (filter === "open" ? !decisions.has(r.path) : r.action === filter)).length;
  const names = { all: "All", block: "Thrown away", review: "To review", release: "Released", open: "Undecided" };
  $("filters").replaceChildren(...Object.entries(names).map(([filter, name]) => make("button", {
    type: "button", "aria-pressed": String(state.filter === filter), textContent: `${name} ${number(filter)}`,
    onclick: () => { state.filter = filter; counts(); drawList(); } })));
  $("decided").textContent = decisions.size ? `(${decisions.size} of ${results.length})` : "";
  $("download").disabled = decisions.size === 0;
}

function reset() {
  state.filter = "all";
  state.query = $("search").value = "";
  counts();
  drawList();
}

function head() {
  document.title = `${data.title || "Document"} – evidence`;
  $("title").textContent = data.title || "Document";
  const verdict = { block: "Some values must not be used.", review: "A person should look at some values.", release: "Every value is printed as extracted." }[data.action];
  $("verdict").append(make("b", { className: `tag ${data.action}`, textContent: data.action }), ` ${verdict}`);
  const put = (term, text, mono) => text && $("facts").append(make("dt", { textContent: term }), make("dd", { textContent: text, className: mono ? "mono" : "" }));
  put("Document", data.document_id, true);
  put("SHA-256 of the bytes", data.source_sha256, true);
  put("SHA-256 of the report", data.report_sha256, true);
  put("Read by", data.reader_version);
  put("Options", data.options);
  put("Rules", `version ${data.rules_version}, service ${data.service_version}`);
  for (const w of data.warnings) put(w.page ? `Warning, page ${w.page}` : "Warning", `${w.message} (${w.code})`);
  if (data.warnings.length) $("verdict").append(` ${data.warnings.length} warning${data.warnings.length > 1 ? "s" : ""}: see below.`);
  $("turn").replaceChildren(...data.pages.map((p) => make("option", { value: String(p.number), textContent: p.label === String(p.number) ? `Page ${p.number}` : `Page ${p.number} · ${p.label}` })));
}

function turnPage(by) {
  const at = data.pages.findIndex((p) => p.number === state.page) + by;
  if (data.pages[at]) showPage(data.pages[at].number);
}

function nextOpen() {
  const shown = order(), from = shown.indexOf(state.at);
  const next = [...shown.slice(from + 1), ...shown.slice(0, from + 1)].find((i) => !decisions.has(results[i].path));
  if (next !== undefined) select(next, { focus: true });
}

const KEYS = {
  j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1), Enter: () => state.at < 0 ? step(1) : select(state.at),
  n: () => otherPlace(1), p: () => otherPlace(-1), u: nextOpen,
  a: () => state.at >= 0 && decide(state.at, "accept"), r: () => state.at >= 0 && decide(state.at, "reject"),
  c: () => rows[state.at]?.querySelector(".decide button:nth-of-type(3)").click(),
  "/": () => $("search").focus(), "[": () => turnPage(-1), "]": () => turnPage(1),
  "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: () => zoom(0), "?": () => $("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "p") { event.preventDefault(); printAll(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const target = event.target;
  if (target.matches("input[type=search], input[type=text], select")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  // A page that was scrolled to keeps the arrows; a button keeps Enter.
  if (target.id === "stage" && event.key.startsWith("Arrow")) return;
  if (event.key === "Enter" && target.matches("button, summary, input") && !target.closest(".row > button")) return;
  const act = KEYS[event.key];
  if (act) { event.preventDefault(); act(); }
});

// ---- print: the list, then each page that has evidence, with its frames ----
// Not named print: that would be window.print.
let printing = false;

async function printAll() {
  if (printing) return;
  printing = true;
  const paper = $("paper");
  paper.replaceChildren();
  const numbers = [...new Set(results.flatMap((r) => r.evidence.map((e) => e.page)))].sort((a, b) => a - b);
  for (const n of numbers) {
    const page = pages.get(n), url = await loaded(n);
    if (!page || !url) continue;
    const image = make("img", { alt: `Page ${n}`, src: url });
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${page.width} ${page.height}`);
    for (const r of results)
      for (const e of r.evidence.filter((x) => x.page === n))
        for (const quad of e.quads) svg.append(outline(quad, page, r.action));
    paper.append(make("figure", {}, make("figcaption", { textContent: `${data.title}, ${pageName(n)}` }), make("div", { className: "print-sheet" }, image, svg)));
    try { await image.decode(); } catch { /* shown without */ }
  }
  printing = false;
  window.print();
}

// ---- start ----
restore();
head();
counts();
drawList();
$("search").addEventListener("input", () => { state.query = $("search").value; drawList(); });
$("nested").addEventListener("change", drawList);
$("download").addEventListener("click", download);
$("print").addEventListener("click", printAll);
$("keys").addEventListener("click", () => $("help").showModal());
$("back").addEventListener("click", () => turnPage(-1));
$("forth").addEventListener("click", () => turnPage(1));
$("turn").addEventListener("change", () => showPage(Number($("turn").value)));
$("smaller").addEventListener("click", () => zoom(0.8));
$("larger").addEventListener("click", () => zoom(1.25));
$("width").addEventListener("click", () => zoom(0));
$("whole").addEventListener("click", () => { state.fit = "whole"; size(); });
new ResizeObserver(() => { if (state.fit !== "zoom") size(); }).observe($("stage"));
addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
const first = order()[0];
if (first === undefined) showPage(data.pages[0]?.number);
else { select(first); if (!state.page) showPage(data.pages[0]?.number); }
