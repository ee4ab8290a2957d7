"use strict";
// Shows what /status.json says. Every text of a plugin becomes a text node, never HTML. The token is
// kept in this variable and nowhere else.
let token = null;
let paused = false;
let timer = 0;
let previousNews = "";

const EVERY = 2000;
// Milliseconds after which a server that hangs is shown as one that does not answer.
const PATIENCE = 10000;
const $ = (id) => document.getElementById(id);

function element(name, text, attributes) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = String(text);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  return made;
}

function say(text) {
  if (text !== previousNews) $("news").textContent = text;
  previousNews = text;
}

function badge(state, label) {
  return element("span", label || state, { class: "badge", "data-state": state });
}

// Replaces only the rows that changed, so that focus, selection and scrolling stay.
function fill(id, items, keyOf, cellsOf) {
  const body = $(id).tBodies[0];
  const wanted = items.map((one) => [keyOf(one), JSON.stringify(one), one]);
  const known = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  const rows = wanted.map(([key, text, one]) => {
    const old = known.get(key);
    if (old && old.dataset.value === text) return old;
    const row = element("tr", null, { "data-key": key, "data-value": text });
    row.append(...cellsOf(one));
    if (old && old.contains(document.activeElement)) keepFocus(old, row);
    return row;
  });
  if (!rows.length) {
    const empty = known.get("") || element("tr", null, { "data-key": "" });
    const width = $(id).tHead.rows[0].cells.length;
    if (!empty.cells.length) {
      empty.append(element("td", body.dataset.empty, { class: "empty", colspan: width }));
    }
    rows.push(empty);
  }
  let next = body.firstElementChild;
  for (const row of rows) {
    if (row === next) next = next.nextElementSibling;
    else body.insertBefore(row, next);
  }
  const wantedRows = new Set(rows);
  for (const row of [...body.rows]) if (!wantedRows.has(row)) row.remove();
  const focused = body.querySelector("[data-focus]");
  if (focused) {
    focused.removeAttribute("data-focus");
    focused.focus();
  }
}

function keepFocus(old, row) {
  const at = [...old.querySelectorAll("button")].indexOf(document.activeElement);
  const button = row.querySelectorAll("button")[at];
  if (button) button.setAttribute("data-focus", "");
}

function cell(content, attributes) {
  const made = element("td", null, attributes);
  made.append(content);
  return made;
}

function pluginCells(one) {
  const state = cell(badge(one.state));
  if (one.error) state.append(element("p", one.error.message));
  const hosts = element("ul");
  hosts.append(...one.hosts.map((host) => element("li", host)));
  const name = element("th", one.name, { scope: "row" });
  if (one.version) name.append(element("br"), element("small", one.version));
  const digest = one.digest ? element("code", `${one.digest.slice(0, 19)}…`, { title: one.digest }) : "none";
  const unsigned = one.source.startsWith("builtin:") ? "comes with Carrel" : "not signed";
  return [name, state, cell(one.hosts.length ? hosts : "none"), cell(one.signer || unsigned, { class: "long" }), cell(digest, { class: "digest" })];
}

function callCells(one) {
  return [
    element("th", one.tool, { scope: "row" }),
    element("td", one.plugin || "host"),
    element("td", one.principal),
    element("td", one.session || "none"),
    element("td", one.seconds.toFixed(1), { class: "number" }),
  ];
}

function upstreamCells(one) {
  let pace = "none";
  if (one.interval_seconds > 0.1) pace = `1 request in ${one.interval_seconds} s`;
  else if (one.interval_seconds > 0) pace = `${Math.round(1 / one.interval_seconds)} requests in 1 s`;
  if (one.paused_seconds > 0) pace += `; asked to wait ${one.paused_seconds} s`;
  const circuit = one.breaker === "open" ? `open for ${one.breaker_seconds} s` : "closed";
  return [
    element("th", one.upstream, { scope: "row" }),
    element("td", one.plugin),
    element("td", pace),
    element("td", one.in_flight, { class: "number" }),
    element("td", one.waiting, { class: "number" }),
    cell(badge(one.breaker, circuit)),
  ];
}

