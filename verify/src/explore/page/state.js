"use strict";
// What the page shows. All of it is in the address, behind `#`, so that a link shows the same.

const state = { collective: "", p: 8, ppn: null, placement: "", nodes: "", set: [], step: 0, rank: 0, cell: null,
  message: null, compare: "", text: null, machine: "", other: "" };

/// Texts longer than this are not kept in the address.
const LONGEST_LINK = 16000;

function readState() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const number = (name, otherwise) => {
    const value = parseInt(parts.get(name), 10);
    return Number.isFinite(value) && value >= 0 ? value : otherwise;
  };
  state.collective = parts.get("collective") || state.collective;
  state.p = number("p", 8);
  state.ppn = number("ppn", null);
  state.placement = parts.get("placement") === "cyclic" ? "cyclic" : "";
  state.nodes = parts.get("nodes") || "";
  state.set = parts.getAll("set");
  state.step = number("step", 0);
  state.rank = number("rank", 0);
  const cell = /^(\d+)\.(\d+)$/.exec(parts.get("cell") || "");
  state.cell = cell ? { rank: +cell[1], row: +cell[2] } : null;
  state.compare = parts.get("compare") || "";
  state.other = parts.get("other") || "";
  state.machine = parts.get("machine") || "";
  state.text = parts.get("text");
  state.message = null;
}

/// The call as a part of an address; the server writes the parts in the same order.
function callQuery(call) {
  const parts = new URLSearchParams();
  parts.append("collective", call.collective);
  parts.append("p", call.p);
  if (call.ppn && !call.nodes) parts.append("ppn", call.ppn);
  if (call.placement && !call.nodes) parts.append("placement", call.placement);
  if (call.nodes) parts.append("nodes", call.nodes);
  for (const one of call.set) parts.append("set", one);
  if (call.contract) parts.append("contract", "1");
  return parts.toString();
}

function writeState() {
  const parts = new URLSearchParams(callQuery(state));
  if (state.step) parts.append("step", state.step);
  if (state.rank) parts.append("rank", state.rank);
  if (state.cell) parts.append("cell", `${state.cell.rank}.${state.cell.row}`);
  if (state.compare) parts.append("compare", state.compare);
  if (state.compare && state.other) parts.append("other", state.other);
  if (state.machine) parts.append("machine", state.machine);
  if (state.text !== null && state.text.length < LONGEST_LINK) parts.append("text", state.text);
  const hash = "#" + parts;
  if (hash !== location.hash) history.replaceState(null, "", hash);
}
