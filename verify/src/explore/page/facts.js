"use strict";
// What is known about the step, the rank and the slot that are selected.

function showClaims(rank, step) {
  const box = byId("claims");
  byId("h-claims").textContent = rank.rounds ? `What rank ${rank.rank} does` : "Invariant at this round";
  if (rank.rounds) return box.replaceChildren(ownRounds(rank));
  const claims = rank.note ? [] : rank.claims[step] || [];
  const parts = claims.flatMap((claim) => [
    el("p", { class: "soft" }, `rank ${rank.rank}${claim.variables ? `: ${claim.variables}` : ""}`),
    table(["claim", "says"], claim.holds.map((hold) => el("tr", {},
      el("td", {}, el("code", {}, hold.text), hold.found ? el("span", { class: "soft" }, " (found by the prover)")
        : null),
      el("td", {}, hold.value)))),
  ]);
  const held = rank.held[step];
  box.replaceChildren(...(parts.length ? parts : [el("p", { class: "soft" }, rank.note ||
    "Nothing is claimed at this point.")]),
    ...(held === undefined ? [] : [el("p", {}, `rank ${rank.rank} holds: ${held || "nothing"}`)]));
}

/// The messages of one rank of very many.
function ownRounds(rank) {
  const side = (list, word) => list.slice(0, 4).map(([peer, , remote, text]) =>
    `${text} ${word} ${peer}${remote ? " (other node)" : ""}`).join("; ") +
    (list.length > 4 ? `; … (${list.length})` : "");
  return table(["round", `rank ${rank.rank} sends`, "receives"], rank.rounds.slice(0, 200).map((round) => el("tr", {},
    el("td", { class: "n" }, `${round.round}`), el("td", {}, side(round.sends, "to")), el("td", {}, side(round.receives, "from")))));
}

function showBounds(rank, step) {
  const rows = (rank.bounds || []).map((bound) => {
    const used = bound.used[step];
    const over = bound.value !== null && used > bound.value;
    const amount = `${used}${bound.value === null ? "" : ` of ${bound.exact ? "" : "at most "}${bound.value}`}`;
    return el("tr", {}, el("td", {}, el("code", {}, bound.text), bound.checked ? el("span", { class: "soft" },
      " (checked)") : null),
      el("td", { class: over ? "n bad" : "n" }, amount), el("td", { class: "soft" }, bound.who));
  });
  const none = rank.bounds ? "It declares none." : "They are not counted for an outline: choose fewer ranks.";
  byId("bounds").replaceChildren(rows.length ? table(["bound", "used", ""], rows) : el("p", { class: "soft" }, none));
}

function showProof(view) {
  const { range, bounds, call, by } = view.proof;
  const line = (...parts) => el("p", {}, ...parts);
  const verdict = view.verdict.state === "right" ? line(el("span", { class: "good" }, "✓ "),
    "this call was checked exactly just now")
    : view.verdict.state === "wrong" ? line(el("span", { class: "bad" }, "✗ this call is wrong: "),
      view.verdict.message)
      : line("this call has too many ranks to be checked while you wait");
  const evidence = by.map((one) => el("li", {}, one.engine === "smt"
    ? `SMT (${one.solvers.join(", ")}): ${one.what}, with ${counted(one.lemmas, "lemma")} about arithmetic`
    : `exhaustive check: ${one.what}`,
  ...(one.found || []).map((found) => el("div", {}, "found: ", el("code", {}, found))),
  ...(one.gaps || []).map((gap) => el("div", { class: "soft" }, `not encoded: ${gap}`))));
  byId("proof").replaceChildren(verdict,
    range ? line(`proved for ${range}`) : line(el("span", { class: "soft" }, "there is no proof record for this text")),
    bounds ? line(`its bounds are proved for ${bounds}`) : "",
    call && !call.proved ? line(el("span", { class: "bad" }, "not proved for this call: "), call.why) : "",
    evidence.length ? el("ul", {}, ...evidence) : "");
}

