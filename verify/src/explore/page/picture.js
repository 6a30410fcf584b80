"use strict";
// The picture of a step: ranks side by side in the boxes of their nodes, a column of slots for each, messages above.

const FEW = 64;

class Picture {
  constructor(container) {
    this.container = container;
    this.view = null;
    this.step = null;
    this.marks = null;
    this.hops = [];
    container.addEventListener("click", (event) => this.clicked(event));
  }

  show(view, step, { marks = null, hops = [], chosen = {} } = {}) {
    Object.assign(this, { view, step, marks, hops, chosen });
    this.draw();
  }

  /// Where everything is.
  layout() {
    const { view } = this;
    const space = Math.max(280, this.container.clientWidth || 800) - 4;
    const few = view.p <= FEW;
    const order = [...Array(view.p).keys()].sort((a, b) => view.nodes[a] - view.nodes[b] || a - b);
    const nodes = new Set(view.nodes).size;
    const left = few ? 30 : 4;
    const gap = few && nodes > 1 ? 8 : 0;
    const column = Math.min(48, (space - left - 4 - gap * nodes) / view.p);
    const wide = few ? Math.max(11, column) : column;
    const rows = view.rows.count;
    const tall = few ? Math.max(5, Math.min(18, 620 / Math.max(1, rows))) : Math.min(6, 720 / Math.max(1, rows));
    const x = new Array(view.p);
    let at = left;
    order.forEach((rank, i) => {
      if (i > 0 && view.nodes[rank] !== view.nodes[order[i - 1]]) at += gap;
      x[rank] = at;
      at += wide;
    });
    const arcs = view.steps.length ? Math.min(110, 30 + 3 * view.p) : 10;
    const head = few ? 20 : 14;
    const lines = view.rows.each ? Math.max(1, Math.round(rows / view.rows.each)) : 1;
    const lineGap = lines > 1 ? 14 : 0;
    const top = arcs + head + 6;
    const y = (row) => top + row * tall + (view.rows.each ? Math.floor(row / view.rows.each) : 0) * lineGap + lineGap;
    const height = top + rows * tall + lines * lineGap + (nodes > 1 ? 24 : 8);
    return { few, order, nodes, left, wide, tall, x, y, arcs, head, top, rows, lines, lineGap, height, width: at + 4 };
  }

  draw() {
    const { view, step } = this;
    if (view.mode === "outline") return drawOutline(this.container, view, state.step);
    const at = this.at = this.layout();
    const label = `${view.name}, ${view.case}: ${captionOf(view, step.step)}`;
    const surface = at.few ? new SvgSurface(at.width, at.height, label) : new CanvasSurface(at.width, at.height, label);
    const fault = view.verdict.state === "wrong" && view.verdict.step === step.step ? view.verdict : null;
    this.drawNodes(surface);
    this.drawArcs(surface, fault);
    this.drawRanks(surface, fault);
    this.drawSlots(surface, fault);
    const body = el("div");
    surface.finish(body);
    const title = byId("other").hidden ? [] : [el("h3", {}, `${view.name} · ${view.case}`)];
    this.container.replaceChildren(...title, body);
  }

  drawNodes(surface) {
    const { view, at } = this;
    if (at.nodes < 2) return;
    const bounds = new Map();
    for (const rank of at.order) {
      const known = bounds.get(view.nodes[rank]) || [Infinity, 0];
      bounds.set(view.nodes[rank], [Math.min(known[0], at.x[rank]), Math.max(known[1], at.x[rank] + at.wide)]);
    }
    for (const [node, [from, to]] of bounds) {
      surface.rect(from - (at.few ? 3 : 0), at.arcs - 4, to - from + (at.few ? 6 : 0), at.height - at.arcs + 2, "panel",
        { stroke: "line", round: 6 });
      const name = [`node ${node}`, `${node}`].find((text) => to - from > 6.5 * text.length + 8);
      if (name) surface.text((from + to) / 2, at.height - 8, name, { fill: "soft" });
    }
  }

