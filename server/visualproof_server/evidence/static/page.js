// The page for reviewers. Text of the document is hostile: it is set as text, never as markup.
"use strict";
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const ACTIONS = ["block", "review", "release"];
const SECTIONS = { block: "Thrown away", review: "To review", release: "Released" };
const SIGNS = { block: "✗", review: "?", release: "✓" };
const SVG = "http://www.w3.org/2000/svg";
const pages = new Map(data.pages.map((p) => [p.number, p]));
const results = data.results;
const rows = results.map(() => null);
const state = { at: -1, page: 0, zoom: 1, fit: "width", filter: "all", query: "", place: results.map(() => 0) };

function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("aria-") || key === "role") node.setAttribute(key, value);
    else node[key] = value;
  }
  node.append(...children);
  return node;
}

// ---- what a result says ----
const nameOf = (r) => r.path.split("/").slice(1).map(unescaped).join(" › ") || "value";
const unescaped = (part) => part.replaceAll("~1", "/").replaceAll("~0", "~");
const statusOf = (r) => r.status.replaceAll("_", " ").toLowerCase();
const saidOf = (r) => {
  if (r.value === "") return "—";
  try { const v = JSON.parse(r.value); return typeof v === "string" ? v : r.value; } catch { return r.value; }
};
// All places of a result: where it is printed, then what else could be meant.
const placesOf = (r) => {
  const many = r.status === "AMBIGUOUS" && r.candidates.length ? r.candidates : [...r.evidence, ...r.candidates];
  return many.length ? many : r.nearest ? [r.nearest] : [];
};
const pageName = (n) => {
  const page = pages.get(n);
  return page && page.label !== String(n) ? `page ${n} (“${page.label}”)` : `page ${n}`;
};

// Longest common subsequence of characters: what of one text is not in the other.
function marked(a, b, tag) {
  const out = make("span");
  if (!a || !b || a === b || a.length > 300 || b.length > 300) { out.textContent = a; return out; }
  const n = a.length, m = b.length, best = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
  for (let i = n - 1; i >= 0; i--)
    for (let j = m - 1; j >= 0; j--)
      best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  if (best[0][0] * 2 < Math.min(n, m)) { out.textContent = a; return out; }
  let i = 0, j = 0, run = "", differs = false;
  const flush = () => { if (run) out.append(differs ? make(tag, { textContent: run }) : run); run = ""; };
  while (i < n) {
    const same = j < m && a[i] === b[j];
    if (!same && j < m && best[i][j + 1] >= best[i + 1][j]) { j++; continue; }
    if (differs === same) { flush(); differs = !same; }
    run += a[i++];
    if (same) j++;
  }
  flush();
  return out;
}

// ---- the list ----
const order = () => rows.flatMap((_, i) => (rows[i] && !rows[i].hidden ? [i] : [])).sort((a, b) => rows[a].position - rows[b].position);

function passes(r, i) {
  if (state.filter === "open" && decisions.has(r.path)) return false;
  if (ACTIONS.includes(state.filter) && r.action !== state.filter) return false;
  const text = [r.path, nameOf(r), saidOf(r), r.printed, statusOf(r), ...r.reasons.map((x) => x.code)].join("\n");
  return text.toLowerCase().includes(state.query.toLowerCase());
}

function drawList() {
  const kept = state.at;
  const list = $("results");
  list.replaceChildren();
  rows.fill(null);
  let position = 0;
  const group = (title, members, className) => {
    if (!members.length) return;
    if (title) {
      const note = { block: "do not use these; why is said below each", review: "a person should look" }[className];
      list.append(make("h2", { className }, `${title} (${members.length}) `, make("small", { textContent: note ? `— ${note}` : "" })));
    }
    let parent = null, box = null;
    for (const i of members) {
      const parts = results[i].path.split("/").slice(1, -1).map(unescaped).join(" › ");
      if (parts !== parent || !box) {
        parent = parts;
        if (parts) list.append(make("h3", { textContent: parts }));
        box = make("ul", { role: "list" });
        list.append(box);
      }
      const row = rowOf(i);
      row.position = position++;
      rows[i] = row;
      box.append(row);
    }
  };
  const all = results.map((_, i) => i).filter((i) => passes(results[i], i));
  if ($("nested").checked) group("", all, "");
  else for (const action of ACTIONS) group(SECTIONS[action], all.filter((i) => results[i].action === action), action);
  if (data.relations.length && !state.query && state.filter === "all") drawRelations(list);
  if (!all.length) list.append(make("p", { className: "empty", textContent: results.length ? "No value matches." : "The answer has no values." }));
  state.at = -1;
  if (rows[kept]) mark(kept);
}

