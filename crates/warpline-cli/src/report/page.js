"use strict";
const table = document.querySelector("tbody"), rows = [...table.rows];
const search = document.querySelector("#search"), boxes = [...document.querySelectorAll("input[data-state]")];
function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const states = new Set(boxes.filter(box => box.checked).map(box => box.dataset.state));
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !states.has(row.dataset.state) || !words.every(word => text.includes(word));
  }
}
search.addEventListener("input", show);
boxes.forEach(box => box.addEventListener("change", show));
document.querySelectorAll("th").forEach((head, column) => {
  let up = false;
  head.addEventListener("click", () => {
    up = !up;
    const key = row => { const cell = row.cells[column]; return cell.dataset.key ?? cell.textContent; };
    const number = head.classList.contains("number");
    const order = (a, b) => number ? parseFloat(key(a)) - parseFloat(key(b)) : key(a).localeCompare(key(b));
    rows.sort((a, b) => up ? order(a, b) : order(b, a));
    table.append(...rows);
  });
});
function open() {
  const chosen = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (chosen instanceof HTMLDetailsElement) { chosen.open = true; chosen.scrollIntoView(); }
}
addEventListener("hashchange", open);
open();
