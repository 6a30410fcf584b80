"use strict";
// The page as a whole: controls, keys, and what is asked when something changes.

const picture = new Picture(byId("picture"));
const other = new Picture(byId("other"));
let catalogue = [];
let shown = null;
let fresh = 0;

const entryOf = (name) => catalogue.find((one) => one.name === name);

function fillSelect(select, keep) {
  const groups = new Map();
  for (const one of catalogue) {
    const group = one.name.includes(".rs:") ? "file" : one.name.split("/")[0];
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(one);
  }
  select.replaceChildren(...keep, ...[...groups].map(([name, list]) => el("optgroup", { label: name },
    ...list.map((one) => el("option", { value: one.name, title: one.summary }, one.name)))));
}

/// Shows the text of a collective from its declaration on.
function openText(entry, text) {
  setEditor(text ?? entry.text, entry.text);
  if (text === null && entry.start) showLine(entry.text.lastIndexOf("#[derive", entry.start), true);
}

/// Shows the state in the controls.
function fillControls() {
  const entry = entryOf(state.collective);
  byId("collective").value = state.collective;
  byId("p").value = state.p;
  byId("ppn").value = state.ppn ?? "";
  byId("placement").value = state.nodes ? "file" : state.placement;
  byId("rank").value = state.rank;
  byId("compare").value = state.compare;
  const given = Object.fromEntries(state.set.map((one) => one.split(/=(.*)/s).slice(0, 2)));
  const field = (param) => el("label", {}, `${param.name} `, el("input", { type: param.list ? "text" : "number",
    "data-param": param.name,
    min: param.list ? null : param.domain.lo, max: param.list ? null : param.domain.hi, value: given[param.name] ?? "",
    placeholder: param.list ? "1,2,…" : `${param.domain.lo}`, onchange: changed }));
  const box = byId("params");
  const names = (entry ? entry.params : []).map((param) => param.name).join();
  if (box.dataset.names !== names || !box.contains(document.activeElement)) {
    box.replaceChildren(...(entry ? entry.params : []).map(field));
    box.dataset.names = names;
  }
}

/// Places ranks as a file says: a line for each rank, with the name of its node.
async function loadPlacement(file) {
  try {
    const { p, nodes } = await ask("placement", null, {}, await file.text());
    Object.assign(state, { p, nodes, ppn: null, placement: "", step: 0, cell: null, message: null });
    trace.chosen = null;
    state.text === null ? await refresh() : await checkText();
  } catch (error) {
    report(error);
  }
}

/// Reads the controls.
function changed(event) {
  if (event && event.target.id === "placing") return;
  // What a file or a trace has placed stays until ranks are placed in another way.
  const placed = event && ["p", "ppn", "placement"].includes(event.target.id) ? "" : state.nodes;
  const placement = byId("placement").value;
  const number = (id, least) => {
    const value = parseInt(byId(id).value, 10);
    return Number.isFinite(value) && value >= least ? value : null;
  };
  const same = state.collective === byId("collective").value;
  Object.assign(state, { collective: byId("collective").value, p: number("p", 1) ?? state.p, ppn: number("ppn", 1),
    placement: placement === "file" ? "" : placement, rank: number("rank", 0) ?? 0, compare: byId("compare").value,
    nodes: placed });
  const params = [...document.querySelectorAll("[data-param]")].filter((input) => input.value !== "");
  state.set = same ? params.map((input) => `${input.dataset.param}=${input.value.replace(/\s/g, "")}`) : [];
  if (!same) Object.assign(state, { text: null, cell: null, step: 0 });
  if (event && event.target.id !== "rank") Object.assign(state, { message: null });
  trace.chosen = null;
  editor.counterexample = null;
  if (!same) byId("verdict").replaceChildren();
  state.text === null ? refresh() : checkText();
}

function report(error) {
  byId("problem").textContent = error ? error.message : "";
  byId("problem").hidden = !error;
}

/// Asks for everything that is shown.
async function refresh({ jump = false } = {}) {
  const number = ++fresh;
  const call = shownCall(), text = state.text;
  fillControls();
  const entry = entryOf(state.collective);
  if (entry && (text ?? entry.text) !== byId("text").value) openText(entry, text);
  if (entry) editor.original = entry.text;
  try {
    const view = await ask("view", call, {}, text);
    if (number !== fresh) return;
    if (jump && view.verdict.state === "wrong") state.step = view.verdict.step;
    state.step = Math.min(state.step, view.steps.length);
    if (state.rank >= view.p) state.rank = 0;
    shown = { view, call, text };
    await showStep();
    if (number !== fresh) return;
    report(null);
    await compare(call, text);
  } catch (error) {
    if (number === fresh) report(error);
  }
}