function denialCells(one) {
  const at = new Date(one.at);
  const grant = element("div", null, { class: "grant" });
  if (one.grant) {
    const text = element("code", one.grant);
    const copy = element("button", "Copy", { type: "button", "aria-label": `Copy the grant for ${one.plugin}` });
    copy.addEventListener("click", () => copyText(one.grant, text));
    grant.append(text, copy);
  } else {
    grant.append(element("span", "no grant can allow it", { class: "empty" }));
  }
  return [
    cell(element("time", at.toLocaleTimeString(), { datetime: one.at, title: at.toLocaleString() })),
    element("td", one.count, { class: "number" }),
    element("th", one.plugin, { scope: "row" }),
    element("td", one.host || "none"),
    element("td", one.reason),
    cell(grant, { class: "long" }),
  ];
}

async function copyText(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    say("The grant was copied.");
  } catch {
    getSelection().selectAllChildren(shown);
    say("The grant is selected; copy it with the keyboard.");
  }
}

function show(status) {
  const server = status.server;
  const reasons = server.reasons.length ? `: ${server.reasons.join(", ")}` : "";
  $("state").textContent = server.state + reasons;
  $("state").dataset.state = server.state;
  const sessions = server.sees_all ? `, ${server.sessions} sessions` : "";
  $("about").textContent = `${server.version}, seen by ${server.principal}${sessions}`;
  $("calls-caption").textContent = server.sees_all ? "Calls of everybody" : "Your calls";
  fill("plugins", status.plugins, (one) => one.name, pluginCells);
  const seen = new Map();
  const numbered = status.calls.map((one) => {
    const name = `${one.principal} ${one.session} ${one.tool}`;
    seen.set(name, (seen.get(name) || 0) + 1);
    return [`${name} ${seen.get(name)}`, one];
  });
  const keys = new Map(numbered.map(([key, one]) => [one, key]));
  fill("calls", status.calls, (one) => keys.get(one), callCells);
  fill("upstreams", status.upstreams, (one) => `${one.plugin} ${one.upstream}`, upstreamCells);
  fill("denials", status.denials, (one) => [one.principal, one.plugin, one.host, one.reason, one.grant].join(" "), denialCells);
  const reload = server.reload;
  if (reload && !reload.ok) {
    const error = reload.error ? `: ${reload.error.message}` : "";
    say(`The configuration could not be reloaded; the previous one is in use${error}`);
  } else if (previousNews.startsWith("The con") || previousNews.startsWith("No answer")) {
    say("");
  }
}

function askForToken(text) {
  $("main").hidden = true;
  $("sign-in").hidden = false;
  $("state").textContent = "token needed";
  $("state").dataset.state = "unknown";
  if (text) say(text);
  document.documentElement.dataset.ready = "yes";
  $("token").focus();
}

async function update() {
  clearTimeout(timer);
  try {
    const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(PATIENCE);
    const answer = await fetch("status.json", { headers, cache: "no-store", credentials: "omit", signal });
    if (answer.status === 401 || answer.status === 403) {
      const refused = token !== null;
      token = null;
      askForToken(refused ? "The server refused this token." : "");
      return;
    }
    if (!answer.ok) throw new Error(String(answer.status));
    const status = await answer.json();
    $("main").hidden = false;
    $("sign-in").hidden = true;
    show(status);
  } catch {
    $("state").textContent = "no answer";
    $("state").dataset.state = "unavailable";
    say("No answer from the server; trying again.");
  }
  document.documentElement.dataset.ready = "yes";
  if (!paused) timer = setTimeout(update, EVERY);
}

$("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  $("token").value = "";
  say("");
  update();
});
$("pause").addEventListener("click", () => {
  paused = !paused;
  $("pause").setAttribute("aria-pressed", String(paused));
  $("pause").textContent = paused ? "Resume updates" : "Pause updates";
  say(paused ? "Updates are paused." : "");
  if (!paused) update();
  else clearTimeout(timer);
});
update();
