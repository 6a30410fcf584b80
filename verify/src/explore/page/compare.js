"use strict";
// Two collectives side by side, and traces of real runs.

async function compareCosts(calls, texts) {
  const box = byId("comparison");
  try {
    const extra = state.machine ? { machine: state.machine } : {};
    const costs = await Promise.all(calls.map((call, i) => ask("cost", call, extra, texts[i])));
    box.replaceChildren(el("h2", {}, "Comparison"), machineField(), costTable(costs), costChart(costs));
  } catch (error) {
    box.replaceChildren(el("h2", {}, "Comparison"), machineField(), el("p", { class: "bad" }, error.message));
  }
  box.hidden = false;
}

function machineField() {
  const input = el("input", { type: "text", id: "machine", value: state.machine, placeholder: "L=2us,o=0.5us,G=0.1ns",
    style: "width:20em",
    onchange: (event) => { state.machine = event.target.value; refresh(); } });
  return el("p", {}, el("label", {}, "machine (LogGPS; empty: round figures) ", input));
}

const seconds = (time) => time >= 1 ? `${time.toPrecision(3)} s` : time >= 1e-3 ? `${(time * 1e3).toPrecision(3)} ms`
  : `${(time * 1e6).toPrecision(3)} µs`;
const bytes = (n) => n >= 1 << 20 ? `${+(n / (1 << 20)).toFixed(1)} MiB` : n >= 1024 ? `${+(n / 1024).toFixed(1)} KiB`
  : `${+n.toFixed(1)} B`;

function costTable(costs) {
  const first = costs.map((cost) => cost.sizes[0]);
  const row = (name, values) => el("tr", {}, el("th", { scope: "row" }, name), ...values.map((value) => el("td",
    { class: "n" }, value)));
  const levels = first[0].levels;
  const at = (size, list, level) => list[size.levels.indexOf(level)] ?? 0;
  const rows = [row("rounds", first.map((size) => `${size.rounds}`)),
    ...levels.map((level) => row(`messages, ${level}`, first.map((size) => at(size, size.messages,
      level).toLocaleString("en")))),
    ...levels.map((level) => row(`bytes for blocks of ${first[0].bytes} B, ${level}`, first.map((size) =>
      bytes(at(size, size.sent, level)))))];
  costs[0].sizes.forEach((size, i) => {
    if (!costs.every((cost) => cost.sizes[i])) return;
    const times = costs.map((cost) => cost.sizes[i].seconds);
    const best = Math.min(...times);
    rows.push(el("tr", {}, el("th", { scope: "row" }, `time, ${bytes(size.bytes)}`),
      ...times.map((time) => el("td", { class: time === best ? "n good" : "n" }, seconds(time)))));
  });
  return table(["", ...costs.map((cost) => cost.name)], rows);
}