function drawRelations(list) {
  list.append(make("h2", { textContent: `Relations (${data.relations.length})` }));
  const box = make("ul", { role: "list" });
  for (const r of data.relations) {
    const head = make("div", { className: "pair" });
    head.append(make("dt", { className: `tag ${r.action}`, textContent: r.outcome.toLowerCase() }), make("dd", { textContent: `${r.expression}\n${r.message}` }));
    const row = make("li", { className: `row ${r.action}` }, head);
    head.classList.add("relation");
    box.append(row);
  }
  list.append(box);
}

function rowOf(i) {
  const r = results[i];
  const button = make("button", { type: "button", "aria-expanded": "false" },
    make("span", { className: "sign", textContent: SIGNS[r.action], "aria-hidden": "true" }),
    make("span", { className: "name", textContent: unescaped(r.path.split("/").pop()) || "value" }),
    make("span", { className: `tag ${r.action}`, textContent: statusOf(r) }),
    make("span", { className: "value", textContent: saidOf(r) }),
    make("span", { className: "mine", textContent: decisionText(r) }));
  if (r.action !== "release" && r.reasons.length)
    button.append(make("span", { className: "why", textContent: r.reasons[0].message }));
  button.addEventListener("click", () => select(i));
  return make("li", { className: `row ${r.action}` }, button);
}

function mark(i) {
  if (rows[state.at]) {
    rows[state.at].classList.remove("on");
    rows[state.at].firstChild.setAttribute("aria-expanded", "false");
    rows[state.at].querySelector(".detail")?.remove();
  }
  state.at = i;
  if (!rows[i]) return;
  rows[i].classList.add("on");
  rows[i].firstChild.setAttribute("aria-expanded", "true");
  rows[i].append(detailOf(i));
}

function select(i, { focus = false, turn = true } = {}) {
  if (!rows[i]) return;
  mark(i);
  rows[i].scrollIntoView({ block: "nearest" });
  if (focus) rows[i].firstChild.focus({ preventScroll: true });
  const r = results[i];
  const place = placesOf(r)[state.place[i]];
  $("live").textContent = `${nameOf(r)}: ${saidOf(r)}, ${statusOf(r)}${place ? `, ${pageName(place.page)}` : ", nowhere printed"}`;
  if (turn && place) showPage(place.page, true);
  else drawFrames();
}

function detailOf(i) {
  const r = results[i], places = placesOf(r), place = places[state.place[i]];
  const box = make("div", { className: "detail" });
  if (place) {
    const canvas = make("canvas", { width: 0, height: 0, role: "img", "aria-label": `Picture of the words: ${place.text}` });
    canvas.hidden = true;
    box.append(canvas);
    magnify(canvas, place);
  }
  const said = saidOf(r), printed = r.printed || "";
  const pair = make("dl", { className: "pair" });
  const put = (term, ...content) => pair.append(make("dt", { textContent: term }), make("dd", {}, ...content));
  put("Extracted", marked(said, printed, "del"));
  put("Printed", printed ? marked(printed, said, "ins") : "nothing that proves it");
  if (place) {
    if (place.context && place.context !== printed) put("On the line", place.context);
    const sure = place.confidence === null ? "" : `, read with confidence ${place.confidence.toFixed(2)}`;
    const how = r.evidence.includes(place) ? place.method.toLowerCase() : "not proof";
    put("Where", `${pageName(place.page)}${sure} (${how}${place.cited ? ", as cited" : ""}${place.coarse ? ", whole line" : ""})`);
  }
  put("Kind", r.kind || "text");
  box.append(pair);
  if (r.reasons.length) {
    const list = make("ul", { className: "reasons" });
    for (const x of r.reasons) list.append(make("li", {}, `${x.message} `, make("code", { textContent: x.code })));
    box.append(list);
  }
  if (places.length > 1) {
    const step = (by) => () => { otherPlace(by); };
    box.append(make("div", { className: "places", role: "group", "aria-label": "Places" },
      make("button", { type: "button", textContent: "‹", "aria-label": "Previous place", onclick: step(-1) }),
      make("span", { textContent: `place ${state.place[i] + 1} of ${places.length}` }),
      make("button", { type: "button", textContent: "›", "aria-label": "Next place", onclick: step(1) }), make("kbd", { textContent: "n p" })));
  }
  box.append(decideBox(i));
  return box;
}

