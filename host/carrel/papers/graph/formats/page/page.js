"use strict";
(() => {
  const graph = document.getElementById("graph");
  const detail = document.getElementById("detail");
  const find = document.getElementById("find");
  const count = document.getElementById("count");
  const nodes = [...graph.querySelectorAll(".node")];
  const edges = [...graph.querySelectorAll(".edge")];
  const items = [...document.querySelectorAll("li.paper")];
  const number = (one) => Number(one.dataset.n);
  const node = new Map(nodes.map((one) => [number(one), one]));
  const item = new Map(items.map((one) => [number(one), one]));
  const x = (n) => Number(node.get(n).dataset.x);
  const inTime = nodes.map(number).sort((a, b) => x(a) - x(b) || a - b);
  const linked = new Map(inTime.map((n) => [n, []]));
  for (const one of edges) {
    const [from, to] = [Number(one.dataset.from), Number(one.dataset.to)];
    linked.get(from).push(to);
    linked.get(to).push(from);
  }
  let current = 0;
  let trail = { from: -1, at: -1 };

  // One tab stop for the drawing; the arrow keys move inside it.
  const moveTo = (n, focus) => {
    for (const one of nodes) one.setAttribute("tabindex", number(one) === n ? "0" : "-1");
    current = n;
    if (focus) node.get(n).focus();
  };

  const show = (n) => {
    const copy = item.get(n).firstElementChild.cloneNode(true);
    for (const one of copy.querySelectorAll("details")) one.open = true;
    detail.replaceChildren(copy);
    detail.scrollTop = 0;
  };

  const select = (n, focus) => {
    moveTo(n, focus);
    graph.classList.add("selecting");
    for (const one of nodes) one.classList.toggle("chosen", number(one) === n);
    const near = new Set(linked.get(n));
    for (const one of nodes) one.classList.toggle("near", near.has(number(one)));
    for (const one of edges) {
      one.classList.toggle("out", Number(one.dataset.from) === n);
      one.classList.toggle("in", Number(one.dataset.to) === n);
    }
    show(n);
  };

  const clear = () => {
    graph.classList.remove("selecting");
    for (const one of nodes) one.classList.remove("chosen", "near");
    show(0);
  };

  const place = (link) => {
    const found = /^#p(\d+)$/.exec(link.getAttribute("href") || "");
    return found && node.has(Number(found[1])) ? Number(found[1]) : null;
  };

  graph.addEventListener("click", (event) => {
    const one = event.target.closest(".node");
    if (one) {
      event.preventDefault();
      select(number(one), true);
    } else clear();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".links a");
    const n = link && place(link);
    if (n === null || n === undefined) return;
    event.preventDefault();
    select(n, true);
    node.get(n).scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  graph.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = inTime.indexOf(current);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const turn = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step) select(inTime[(at + step + inTime.length) % inTime.length], true);
    else if (turn) {
      // Up and down go round the papers linked with the one where this began.
      if (trail.at !== current) trail = { from: current, at: current };
      const round = linked.get(trail.from);
      if (round.length) {
        const next = (round.indexOf(current) + turn + round.length) % round.length;
        trail.at = round[round.indexOf(current) < 0 && turn < 0 ? round.length - 1 : next];
        select(trail.at, true);
      }
    } else if (event.key === "Home") select(inTime[0], true);
    else if (event.key === "End") select(inTime[inTime.length - 1], true);
    else if (event.key === "Enter" || event.key === " ") select(current, true);
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (find.value) {
      find.value = "";
      search();
    }
    clear();
  });

  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const texts = new Map(items.map((one) => [number(one), plain(one.textContent)]));
  const search = () => {
    const words = plain(find.value).split(/\s+/).filter(Boolean);
    let found = 0;
    for (const [n, text] of texts) {
      const hit = words.every((word) => text.includes(word));
      node.get(n).classList.toggle("found", hit);
      item.get(n).hidden = !hit;
      found += hit;
    }
    graph.classList.toggle("finding", words.length > 0);
    count.textContent = words.length ? `${found} of ${items.length}` : "";
  };
  find.addEventListener("input", search);

  moveTo(0, false);
  show(0);
  const start = place({ getAttribute: () => location.hash });
  if (start !== null) select(start, false);
  document.documentElement.dataset.ready = "yes";
})();
