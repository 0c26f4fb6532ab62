"use strict";
// Show tooltips immediately: those of the browser take a second. Their text is that of the titles.
const tip = document.body.appendChild(document.createElement("div"));
tip.className = "tip";
tip.hidden = true;
document.addEventListener("mousemove", (event) => {
  const owner = event.target.closest && event.target.closest("[data-words]");
  tip.hidden = !owner;
  if (!owner) return;
  tip.textContent = owner.dataset.words;
  const right = event.clientX + 14 + tip.offsetWidth > innerWidth;
  const below = event.clientY + 14 + tip.offsetHeight > innerHeight;
  tip.style.left = Math.max(4, right ? event.clientX - 14 - tip.offsetWidth : event.clientX + 14) + "px";
  tip.style.top = (below ? event.clientY - 14 - tip.offsetHeight : event.clientY + 14) + "px";
});
// Sorts a table by the numbers of the cells of a column.
function sort(table, at, down) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  // The sentences below a row move with it.
  const rows = [...body.rows].filter((row) => row.className !== "below");
  const below = new Map(rows.map((row) => [row, row.nextElementSibling]));
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[at].setAttribute("aria-sort", down ? "descending" : "ascending");
  const key = (row) => row.cells[at].dataset.n;
  const order = (a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === undefined && y === undefined) {
      const words = a.cells[at].textContent.localeCompare(b.cells[at].textContent, "en", { numeric: true });
      return down ? words : -words;
    }
    if (x === undefined || y === undefined) return x === undefined ? 1 : -1;
    return down ? y - x : x - y;
  };
  for (const row of rows.sort(order)) {
    const after = below.get(row);
    body.append(row);
    if (after && after.className === "below") body.append(after);
  }
}
// Gives the parts of a page their tooltips, and headings of tables that sort: descending first, then ascending.
function prepare(part) {
  for (const title of part.querySelectorAll("svg title")) {
    title.parentElement.dataset.words = title.textContent;
    title.remove();
  }
  for (const table of part.querySelectorAll("table")) {
    if (table.tBodies[0].rows.length < 2) continue;
    table.classList.add("sorts");
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const turn = () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        sort(table, at, down);
        table.dispatchEvent(new CustomEvent("sorted", { bubbles: true, detail: { at, down } }));
      };
      head.tabIndex = 0;
      head.addEventListener("click", turn);
      head.addEventListener("keydown", (event) => event.key === "Enter" && turn());
    });
  }
}
prepare(document.body);