/// Shows the selected step, rank, message and slot of the call.
async function showStep() {
  const { view, call, text } = shown;
  writeState();
  const at = state.step;
  const outline = view.mode === "outline";
  const [step, rank] = await Promise.all([outline ? { step: at, messages: [] } : ask("step", call, { step: at }, text),
    ask("rank", call, { rank: Math.min(state.rank, view.p - 1) }, text).catch(() => null)]);
  if (shown.view !== view || state.step !== at) return;
  shown.step = step;
  const slider = byId("slider");
  slider.max = view.steps.length;
  slider.value = at;
  slider.setAttribute("aria-valuetext", captionOf(view, at));
  byId("caption").textContent = captionOf(view, at);
  byId("summary").replaceChildren(el("b", {}, view.name), ` · ${view.case} — ${view.summary}`,
    ...(view.evaluated ? [el("span", { class: "soft" }, " (evaluated from the text)")] : []));
  for (const [id, off] of [["first", at === 0], ["back", at === 0], ["forward", at === view.steps.length], ["last",
    at === view.steps.length]]) {
    byId(id).disabled = off;
  }
  showBanner(view);
  const hops = outline ? [] : await showSelected(call, text, at);
  picture.show(view, step, { marks: trace.chosen, hops, chosen: { rank: state.rank, message: state.message,
    cell: state.cell } });
  if (rank) {
    showClaims(rank, at);
    showBounds(rank, at);
  }
  showProof(view);
  byId("messages-details").hidden = outline;
  fillMessages();
  if (state.message !== null && step.messages[state.message]) litClauses(view, step.messages[state.message]);
  const figure = byId("figure");
  figure.hidden = Boolean(embedded) || text !== null || view.p > FEW;
  figure.href = `/api/figure?${callQuery(call)}`;
  document.title = `${view.name}, ${view.case} – Roundel`;
}

/// The table of messages: a thousand rows take time, so they are made when somebody looks at them.
function fillMessages() {
  if (shown && shown.step && byId("messages-details").open) showMessages(shown.step, state.message, selectMessage);
}

async function showSelected(call, text, at) {
  byId("cell-section").hidden = !state.cell;
  if (!state.cell) return [];
  try {
    const cell = state.block !== undefined && state.block !== null
      ? await ask("route", call, { block: state.block }, text)
      : await ask("cell", call, { rank: state.cell.rank, row: state.cell.row }, text);
    return cell ? showCell(cell, at, (block) => { state.block = block; showStep().catch(report); }) : [];
  } catch (error) {
    byId("cell").replaceChildren(el("p", { class: "bad" }, error.message));
    return [];
  }
}

/// Marks the clauses of a message: what its sender sends, and what its receiver expects.
function litClauses(view, message) {
  const places = message[4].filter((site) => site !== null).map((site) => view.clauses[site]).filter(Boolean);
  markText(places.map(([start, end]) => ({ start, end })), true);
}

function showBanner(view) {
  const banner = byId("banner");
  const wrong = view.verdict.state === "wrong" ? view.verdict : null;
  const apart = editor.counterexample && !editor.ignored;
  banner.hidden = !wrong && !(editor.counterexample && editor.ignored);
  if (banner.hidden) return;
  const jump = el("button", { type: "button", id: "jump", onclick: () => go(wrong.step) },
    `Show it: ${wrong && wrong.step ? `round ${wrong.step - 1}` : "start"}`);
  const toggle = el("button", { type: "button", id: "elsewhere", onclick: () =>
    { editor.ignored = !editor.ignored; refresh({ jump: !editor.ignored }); } },
    apart ? `Look at p = ${state.p} instead` : "Back to the counterexample");
  banner.replaceChildren(el("b", { class: "bad" }, apart ? `Counterexample, ${view.case}: ` : ""), wrong
    ? wrong.message : "This text has a counterexample elsewhere.",
    ...(wrong ? [jump] : []), ...(editor.counterexample ? [toggle] : []));
}

/// The other collective of a comparison, with its own parameters as far as it has those of the first.
async function compare(call, text) {
  byId("other").hidden = !state.compare;
  byId("comparison").hidden = !state.compare;
  if (!state.compare) {
    if (shown) picture.draw();
    return;
  }
  const known = (entryOf(state.compare) || { params: [] }).params.map((param) => param.name);
  const theirs = { ...call, collective: state.compare, contract: false, set: call.set.filter((one) =>
    known.includes(one.split("=")[0])) };
  try {
    const view = await ask("view", theirs);
    shown.other = { view, call: theirs };
    byId("pictures").classList.toggle("stacked", Math.max(view.p, call.p) > 16);
    await showOther();
    picture.draw();
    await compareCosts([call, theirs], [text, null]);
  } catch (error) {
    byId("other").replaceChildren(el("p", { class: "bad" }, `${state.compare}: ${error.message}`));
    byId("comparison").hidden = true;
  }
}