function otherPlace(by) {
  if (state.at < 0) return;
  const count = placesOf(results[state.at]).length;
  if (count < 2) return;
  state.place[state.at] = (state.place[state.at] + by + count) % count;
  select(state.at);
}

function step(by) {
  const shown = order();
  if (!shown.length) return;
  const now = shown.indexOf(state.at);
  select(shown[now < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.min(Math.max(now + by, 0), shown.length - 1)], { focus: true });
}

// ---- the page ----
const KEPT = 6;
const pictures = new Map(); // page -> promise of an object URL; the last few only

function picture(n) {
  const known = pictures.get(n);
  if (known) { pictures.delete(n); pictures.set(n, known); return known; }
  const made = loaded(n);
  pictures.set(n, made);
  for (const [old, promise] of pictures) {
    if (pictures.size <= KEPT) break;
    if (old === state.page) continue;
    pictures.delete(old);
    promise.then((url) => url && setTimeout(() => URL.revokeObjectURL(url), 5000));
  }
  return made;
}

// Pictures come after this script in the file, so the first values show before they are all there.
async function loaded(n) {
  if (!pages.get(n)?.picture) return "";
  const holder = () => $(`picture-${n}`);
  const whole = () => document.readyState !== "loading" || holder()?.nextElementSibling;
  while (!(holder() && whole())) {
    if (document.readyState !== "loading" && !holder()) return "";
    await new Promise((done) => setTimeout(done, 30));
  }
  const text = atob(holder().textContent.trim());
  const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
  return URL.createObjectURL(new Blob([bytes], { type: holder().dataset.type }));
}

async function showPage(n, seek = false) {
  const page = pages.get(n);
  if (!page) return;
  const changed = n !== state.page;
  state.page = n;
  $("turn").value = String(n);
  $("back").disabled = n === data.pages[0].number;
  $("forth").disabled = n === data.pages.at(-1).number;
  $("where").textContent = [`${data.pages.length} page${data.pages.length > 1 ? "s" : ""}`,
    page.label === String(n) ? "" : `printed label “${page.label}”`,
    page.confidence === null ? "" : `read with confidence ${page.confidence.toFixed(2)}`, page.failure, page.damaged ? "DAMAGED: it may lack content" : ""].filter(Boolean).join(" · ");
  size();
  drawFrames();
  if (changed) {
    const image = $("image");
    image.removeAttribute("src");
    image.alt = `Page ${n} of the document`;
    const url = await picture(n);
    if (state.page !== n) return;
    $("nopicture").hidden = Boolean(url);
    image.hidden = !url;
    if (url) image.src = url;
  }
  if (seek) center();
}

function size() {
  const page = pages.get(state.page), stage = $("stage");
  if (!page) return;
  const wide = Math.max(120, stage.clientWidth - 28), high = Math.max(120, stage.clientHeight - 28);
  let width = wide;
  if (state.fit === "whole") width = Math.min(wide, (high * page.width) / page.height);
  if (state.fit === "zoom") width = wide * state.zoom;
  state.zoom = width / wide;
  $("sheet").style.width = `${width}px`;
  $("sheet").style.height = `${(width * page.height) / page.width}px`;
}

function zoom(by) {
  state.fit = by === 0 ? "width" : "zoom";
  state.zoom = Math.min(6, Math.max(0.2, state.zoom * (by || 1)));
  size();
  center();
}

// Corners in pixels of the page, `by` further out along the sides.
function corners(quad, page, by) {
  const p = quad.map(([x, y]) => [x * page.width, y * page.height]);
  const unit = (a, b) => { const d = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1; return [(b[0] - a[0]) / d, (b[1] - a[1]) / d]; };
  const across = unit(p[0], p[1]), down = unit(p[0], p[3]);
  return p.map(([x, y], i) => {
    const s = i === 1 || i === 2 ? by : -by, t = i > 1 ? by : -by;
    return [x + s * across[0] + t * down[0], y + s * across[1] + t * down[1]];
  });
}

