"use strict";
// Questions to the server; in a page that is one file, the answers are in the file.

const embedded = typeof EMBEDDED === "undefined" ? null : EMBEDDED;

class NoServer extends Error {
  constructor() {
    super("This page is a file, which has the answers for one call only: run `roundel explore` for this.");
  }
}

async function ask(path, call, extra = {}, text = null) {
  const parts = new URLSearchParams(call ? callQuery(call) : "");
  for (const [name, value] of Object.entries(extra)) parts.append(name, value);
  const query = parts.toString();
  const address = `/api/${path}${query ? "?" + query : ""}`;
  if (embedded) {
    if (text === null && address in embedded.answers) return embedded.answers[address];
    throw new NoServer();
  }
  const answer = await fetch(address, text === null ? {} : { method: "POST", body: text });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
}

/// Elements by their id, and new ones: `el("td", { class: "n" }, "text", child, …)`.
const byId = (id) => document.getElementById(id);

function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function table(heads, rows) {
  const head = el("tr", {}, ...heads.map((text) => el("th", { scope: "col" }, text)));
  return el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows));
}

const counted = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
