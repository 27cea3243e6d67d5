"use strict";
// Shows one function at a time; what is shown is written in the address behind the hash:
// f=FUNCTION and one of v=%VALUE, b=BLOCK, l=LINE.
const data = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const make = (name, classes, text) => {
  const e = document.createElement(name);
  if (classes) e.className = classes;
  if (text !== undefined) e.textContent = text;
  return e;
};
const word = { u: "uniform", s: "strided", d: "divergent" };
let shown = null;

function go(what) {
  const all = Object.assign({ f: shown.name }, what);
  location.hash = Object.keys(all).map((k) => k + "=" + encodeURIComponent(all[k])).join("&");
}

function wanted() {
  const found = {};
  for (const part of location.hash.slice(1).split("&")) {
    const i = part.indexOf("=");
    if (i > 0) try { found[part.slice(0, i)] = decodeURIComponent(part.slice(i + 1)); } catch (e) { /* not ours */ }
  }
  return found;
}

function row(parent, classes, number, text, click) {
  const r = make("div", "row " + classes);
  if (number !== null) r.appendChild(make("span", "number", number));
  r.appendChild(document.createTextNode(text));
  if (click) r.addEventListener("click", click); else r.classList.add("quiet");
  parent.appendChild(r);
  return r;
}

function open(f) {
  shown = f;
  by("function").value = f.name;
  for (const d of document.querySelectorAll(".cfg")) d.hidden = d.dataset.function !== f.name;
  by("summary").textContent = f.summary;
  view(0);
  const source = by("source"), code = by("code");
  source.textContent = "";
  code.textContent = "";
  const lines = f.file === null || !Object.hasOwn(data.files, f.file) ? undefined : data.files[f.file];
  if (lines === undefined) source.appendChild(make("p", "hint", f.file === null
    ? "No source: the function has no debug locations (compile with -g)."
    : "No source: " + f.file + " is not at hand."));
  else for (let n = f.first; n <= f.last; n++) {
    const c = f.lines[n];
    const r = row(source, c || "", n, lines[n - 1] || "", c ? () => go({ l: n }) : null);
    r.dataset.line = n;
  }
  for (const a of f.arguments) {
    const r = row(code, a.class, null, a.name + ": " + a.shape, () => go({ v: a.name }));
    r.dataset.value = a.name;
  }
  for (const b of f.blocks) {
    const h = row(code, "block " + b.class, null, b.name + ":" + b.note, () => go({ b: b.name }));
    h.dataset.block = b.name;
    for (const i of b.code) {
      const r = row(code, i.class, null, "  " + i.text, i.value ? () => go({ v: i.value })
        : i.branch ? () => go({ b: b.name }) : null);
      if (i.value) r.dataset.value = i.value;
    }
  }
}

// What is drawn of a function: the whole, or what is in one of its boxes.
let scale = 1;
const cfg = () => [...document.querySelectorAll(".cfg")].find((d) => !d.hidden);
const drawn = () => [...cfg().querySelectorAll(".view")].find((v) => !v.hidden);

function view(number) {
  for (const v of cfg().querySelectorAll(".view")) v.hidden = v.dataset.view !== String(number);
  by("out").hidden = number === 0;
  fit();
}

function zoom(to) {
  const svg = drawn().querySelector("svg");
  scale = Math.min(4, Math.max(.05, to));
  svg.setAttribute("width", svg.viewBox.baseVal.width * scale);
  svg.setAttribute("height", svg.viewBox.baseVal.height * scale);
}

// The whole width is to be seen, as long as one can read it.
function fit() {
  const box = drawn().querySelector("svg").viewBox.baseVal, room = by("canvas");
  const whole = Math.min((room.clientWidth - 20) / box.width, (room.clientHeight - 20) / box.height);
  zoom(Math.min(1, whole > .7 ? whole : Math.max(.45, (room.clientWidth - 20) / box.width)));
}

// Shows the drawing in which a block is a box of its own.
function reveal(block) {
  for (const g of cfg().querySelectorAll("g.block")) if (g.dataset.block === block) {
    const number = Number(g.closest(".view").dataset.view);
    if (drawn().dataset.view !== String(number)) view(number);
    return;
  }
}

// A chain is a list that goes from statement to statement.
function chain(f, start) {
  const found = [];
  for (let s = start; s !== null && s !== undefined; s = f.statements[s].next) found.push(f.statements[s]);
  return found;
}

function drawPath(path, name) {
  const svg = cfg();
  path.forEach((stop, i) => {
    for (const g of svg.querySelectorAll("g.block")) if (g.dataset.block === stop.block) g.classList.add(name);
    const next = path[i + 1];
    if (next) for (const e of svg.querySelectorAll("path.edge"))
      if (e.dataset.from === stop.block && e.dataset.to === next.block) e.classList.add(name);
  });
}

function describe(parent, statements) {
  const list = make("ol");
  let drawn = false;
  for (const s of statements) {
    const item = make("li", "", s.text + " ");
    if (s.location) item.appendChild(make("span", "place", s.location));
    s.paths.forEach((path, i) => {
      const name = ["one", "two"][i];
      const text = path.map((stop) => stop.block + (stop.rounds ? " → … round the loop …" : "")).join(" → ");
      item.appendChild(make("span", "path " + name, ["one path: ", "other path: "][i] + text));
      if (!drawn) drawPath(path, name);
    });
    drawn = drawn || s.paths.length > 0;
    if (s.value) for (const r of by("code").querySelectorAll(".row")) if (r.dataset.value === s.value) r.classList.add("about");
    if (s.line) for (const r of by("source").querySelectorAll(".row")) if (r.dataset.line === String(s.line)) r.classList.add("about");
    list.appendChild(item);
  }
  parent.appendChild(list);
}

