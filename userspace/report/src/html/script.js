"use strict";
// Show tooltips immediately: those of the browser take a second. Their text is that of the titles.
const tip = document.body.appendChild(document.createElement("div"));
tip.className = "tip";
tip.hidden = true;
for (const title of document.querySelectorAll("svg title")) {
  title.parentElement.dataset.words = title.textContent;
  title.remove();
}
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
// A click on a heading sorts by the numbers of the cells: descending first, then ascending.
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  // The sentences below a row move with it.
  const rows = [...body.rows].filter((row) => row.className !== "below");
  const below = new Map(rows.map((row) => [row, row.nextElementSibling]));
  if (rows.length < 2) continue;
  table.classList.add("sorts");
  heads.forEach((head, at) => {
    const sort = () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
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
      for (const row of [...rows].sort(order)) {
        const after = below.get(row);
        body.append(row);
        if (after && after.className === "below") body.append(after);
      }
    };
    head.tabIndex = 0;
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort());
  });
}
