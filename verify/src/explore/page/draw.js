"use strict";
// Two surfaces with the same strokes: SVG for few ranks, which prints well, and a canvas for many, which is fast.
// Colours are names of the style sheet.

const escapeText = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g,
  "&gt;").replace(/"/g, "&quot;");

class SvgSurface {
  constructor(width, height, label) {
    this.parts = [];
    this.open = `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${escapeText(label)}" ` +
      `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `font-family="system-ui, Liberation Sans, sans-serif">`;
  }
  rect(x, y, w, h, fill, { stroke = null, data = "", title = "", round = 0, thick = 1, dash = false } = {}) {
    const edge = stroke ? `;stroke:var(--${stroke});stroke-width:${thick}${dash ? ";stroke-dasharray:4 3" : ""}` : "";
    const tip = title ? `<title>${escapeText(title)}</title>` : "";
    this.parts.push(`<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="${round}" ${data} ` +
      `style="fill:${fill ? `var(--${fill})` : "none"}${edge}">${tip}</rect>`);
  }
  text(x, y, text, { size = 11, fill = "ink", anchor = "middle", bold = false } = {}) {
    this.parts.push(`<text x="${x}" y="${y}" font-size="${size}" text-anchor="${anchor}" pointer-events="none" ` +
      `${bold ? 'font-weight="600" ' : ""}style="fill:var(--${fill})">${escapeText(text)}</text>`);
  }
  arc(x1, x2, y, height, stroke, { thick = 1.3, dash = false, data = "", title = "", head = true } = {}) {
    const d = arcPath(x1, x2, y, height);
    const line = `d="${d}" fill="none" `;
    const tip = title ? `<title>${escapeText(title)}</title>` : "";
    const wide = 'stroke="transparent" stroke-width="7" pointer-events="stroke"';
    if (data) this.parts.push(`<path ${line}${data} ${wide}>${tip}</path>`);
    this.parts.push(`<path ${line}pointer-events="none" style="stroke:var(--${stroke});stroke-width:${thick}` +
      `${dash ? ";stroke-dasharray:5 3" : ""}"/>`);
    if (head) {
      const lean = Math.max(-3, Math.min(3, (x1 - x2) / 40));
      this.parts.push(`<path pointer-events="none" d="M${x2} ${y}l${-3 + lean} -7l6 0z" ` +
        `style="fill:var(--${stroke})"/>`);
    }
  }
  bitmap() {}
  finish(container) { container.innerHTML = this.open + this.parts.join("") + "</svg>"; }
}

function arcPath(x1, x2, y, height) {
  if (x1 === x2) return `M${x1 - 4} ${y}C${x1 - 14} ${y - 26} ${x1 + 14} ${y - 26} ${x1 + 4} ${y}`;
  const lift = y - height * 1.33;
  const near = (x2 - x1) * 0.12;
  return `M${x1} ${y}C${x1 + near} ${lift} ${x2 - near} ${lift} ${x2} ${y}`;
}

class CanvasSurface {
  constructor(width, height, label) {
    const scale = Math.max(1, window.devicePixelRatio || 1);
    this.canvas = el("canvas", { role: "img", "aria-label": label, tabindex: "0" });
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.context = this.canvas.getContext("2d");
    this.context.scale(scale, scale);
    this.style = getComputedStyle(document.documentElement);
    this.known = {};
  }
  colour(name) { return this.known[name] ||= this.style.getPropertyValue(`--${name}`).trim() || "#888"; }
  rect(x, y, w, h, fill, { stroke = null, thick = 1 } = {}) {
    if (fill) { this.context.fillStyle = this.colour(fill); this.context.fillRect(x, y, w, h); }
    if (stroke) {
      this.context.strokeStyle = this.colour(stroke);
      this.context.lineWidth = thick;
      this.context.strokeRect(x, y, w, h);
    }
  }
  text(x, y, text, { size = 11, fill = "ink", anchor = "middle" } = {}) {
    this.context.font = `${size}px system-ui, sans-serif`;
    this.context.textAlign = anchor === "middle" ? "center" : anchor;
    this.context.fillStyle = this.colour(fill);
    this.context.fillText(text, x, y);
  }
  arc(x1, x2, y, height, stroke, { thick = 1, faint = 0.5 } = {}) {
    this.context.strokeStyle = this.colour(stroke);
    this.context.lineWidth = thick;
    this.context.globalAlpha = thick > 2 ? 1 : faint;
    this.context.stroke(new Path2D(arcPath(x1, x2, y, height)));
    this.context.globalAlpha = 1;
  }
  /// One dot for each slot, scaled to the size of the grid: `byte(column, row)` is what it holds, and `name(byte)` the
  /// colour of that. There may be a million slots.
  bitmap(x, y, w, h, columns, rows, byte, name) {
    const small = el("canvas");
    small.width = columns;
    small.height = rows;
    const context = small.getContext("2d");
    const image = context.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const colours = Uint32Array.from({ length: 256 }, (_, i) => pixelOf(this.colour(name(i))));
    for (let row = 0, at = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) pixels[at++] = colours[byte(column, row)];
    }
    context.putImageData(image, 0, 0);
    this.context.imageSmoothingEnabled = w < columns || h < rows;
    this.context.drawImage(small, x, y, w, h);
  }
  finish(container) { container.replaceChildren(this.canvas); }
}

/// The four bytes of a colour, as a number.
function pixelOf(text) {
  const hex = /^#(..)(..)(..)$/.exec(text);
  const bytes = hex ? [...hex.slice(1).map((digits) => parseInt(digits, 16)), 255] : [136, 136, 136, 255];
  return new Uint32Array(Uint8Array.from(bytes).buffer)[0];
}