function explain(title, thing) {
  const why = by("why");
  why.appendChild(make("h2", "", title));
  if (thing.why !== null) describe(why, chain(shown, thing.why));
  else why.appendChild(make("p", "", thing.because || "Nothing to explain."));
}

function choose(want) {
  const f = shown;
  by("why").textContent = "";
  for (const e of document.querySelectorAll(".chosen, .one, .two, .about")) e.classList.remove("chosen", "one", "two", "about");
  const mark = (selector, key, value) => {
    let first = null;
    for (const e of document.querySelectorAll(selector)) if (e.dataset[key] === value && !e.closest("[hidden]")) {
      e.classList.add("chosen");
      first = first || e;
    }
    if (first && first.scrollIntoView) first.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const value = (v) => {
    const thing = Object.hasOwn(f.values, v) ? f.values[v] : null;
    if (!thing) return;
    mark(".row", "value", v);
    if (thing.line) mark(".row", "line", String(thing.line));
    explain(v + " is " + word[thing.class] + " (" + thing.shape + ")", thing);
  };
  const block = (b) => {
    const thing = Object.hasOwn(f.branches, b) ? f.branches[b] : null;
    if (!thing) return;
    reveal(b);
    mark(".row", "block", b);
    mark("g.block", "block", b);
    explain("the branch of block " + b + " is " + word[thing.class], thing);
    if (thing.loop !== undefined) explain("the loop at block " + b, thing.loop);
  };
  if (want.v !== undefined) value(want.v);
  else if (want.b !== undefined) block(want.b);
  else if (want.l !== undefined) {
    mark(".row", "line", want.l);
    for (const v of Object.keys(f.values)) if (String(f.values[v].line) === want.l && f.values[v].class !== "u") value(v);
    for (const b of Object.keys(f.branches)) if (String(f.branches[b].line) === want.l && f.branches[b].class === "d") block(b);
    if (!by("why").firstChild) by("why").appendChild(make("p", "", "Everything on line " + want.l + " is uniform."));
  } else by("why").appendChild(make("p", "hint", "Click a value, a block or a source line to see why."));
}

function show() {
  const want = wanted();
  const f = data.functions.find((g) => g.name === want.f) || data.functions[0];
  if (!f) return;
  if (f !== shown) open(f);
  choose(want);
}

for (const f of data.functions) {
  const o = make("option", "", f.title);
  o.value = f.name;
  by("function").appendChild(o);
}
by("function").addEventListener("change", () => { location.hash = "f=" + encodeURIComponent(by("function").value); });
for (const g of document.querySelectorAll("g.block")) g.addEventListener("click", () =>
  g.dataset.open === undefined ? go({ b: g.dataset.block }) : view(Number(g.dataset.open)));
by("out").addEventListener("click", () => view(Number(drawn().dataset.parent || 0)));
by("smaller").addEventListener("click", () => zoom(scale / 1.25));
by("larger").addEventListener("click", () => zoom(scale * 1.25));
by("fit").addEventListener("click", fit);
by("canvas").addEventListener("wheel", (e) => {
  if (!e.ctrlKey) return;
  e.preventDefault();
  zoom(scale * (e.deltaY < 0 ? 1.1 : 1 / 1.1));
}, { passive: false });

// Only what is divergent, and what is searched for.
function filter() {
  const only = by("divergent").checked, text = by("search").value.trim().toLowerCase();
  for (const svg of document.querySelectorAll("#canvas svg")) svg.classList.toggle("only", only);
  let block = null;
  for (const r of by("code").children) {
    if (r.classList.contains("block")) block = r;
    r.hidden = only && !r.classList.contains("d") && !r.classList.contains("s");
    if (!r.hidden && block) block.hidden = false;
  }
  let first = null;
  for (const e of document.querySelectorAll("#source .row, #code .row, g.block")) {
    const hit = text !== "" && e.textContent.toLowerCase().includes(text) && !e.hidden && !e.closest("[hidden]");
    e.classList.toggle("found", hit);
    if (hit && !first) first = e;
  }
  if (first && first.scrollIntoView) first.scrollIntoView({ block: "nearest", inline: "nearest" });
}
by("divergent").addEventListener("change", filter);
by("search").addEventListener("input", filter);
// Enter goes to the next function in which the text occurs.
by("search").addEventListener("keydown", (e) => {
  const text = by("search").value.trim().toLowerCase();
  if (e.key !== "Enter" || text === "") return;
  const at = data.functions.indexOf(shown), n = data.functions.length;
  const has = (f) => f.title.toLowerCase().includes(text) || f.blocks.some((b) =>
    b.name.toLowerCase().includes(text) || b.code.some((i) => i.text.toLowerCase().includes(text)));
  for (let k = 1; k <= n; k++) if (has(data.functions[(at + k) % n])) {
    location.hash = "f=" + encodeURIComponent(data.functions[(at + k) % n].name);
    return;
  }
});
window.addEventListener("hashchange", () => { show(); filter(); });
show();
