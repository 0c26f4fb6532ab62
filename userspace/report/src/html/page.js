// Keeps the page up to date, and its address shareable: what is sorted and which row is open are part of it.
const address = document.body.dataset.address;
const state = document.getElementById("state");
const announce = document.getElementById("announce");
const fields = document.getElementById("fields");
let version = document.body.dataset.version;
const sources = new Map();

function place(table) {
  const section = table.closest("section");
  return section && section.id + "." + [...section.querySelectorAll("table")].indexOf(table);
}
function remember(name, value) {
  const url = new URL(location.href);
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
  history.replaceState(null, "", url);
}
// As `flows.0.4d`: the first table of the flows by its fifth column, descending.
const sorted = new Map();
for (const one of (new URL(location.href).searchParams.get("sort") || "").split(",")) {
  const found = /^([a-z_]+\.\d+)\.(\d+)([ad])$/.exec(one);
  if (found) sorted.set(found[1], { at: Number(found[2]), down: found[3] === "d" });
}
function sortAgain(part) {
  for (const table of part.querySelectorAll("table.sorts")) {
    const by = sorted.get(place(table));
    if (by && table.tHead.rows[0].cells[by.at]) sort(table, by.at, by.down);
  }
}
document.addEventListener("sorted", (event) => {
  if (!place(event.target)) return;
  sorted.set(place(event.target), event.detail);
  remember("sort", [...sorted].map(([table, by]) => table + "." + by.at + (by.down ? "d" : "a")).join(","));
});

function isSelected(part) {
  const selection = getSelection();
  return !selection.isCollapsed && selection.containsNode(part, true);
}
// Replaces a part, and keeps what its reader has done to it.
function replace(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const key = focused && focused.closest("tr") && focused.closest("tr").dataset.key;
  const head = focused && focused.tagName === "TH" && [focused.closest("table"), focused.cellIndex];
  const headTable = head && [...old.querySelectorAll("table")].indexOf(head[0]);
  const open = [...old.querySelectorAll("details")].map((one) => one.open);
  const scrolled = [...old.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  old.replaceWith(fresh);
  fresh.querySelectorAll("details").forEach((one, at) => (one.open = open[at] || false));
  fresh.querySelectorAll(".scroll").forEach((one, at) => (one.scrollLeft = scrolled[at] || 0));
  prepare(fresh);
  sortAgain(fresh);
  const link = key && fresh.querySelector('tr[data-key="' + key + '"] a.fields');
  if (link) link.focus({ preventScroll: true });
  const table = head && fresh.querySelectorAll("table")[headTable];
  if (table && table.tHead.rows[0].cells[head[1]]) table.tHead.rows[0].cells[head[1]].focus({ preventScroll: true });
}
function show(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html").body;
  const before = document.getElementById("head").dataset.incidents;
  const main = document.getElementById("parts");
  const parts = [...fresh.querySelectorAll("#head, #problems, #sections, #parts > section")];
  const ids = new Set(parts.map((part) => part.id));
  let last = null;
  // A part that is shown leaves the fresh document.
  for (const part of parts) {
    const old = document.getElementById(part.id);
    const source = part.outerHTML;
    if (!old) {
      if (last) last.after(part);
      else main.prepend(part);
      prepare(part);
      sortAgain(part);
    } else if (sources.get(part.id) !== source && !isSelected(old)) {
      replace(old, part);
    } else {
      if (old.tagName === "SECTION") last = old;
      continue;
    }
    sources.set(part.id, source);
    if (part.tagName === "SECTION") last = part;
  }
  for (const old of [...main.children]) {
    if (!ids.has(old.id)) {
      old.remove();
      sources.delete(old.id);
    }
  }
  const now = document.getElementById("head").dataset.incidents;
  if (now !== before) announce.textContent = now === "1" ? "1 open incident" : now + " open incidents";
}

let busy = false;
let again = false;
async function update() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  let text = null;
  try {
    const answer = await fetch("sections" + address, { headers: { "If-None-Match": version } });
    if (answer.status === 200) {
      text = await answer.text();
      version = answer.headers.get("ETag");
    }
  } catch {
    // The event stream notices that the server is gone, and comes back when it does.
  }
  busy = false;
  if (text !== null) {
    show(text);
    document.body.dataset.version = version;
  }
  if (again) {
    again = false;
    update();
  }
}
let stream = null;
function listen() {
  if (stream || document.hidden || !("live" in state.dataset)) return;
  stream = new EventSource("events" + address);
  stream.addEventListener("window", (event) => {
    const [found, until] = event.data.split(" ");
    state.classList.remove("lost");
    state.textContent = "live" + (until ? ", up to " + until : "");
    if (found !== version) update();
  });
  stream.onerror = () => {
    state.classList.add("lost");
    state.textContent = "no connection: trying again";
    if (stream.readyState !== EventSource.CLOSED) return;
    stream = null;
    setTimeout(listen, 2000);
  };
}
// A page that nobody sees costs nothing, and leaves its connection to others.
document.addEventListener("visibilitychange", () => {
  if (document.hidden && stream) {
    stream.close();
    stream = null;
  }
  listen();
});

async function openFields(search) {
  const answer = await fetch("fields" + search);
  fields.innerHTML = await answer.text();
  prepare(fields);
  if (!fields.open) fields.showModal();
}
document.addEventListener("click", (event) => {
  const link = event.target.closest && event.target.closest("a[href]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const url = new URL(link.href);
  if (link.classList.contains("fields")) {
    event.preventDefault();
    remember("row", url.searchParams.get("row"));
    openFields(url.search);
  } else if (sorted.size && link.getAttribute("href").startsWith("?")) {
    url.searchParams.set("sort", new URL(location.href).searchParams.get("sort"));
    link.href = url;
  }
});
fields.addEventListener("close", () => remember("row", null));
if (fields.open) {
  fields.removeAttribute("open");
  fields.showModal();
}
sortAgain(document.body);
listen();