  drawArcs(surface, fault) {
    const { view, step, at, chosen } = this;
    const middle = (rank) => at.x[rank] + at.wide / 2;
    const furthest = Math.max(1, at.width - at.left);
    const lift = (a, b) => 16 + (at.arcs - 26) * Math.sqrt(Math.abs(middle(a) - middle(b)) / furthest);
    const isAtFault = (from, to) => fault && fault.messages.some(([a, b]) => a === from && b === to);
    const late = [];
    step.messages.forEach(([from, to, blocks, remote, , words], i) => {
      if (to >= view.p) return;
      const wrong = isAtFault(from, to) || this.differs(from, to);
      const style = { thick: wrong || chosen.message === i ? 3 : remote ? 1.7 : 1.2, dash: wrong, head: at.few,
        data: `data-message="${i}"`, faint: Math.max(0.07, Math.min(0.6, 70 / step.messages.length)),
          title: `${from} → ${to}: ${words || counted(blocks, "block")}` };
      const shift = at.few ? 2.5 : 0;
      const draw = () => surface.arc(middle(from) + shift, middle(to) - shift, at.arcs - 4, lift(from, to),
        wrong ? "wrong" : chosen.message === i ? "chosen" : remote ? "between" : "local", style);
      if (wrong || chosen.message === i) late.push(draw);
      else draw();
    });
    const expected = [fault && fault.expected, ...this.marked("sent"), ...this.marked("received")].filter(Boolean);
    for (const [from, to] of expected) {
      late.push(() => surface.arc(middle(from), middle(to), at.arcs - 4, lift(from, to) + 6, "wrong",
        { thick: 3, dash: true, head: at.few, title: `${from} → ${to}: differs` }));
    }
    for (const hop of this.hops) {
      late.push(() => surface.arc(middle(hop.from), middle(hop.to), at.arcs - 4, lift(hop.from, hop.to), "chosen",
        { thick: 2.5, head: at.few, title: `round ${hop.step - 1}: ${hop.from} → ${hop.to}` }));
    }
    late.forEach((draw) => draw());
  }

  /// The messages of the trace with a difference of this kind, in this step.
  marked(...kinds) {
    if (!this.marks) return [];
    const here = this.marks.differences.filter((one) => kinds.includes(one.what) && one.step === this.step.step);
    return here.map((one) => [one.from, one.to]);
  }

  differs(from, to) {
    return this.marked("not-sent", "not-received").some(([a, b]) => a === from && b === to);
  }

  drawRanks(surface, fault) {
    const { view, at, chosen } = this;
    const every = at.wide >= 22 ? 1 : Math.ceil(26 / at.wide);
    view.nodes.forEach((_, rank) => {
      const wrong = fault && fault.ranks.includes(rank);
      const gone = this.marks && (this.marks.incomplete.includes(rank) || this.marks.absent.includes(rank));
      const late = this.marks && this.marks.late.some((one) => one.rank === rank);
      const title = `rank ${rank}${gone ? ", which did not complete this call" : late ? ", which was late" : ""}`;
      if (at.few) {
        surface.rect(at.x[rank] + 1, at.arcs, at.wide - 2, at.head - 2, wrong || gone ? "wrong" : "head",
          { round: 3, data: `data-rank="${rank}"`, title,
            stroke: rank === chosen.rank ? "chosen" : late ? "between" : null, thick: 2 });
      } else if (wrong || gone || late || rank === chosen.rank) {
        surface.rect(at.x[rank] - 1, at.arcs + at.head + 1, Math.max(3, at.wide), 4, wrong || gone ? "wrong"
          : rank === chosen.rank ? "chosen" : "between");
      }
      const name = gone ? `${rank}!` : late ? `${rank}*` : `${rank}`;
      if (rank % every === 0) {
        surface.text(at.x[rank] + at.wide / 2, at.arcs + 13, name,
          { size: at.wide < 18 ? 8 : 11, fill: at.few ? "head-ink" : "soft", bold: at.few });
      }
    });
  }

  drawSlots(surface, fault) {
    const { view, step, at, chosen } = this;
    if (!at.rows) {
      surface.text(at.left + 4, at.top + 12, "", { anchor: "start" });
      return;
    }
    const bytes = step.bytes ||= decodeBytes(step.slots);
    const byte = (rank, row) => bytes[rank * at.rows + row];
    const name = (byte) => slotColour(byte, view.rows.meaning);
    if (!at.few) {
      surface.bitmap(at.left, at.y(0), at.wide * view.p, at.tall * at.rows, view.p, at.rows,
        (column, row) => byte(at.order[column], row), name);
    } else {
      const every = Math.ceil(11 / at.tall);
      for (let row = 0; row < at.rows; row++) {
        if (row % at.rows % every === 0) {
          surface.text(at.left - 6, at.y(row) + at.tall / 2 + 3.5, row % view.rows.each, { anchor: "end", size: 9,
            fill: "soft" });
        }
      }
      for (let line = 0; at.lines > 1 && line < at.lines; line++) {
        surface.text(at.left, at.y(line * view.rows.each) - 3, view.rows.lines[line] || `line ${line}`,
          { anchor: "start", size: 10, fill: "soft" });
      }
      for (let rank = 0; rank < view.p; rank++) {
        for (let row = 0; row < at.rows; row++) {
          this.drawSlot(surface, rank, row, name(byte(rank, row)), bytes);
        }
      }
    }
    const outline = (rank, row, stroke) => surface.rect(at.x[rank], at.y(row), Math.max(3, at.wide), Math.max(3,
      at.tall), null,
      { stroke, thick: 2.5, dash: stroke === "wrong" });
    for (const [rank, row] of fault ? fault.slots : []) if (row < at.rows) outline(rank, row, "wrong");
    if (chosen.cell && chosen.cell.row < at.rows && chosen.cell.rank < view.p) outline(chosen.cell.rank,
      chosen.cell.row, "chosen");
  }

