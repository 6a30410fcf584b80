"use strict";
// The declaration: marked where the selected message comes from, and checked while it is edited.

const editor = { original: "", marks: [], timer: null, checking: 0, counterexample: null, ignored: false };

function setEditor(text, original) {
  editor.original = original;
  const box = byId("text");
  if (box.value !== text) box.value = text;
  box.readOnly = Boolean(embedded);
  byId("restore").hidden = text === original;
  markText([]);
}

/// Marks parts of the text: `{ start, end, error }`.
function markText(marks, scroll = false) {
  editor.marks = marks;
  const text = byId("text").value;
  const sorted = [...marks].filter((mark) => mark.end > mark.start).sort((a, b) => a.start - b.start);
  const parts = [];
  let at = 0;
  for (const mark of sorted) {
    if (mark.start < at) continue;
    parts.push(text.slice(at, mark.start), el("mark", { class: mark.error ? "error" : null }, text.slice(mark.start,
      mark.end)));
    at = mark.end;
  }
  const backdrop = byId("backdrop");
  backdrop.replaceChildren(...parts, text.slice(at), "\n");
  if (scroll && sorted.length) showLine(sorted[0].start);
  syncScroll();
}

function showLine(position, always = false) {
  const box = byId("text");
  const line = box.value.slice(0, position).split("\n").length - 1;
  const height = 18;
  if (always || line * height < box.scrollTop || (line + 3) * height > box.scrollTop + box.clientHeight) {
    box.scrollTop = Math.max(0, line * height - (always ? 4 : 80));
  }
}

function syncScroll() {
  byId("backdrop").scrollTop = byId("text").scrollTop;
  byId("backdrop").scrollLeft = byId("text").scrollLeft;
}

function edited() {
  const text = byId("text").value;
  state.text = text === editor.original ? null : text;
  byId("restore").hidden = state.text === null;
  markText([]);
  clearTimeout(editor.timer);
  editor.timer = setTimeout(checkText, 250);
}

/// Checks the text, and shows what comes of it.
async function checkText() {
  const number = ++editor.checking;
  const verdict = byId("verdict");
  if (state.text === null) {
    editor.counterexample = null;
    verdict.replaceChildren();
    return refresh();
  }
  verdict.replaceChildren(el("span", { class: "soft" }, "checking …"));
  try {
    const found = await ask("check", { ...state, nodes: "" }, {}, state.text);
    if (number !== editor.checking) return;
    editor.ignored = false;
    showVerdict(found);
  } catch (error) {
    if (number === editor.checking) verdict.replaceChildren(el("span", { class: "bad" }, error.message));
  }
}

function showVerdict(found) {
  const errors = found.errors || [];
  const verdict = byId("verdict");
  const words = { right: `right for every p up to ${found.p}`, nothing: "no p of its range lies in its domain",
    partly: `right up to p = ${found.p}; the compiler also checks up to ${found.of}` };
  if (errors.length) {
    const list = errors.map((error) => el("div", { class: "bad" },
      `${error.line ? `line ${error.line}: ` : ""}${error.message}`));
    verdict.replaceChildren(...list);
  } else {
    verdict.replaceChildren(el("span", { class: found.state === "nothing" ? "bad" : "good" }, words[found.state]));
  }
  editor.counterexample = found.state === "wrong" ? found.case : null;
  const marks = errors.filter((error) => error.start !== undefined).map(({ start, end }) => ({ start, end,
    error: true }));
  if (found.state !== "malformed") refresh({ jump: found.state === "wrong" }).then(() => markText(marks));
  else markText(marks);
}

/// The call that is shown: that of the controls, or the counterexample.
function shownCall() {
  const wrong = editor.counterexample && !editor.ignored ? editor.counterexample : null;
  const call = { collective: state.collective, p: state.p, ppn: state.ppn, placement: state.placement,
    nodes: state.nodes, set: state.set };
  if (!wrong) return call;
  return { ...call, p: wrong.p, ppn: wrong.ppn, placement: "", nodes: wrong.nodes || "", set: wrong.set,
    contract: true };
}

async function prove() {
  const box = byId("proved"), bar = byId("progress"), button = byId("prove");
  byId("proving").hidden = false;
  bar.removeAttribute("value");
  box.replaceChildren("proving …");
  button.disabled = true;
  try {
    const { job } = await ask("prove", state, {}, state.text || "");
    for (;;) {
      const { done, of, result } = await ask("proof", null, { job });
      if (of) {
        bar.max = of;
        bar.value = done;
        box.replaceChildren(`${done} of ${counted(of, "obligation")}`);
      }
      if (result) {
        bar.max = bar.value = 1;
        box.replaceChildren(...proofWords(result));
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  } catch (error) {
    box.replaceChildren(el("span", { class: "bad" }, error.message));
  } finally {
    button.disabled = false;
  }
}

function proofWords(result) {
  if (result.message) return [el("p", { class: "bad" }, result.message)];
  const head = result.state === "proved"
    ? el("p", { class: "good" }, "Proved for all p. `roundel prove` also proves the lemmas and writes the record.")
    : el("p", { class: "bad" }, "Not proved for all p.");
  const found = result.found.map((clause) => el("p", {}, "found: ", el("code", {}, clause)));
  const rows = result.properties.map((one) => el("tr", {}, el("td", {}, one.property),
    el("td", { class: "n" }, `${one.proved} of ${one.of}`), el("td", {}, one.open.slice(0, 2).join("; "))));
  return [head, ...found, ...result.missing.map((text) => el("p", { class: "soft" }, text)), table(["property",
    "proved", "open"], rows)];
}