async function showOther() {
  if (!shown.other || !state.compare) return;
  const { view, call } = shown.other;
  const at = Math.min(state.step, view.steps.length);
  const step = view.mode === "outline" ? { step: at, messages: [] } : await ask("step", call, { step: at });
  other.show(view, step, { chosen: {} });
}

function go(step) {
  if (!shown) return;
  state.step = Math.max(0, Math.min(step, shown.view.steps.length));
  state.message = null;
  markText(editor.marks.filter((mark) => mark.error));
  showStep().then(showOther).catch(report);
}

function selectMessage(i) {
  state.message = i;
  showStep().catch(report);
}

function selectCell(cell) {
  Object.assign(state, { cell, block: null, rank: cell ? cell.rank : state.rank });
  byId("rank").value = state.rank;
  showStep().catch(report);
}

function key(event) {
  if (event.target.closest("input:not([type=range]), textarea, select") || event.ctrlKey || event.metaKey ||
    event.altKey) return;
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  if (event.shiftKey && moves[event.key] && shown && shown.view.mode === "full") {
    const { rank, row } = state.cell || { rank: state.rank, row: 0 };
    const [dx, dy] = state.cell ? moves[event.key] : [0, 0];
    const clamp = (n, size) => Math.max(0, Math.min(size - 1, n));
    selectCell({ rank: clamp(rank + dx, shown.view.p), row: clamp(row + dy, shown.view.rows.count) });
  } else if (event.key === "ArrowRight") go(state.step + 1);
  else if (event.key === "ArrowLeft") go(state.step - 1);
  else if (event.key === "Home") go(0);
  else if (event.key === "End") go(Infinity);
  else if (event.key === "Escape") { state.message = null; markText([]); selectCell(null); }
  else return;
  event.preventDefault();
}

function connect() {
  byId("controls").addEventListener("change", changed);
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("slider").addEventListener("input", (event) => go(+event.target.value));
  byId("first").addEventListener("click", () => go(0));
  byId("back").addEventListener("click", () => go(state.step - 1));
  byId("forward").addEventListener("click", () => go(state.step + 1));
  byId("last").addEventListener("click", () => go(Infinity));
  byId("text").addEventListener("input", edited);
  byId("text").addEventListener("scroll", syncScroll);
  byId("restore").addEventListener("click", () => { byId("text").value = editor.original; edited(); });
  byId("prove").addEventListener("click", prove);
  byId("placing").addEventListener("change", (event) => event.target.files[0] && loadPlacement(event.target.files[0]));
  byId("files").addEventListener("change", (event) => loadTrace(event.target.files));
  byId("picture").addEventListener("cell", (event) => selectCell(event.detail));
  byId("picture").addEventListener("message", (event) => selectMessage(event.detail));
  byId("picture").addEventListener("rank", (event) =>
    { state.rank = event.detail; byId("rank").value = event.detail; showStep().catch(report); });
  byId("messages-details").addEventListener("toggle", fillMessages);
  document.addEventListener("keydown", key);
  addEventListener("hashchange", () => { readState(); editor.counterexample = null; state.text === null ? refresh()
    : checkText(); });
  let width = innerWidth;
  addEventListener("resize", () => { if (shown && shown.step &&
    width !== (width = innerWidth)) { picture.draw(); if (shown.other) showOther(); } });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown && shown.step && picture.draw());
}

async function start() {
  connect();
  if (embedded && !location.hash) history.replaceState(null, "", "#" + embedded.call);
  readState();
  try {
    const found = await ask("catalogue");
    catalogue = found.collectives;
    fillSelect(byId("collective"), []);
    fillSelect(byId("compare"), [el("option", { value: "" }, "nothing")]);
    if (!entryOf(state.collective)) state.collective = (catalogue.find((one) => one.name.endsWith("/" +
      state.collective)) || catalogue[0]).name;
    if (embedded) {
      byId("footer").append(" This page is a file: to edit, prove, compare, and choose other calls, ",
        "run `roundel explore`.");
      for (const id of ["prove", "files", "placing", "compare"]) byId(id).disabled = true;
    }
    const entry = entryOf(state.collective);
    openText(entry, state.text);
    if (state.text === null) await refresh();
    else await checkText();
  } catch (error) {
    report(error);
  }
}

start();
