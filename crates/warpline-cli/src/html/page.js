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

// A chain is a list that goes from statement to statement.
function chain(f, start) {
  const found = [];
  for (let s = start; s !== null && s !== undefined; s = f.statements[s].next) found.push(f.statements[s]);
  return found;
}

function drawPath(path, name) {
  const svg = [...document.querySelectorAll(".cfg")].find((d) => !d.hidden);
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
  } else by("why").appendChild(make("p", "hint", f.summary + " Click a value, a block or a source line to see why."));
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
for (const g of document.querySelectorAll("g.block")) g.addEventListener("click", () => go({ b: g.dataset.block }));
window.addEventListener("hashchange", show);
show();