/// Predicted times over sizes, both on logarithmic scales.
function costChart(costs) {
  const [width, height, left, bottom] = [560, 260, 60, 34];
  const surface = new SvgSurface(width, height, "predicted time over the size of a block");
  const all = costs.flatMap((cost) => cost.sizes);
  const [small, large] = [Math.min(...all.map((one) => one.bytes)), Math.max(...all.map((one) => one.bytes))];
  const times = all.map((one) => one.seconds).filter((time) => time > 0);
  const [fast, slow] = [Math.min(...times, 1), Math.max(...times, 1e-9)];
  const scale = (value, from, to, lo, hi) => lo + (hi - lo) * (Math.log(value) - Math.log(from)) / Math.max(1e-9,
    Math.log(to) - Math.log(from));
  const x = (n) => scale(n, small, large, left, width - 16), y = (time) => scale(Math.max(time, fast), fast, slow,
    height - bottom, 16);
  surface.rect(left, 12, width - left - 12, height - bottom - 8, null, { stroke: "line" });
  for (const size of costs[0].sizes) surface.text(x(size.bytes), height - 18, bytes(size.bytes), { size: 10,
    fill: "soft" });
  for (let decade = Math.ceil(Math.log10(fast)); decade <= Math.log10(slow); decade++) {
    surface.text(left - 4, y(10 ** decade) + 3, seconds(10 ** decade), { anchor: "end", size: 10, fill: "soft" });
  }
  costs.forEach((cost, i) => {
    const colour = i ? "between" : "local";
    const points = cost.sizes.map((size) => `${x(size.bytes)} ${y(size.seconds)}`);
    const style = `stroke:var(--${colour});stroke-width:2${i ? ";stroke-dasharray:6 3" : ""}`;
    surface.parts.push(`<path fill="none" style="${style}" d="M${points.join("L")}"/>`);
    for (const size of cost.sizes) {
      surface.rect(x(size.bytes) - 3, y(size.seconds) - 3, 6, 6, colour, { round: i ? 0 : 3,
        title: `${cost.name}, ${bytes(size.bytes)}: ${seconds(size.seconds)}` });
    }
    surface.text(left + 10, 30 + 16 * i, `${i ? "- - ■" : "— ●"} ${cost.name}`, { anchor: "start", fill: colour,
      size: 12 });
  });
  surface.text((left + width) / 2, height - 3, `bytes of a block or of the vector; ${costs[0].machine}`, { size: 10,
    fill: "soft" });
  const box = el("div");
  surface.finish(box);
  return box;
}

const trace = { calls: [], chosen: null };

async function loadTrace(list) {
  const box = byId("trace");
  try {
    const files = await Promise.all([...list].map(async (file) => ({ name: file.name, text: await file.text() })));
    const found = await ask("trace", null, {}, JSON.stringify({ files }));
    trace.calls = found.calls;
    const differs = (call) => call.differences.length ? ` — ${counted(call.differences.length, "difference")}` : "";
    const options = found.calls.map((call, i) => el("option", { value: i },
      `${call.title}, p = ${call.p}${differs(call)}`));
    const select = el("select", { id: "traced", "aria-label": "call of the trace", onchange: (event) =>
      chooseTraced(+event.target.value) }, ...options);
    const words = [counted(found.all, "call"), found.others ? `${found.others} by the library or failed` : "",
      found.missing.length ? `files of ranks ${found.missing.join(", ")} are missing` : "",
      found.fine ? "all as declared" : "not as declared"].filter(Boolean).join("; ");
    box.replaceChildren(el("p", { class: found.fine ? "good" : "bad" }, words), ...(options.length ? [select] : []),
      el("div", { id: "differences" }));
    if (options.length) chooseTraced(0);
  } catch (error) {
    box.replaceChildren(el("p", { class: "bad" }, error.message));
  }
}

function chooseTraced(i) {
  trace.chosen = trace.calls[i];
  const call = trace.chosen;
  const asked = new URLSearchParams(call.address);
  Object.assign(state, { collective: asked.get("collective"), p: +asked.get("p"), ppn: null, placement: "",
    nodes: asked.get("nodes") || "",
    set: asked.getAll("set"), text: null, cell: null, message: null });
  const first = call.differences.find((one) => one.step !== null);
  state.step = first ? first.step : 0;
  editor.counterexample = null;
  const notes = [];
  if (call.incomplete.length) {
    notes.push(el("p", { class: "bad" }, `did not complete it: ranks ${call.incomplete.join(", ")}`));
  }
  if (call.late.length) {
    const words = call.late.slice(0, 50).map((one) => `rank ${one.rank} (${seconds(one.after)})`).join(", ");
    notes.push(el("p", {}, `late (*): ${words} after the first rank, of ${seconds(call.late[0].of)} for the call`));
  }
  const list = call.differences.slice(0, 50).map((one) => el("li", {}, one.step === null ? one.text
    : el("button", { class: "link", onclick: () => { state.step = one.step; refresh(); } }, one.text)));
  byId("differences").replaceChildren(...notes, list.length ? el("ul", {}, ...list) : el("p", { class: "good" },
    "equal to the declaration"));
  refresh();
}