const airOf = (quad, page) => Math.max(1, Math.min(3, ((quad[3][1] - quad[0][1]) * page.height) / 10));

function outline(quad, page, className, grow = 0) {
  const node = document.createElementNS(SVG, "polygon");
  node.setAttribute("points", corners(quad, page, airOf(quad, page) + grow).map((p) => p.join(",")).join(" "));
  node.setAttribute("class", className);
  return node;
}

// The upright box around a quad, in fractions of the page: left, top, width, height.
function boxOf(quad) {
  const xs = quad.map((p) => p[0]), ys = quad.map((p) => p[1]);
  const left = Math.min(...xs), top = Math.min(...ys);
  return [left, top, Math.max(...xs) - left, Math.max(...ys) - top];
}

function drawFrames() {
  const page = pages.get(state.page), svg = $("frames");
  if (!page) return;
  svg.setAttribute("viewBox", `0 0 ${page.width} ${page.height}`);
  svg.replaceChildren();
  const chosen = state.at >= 0 ? placesOf(results[state.at])[state.place[state.at]] : null;
  if (chosen && chosen.page === state.page) {
    // Everything but the words is dimmed: an outline of the page with holes in it.
    const dim = document.createElementNS(SVG, "path");
    const holes = chosen.quads.map((q) => `M${corners(q, page, 4).map((p) => p.join(" ")).join("L")}Z`);
    dim.setAttribute("d", `M0 0H${page.width}V${page.height}H0Z${holes.join("")}`);
    dim.setAttribute("fill-rule", "evenodd");
    dim.setAttribute("class", "dim");
    svg.append(dim);
  }
  results.forEach((r, i) => {
    for (const place of i === state.at && chosen ? [chosen] : r.status === "AMBIGUOUS" ? placesOf(r) : r.evidence) {
      if (place.page !== state.page) continue;
      for (const quad of place.quads) {
        const lit = i === state.at && place === chosen;
        if (r.action === "block") svg.append(outline(quad, page, "frame block outer", 4));
        const frame = outline(quad, page, `frame ${r.action}${lit ? " lit" : ""}`);
        frame.dataset.path = r.path;
        const title = document.createElementNS(SVG, "title");
        title.textContent = `${nameOf(r)}: ${statusOf(r)}`;
        frame.append(title);
        frame.addEventListener("click", () => { if (!rows[i]) reset(); select(i, { turn: false, focus: true }); });
        svg.append(frame);
      }
    }
  });
}

function center() {
  const page = pages.get(state.page), stage = $("stage");
  const place = state.at >= 0 ? placesOf(results[state.at])[state.place[state.at]] : null;
  if (!place || place.page !== state.page || !place.quads.length) return;
  const box = boxOf(place.quads[0]), sheet = $("sheet");
  stage.scrollTo({
    left: sheet.offsetLeft - stage.offsetLeft + (box[0] + box[2] / 2) * sheet.clientWidth - stage.clientWidth / 2,
    top: sheet.offsetTop - stage.offsetTop + (box[1] + box[3] / 2) * sheet.clientHeight - stage.clientHeight / 2,
  });
}

// The words, larger, beside what was extracted.
async function magnify(canvas, place) {
  const page = pages.get(place.page), url = await picture(place.page);
  if (!url || !place.quads.length) return;
  const image = new Image();
  image.src = url;
  try { await image.decode(); } catch { return; }
  const scale = image.naturalWidth / page.width, box = boxOf(place.quads[0]);
  const air = box[3] * page.height * 0.6;
  const x = Math.max(0, box[0] * page.width - 2 * air), y = Math.max(0, box[1] * page.height - air);
  const w = Math.min(page.width - x, box[2] * page.width + 4 * air), h = Math.min(page.height - y, box[3] * page.height + 2 * air);
  const grow = Math.min(2.5, 560 / (w * scale), 96 / (h * scale)) || 1;
  canvas.width = Math.max(1, Math.round(w * scale * grow));
  canvas.height = Math.max(1, Math.round(h * scale * grow));
  const pen = canvas.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, x * scale, y * scale, w * scale, h * scale, 0, 0, canvas.width, canvas.height);
  canvas.hidden = false;
}