  drawSlot(surface, rank, row, colour, bytes) {
    const { view, step, at } = this;
    const i = rank * at.rows + row;
    const held = bytes[i] >> 4;
    surface.rect(at.x[rank] + 1, at.y(row), at.wide - 2, at.tall - 1, colour,
      { stroke: "line", thick: 0.7, data: `data-cell="${rank}.${row}"` });
    if (at.tall < 11 || !held) return;
    const plain = view.rows.meaning === "blocks" || view.rows.meaning === "contributors" ? `${row % view.rows.each}`
      : "";
    const label = step.labels ? step.labels[i] : plain;
    const size = Math.min(10, (at.wide - 3) / Math.max(1, label.length) * 1.7);
    if (label && size >= 5.5) {
      surface.text(at.x[rank] + at.wide / 2, at.y(row) + at.tall / 2 + 3, label, { size, bold: (bytes[i] & 1) === 1 });
    }
  }

  clicked(event) {
    const target = event.target.closest("[data-cell], [data-message], [data-rank]");
    if (target && target.dataset.cell) {
      const [rank, row] = target.dataset.cell.split(".").map(Number);
      return this.container.dispatchEvent(new CustomEvent("cell", { detail: { rank, row } }));
    }
    if (target && target.dataset.message) {
      return this.container.dispatchEvent(new CustomEvent("message", { detail: +target.dataset.message }));
    }
    if (target && target.dataset.rank) {
      return this.container.dispatchEvent(new CustomEvent("rank", { detail: +target.dataset.rank }));
    }
    if (event.target.tagName !== "CANVAS" || !this.at || !this.at.rows) return;
    const column = Math.floor((event.offsetX - this.at.left) / this.at.wide);
    const row = Math.floor((event.offsetY - this.at.y(0)) / this.at.tall);
    if (column >= 0 && column < this.view.p && row < this.at.rows) {
      const rank = this.at.order[column];
      const what = row < 0 ? new CustomEvent("rank", { detail: rank }) : new CustomEvent("cell", { detail: { rank,
        row } });
      this.container.dispatchEvent(what);
    }
  }
}

function decodeBytes(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/// The colour of a slot: bits 4 to 7 say how much there is, bit 2 whether from the start, 1 and 0 whether it is new.
function slotColour(byte, meaning) {
  const level = byte >> 4;
  if (level === 0) return "empty";
  if (byte & 1) return byte & 2 ? "remote" : "fresh";
  if (byte & 4) return "own";
  const counts = meaning === "slots" || meaning === "destinations";
  return counts && level === 15 ? "whole" : "held";
}

function captionOf(view, step) {
  if (step === 0) return `start, before ${counted(view.steps.length, "round")}`;
  const { messages, blocks } = view.steps[step - 1];
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const between = view.ppn < view.p
    ? `, ${counted(messages[1], "message")} of these between nodes` : "";
  const sent = `${counted(sum(messages), "message")}, ${counted(sum(blocks), "block")}`;
  return `round ${step - 1} of ${view.steps.length}: ${sent}${between}`;
}

/// More ranks than can be drawn: what each round sends.
function drawOutline(container, view, chosen) {
  const width = Math.max(280, container.clientWidth || 800) - 4, height = 260, left = 8, bottom = 30;
  const surface = new SvgSurface(width, height, `${view.name}, ${view.case}: messages of each round`);
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const most = Math.max(1, ...view.steps.map((step) => sum(step.messages)));
  const bar = (width - left - 8) / Math.max(1, view.steps.length);
  view.steps.forEach((step, i) => {
    let y = height - bottom;
    step.messages.forEach((count, level) => {
      const tall = (height - bottom - 30) * count / most;
      y -= tall;
      const last = level === view.levels.length - 1 && view.levels.length > 1;
      surface.rect(left + i * bar, y, Math.max(1, bar - 2), tall, last ? "between" : "local",
        { title: `round ${i}: ${counted(count, "message")} ${view.levels[level]}, ` +
          counted(step.blocks[level], "block"),
          stroke: i + 1 === chosen ? "chosen" : null, thick: 3 });
    });
    if (bar > 24) surface.text(left + (i + 0.5) * bar - 1, height - 14, i, { fill: "soft" });
  });
  surface.text(left, 14, `messages of each round: ${view.levels.join(", ")} (at most ${most.toLocaleString("en")})`,
    { anchor: "start", fill: "soft", size: 12 });
  surface.text(width / 2, height - 2, "round", { fill: "soft", size: 10 });
  surface.finish(container);
}