function showMessages(step, chosen, select) {
  const rows = step.messages.slice(0, 1024).map(([from, to, blocks, remote, , words], i) => el("tr",
    { class: i === chosen ? "chosen" : null },
    el("td", { class: "n" }, el("button", { class: "link", onclick: () => select(i),
      "aria-label": `select message ${from} to ${to}` }, `${from} → ${to}`)),
    el("td", { class: "n" }, `${blocks}`), el("td", {}, remote ? "between nodes" : "inside a node"), el("td", {},
      words || "")));
  const more = step.messages.length > 1024 ? [el("p", { class: "soft" }, `and ${step.messages.length - 1024} more`)]
    : [];
  byId("messages").replaceChildren(rows.length ? table(["message", "blocks", "", "content"], rows) : "no messages",
    ...more);
}

/// What is in a slot after a step; returns the messages that brought it there.
function showCell(cell, step, chooseRoute) {
  const hopList = (hops) => hops.length
    ? el("ol", {}, ...hops.map((hop) => el("li", {}, `round ${hop.step - 1}: from rank ${hop.from} to rank ${hop.to}`)))
    : el("p", {}, "It was there from the start, or never arrives.");
  const box = byId("cell");
  if (cell.kind === "block") {
    box.replaceChildren(el("p", {}, `Block ${cell.block} at rank ${cell.rank}:`), hopList(cell.hops));
    return cell.hops.filter((hop) => hop.step <= step);
  }
  if (cell.kind === "route") {
    box.replaceChildren(el("p", {}, `The way of block ${cell.source} → ${cell.destination}:`), hopList(cell.hops));
    return cell.hops;
  }
  if (cell.kind === "sources") {
    const sources = cell.sources[step] || [];
    const links = sources.slice(0, 128).map((source) => el("button", { class: "link",
      onclick: () => chooseRoute(source * cell.p + cell.destination) }, `${source} → ${cell.destination}`));
    box.replaceChildren(el("p", {},
      `Rank ${cell.rank} holds ${counted(sources.length, "block")} for rank ${cell.destination}.`,
      sources.length ? " Choose one to see its way:" : ""),
      el("p", {}, ...links.flatMap((link) => [link, " "])));
    return [];
  }
  if (cell.kind !== "slot") return [];
  const value = [...cell.values].reverse().find((one) => one.step <= step);
  const where = `${cell.line ? `line ${cell.line}, ` : ""}block ${cell.block} at rank ${cell.rank}`;
  const list = value.contributors;
  const words = list.length === 0 ? "is empty" : list.length === cell.p ? "has the contributions of all ranks"
    : `has the contributions of ${counted(list.length, "rank")}: ` +
      `${list.slice(0, 40).join(", ")}${list.length > 40 ? ", …" : ""}`;
  box.replaceChildren(el("p", {}, `${where} ${words}.`), ...(value.tree !== null && list.length > 1
    ? [treePicture(value.tree)] : []));
  return [];
}

/// The tree of a reduction: pairs of trees, and ranks as leaves.
function treePicture(tree) {
  const leaves = [];
  const place = (node) => {
    if (!Array.isArray(node)) {
      leaves.push(node);
      return { x: leaves.length - 0.5, depth: 0, rank: node };
    }
    const [a, b] = [place(node[0]), place(node[1])];
    return { x: (a.x + b.x) / 2, depth: Math.max(a.depth, b.depth) + 1, parts: [a, b] };
  };
  const root = place(tree);
  const wide = Math.max(9, Math.min(28, 380 / leaves.length)), tall = Math.max(8, Math.min(24, 240 / (root.depth + 1)));
  const surface = new SvgSurface(wide * leaves.length + 8, tall * (root.depth + 1) + 22,
    `tree with leaves ${leaves.join(", ")}`);
  const y = (node) => tall * (root.depth - node.depth) + 12;
  const draw = (node) => {
    for (const part of node.parts || []) {
      const line = `M${node.x * wide + 4} ${y(node)}L${part.x * wide + 4} ${y(part)}`;
      surface.parts.push(`<path fill="none" style="stroke:var(--soft)" d="${line}"/>`);
      draw(part);
    }
    if (!node.parts) surface.text(node.x * wide + 4, y(node) + 12, node.rank, { size: Math.min(11, wide * 0.6) });
    else surface.rect(node.x * wide + 1.5, y(node) - 2.5, 5, 5, "local", { round: 2.5 });
  };
  draw(root);
  const box = el("div", { style: "overflow-x:auto" });
  surface.finish(box);
  box.append(el("p", { class: "soft" }, "The operands of every node, up to their order."));
  return box;
}
