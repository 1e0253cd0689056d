/** Markdown as elements: text is always text, and links lead to the web only. */

import { element } from "./elements.js";

// Texts may be hostile: no span is searched further than this, so that time does not grow with
// the square of the length.
const MAX_SPAN = 2000;
const INLINE = new RegExp(
  [
    `(?<!\`)(\`{1,8})(?!\`)([^\`]|[^\`][\\s\\S]{0,${MAX_SPAN}}?[^\`])\\1(?!\`)`,
    `\\*\\*(?=\\S)([\\s\\S]{0,${MAX_SPAN}}?\\S)\\*\\*`,
    String.raw`(?<![\w*])\*(?=\S)([^*]*?\S)\*(?!\w)`,
    String.raw`(?<!\w)_(?=\S)([^_]*?\S)_(?!\w)`,
    `\\[([^[\\]]{1,${MAX_SPAN}})\\]\\((https?:\\/\\/[^\\s)]{1,${MAX_SPAN}})\\)`,
  ].join("|"),
  "g",
);
const BULLET = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const FENCE = /^\s*(`{3,}|~{3,})\s*([\w+-]*)/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*)$/;
const RULE = /^\s*([-*_])(\s*\1){2,}\s*$/;
const QUOTE = /^\s*>/;
const TABLE_DASHES = /^[\s|:-]+$/;
const INDENTED = /^\s+\S/;
const MAX_DEPTH = 8;

/** The words of a line with code, emphasis and links. */
function renderInline(text, depth = 0) {
  if (depth >= MAX_DEPTH) return [text];
  const words = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    words.push(text.slice(end, match.index), renderSpan(match, depth));
    end = match.index + match[0].length;
  }
  words.push(text.slice(end));
  return words;
}

/** Code, emphasis or a link that was found in a line. */
function renderSpan([, , code, strong, starred, underscored, label, href], depth) {
  if (code !== undefined) return element("code", {}, code);
  const renderInside = (words) => renderInline(words, depth + 1);
  if (strong !== undefined) return element("strong", {}, renderInside(strong));
  if (label === undefined) return element("em", {}, renderInside(starred ?? underscored));
  return element("a", { href, rel: "noopener noreferrer", target: "_blank" }, renderInside(label));
}

/** The words of a heading, without the marks that may close it. */
function headingWords(text) {
  const words = text.trimEnd();
  let end = words.length;
  while (words[end - 1] === "#") end -= 1;
  return words.slice(0, end).trimEnd();
}

/** Whether a line is the second line of a table. */
const isTableDashes = (line) => line.includes("-") && TABLE_DASHES.test(line);

/** The cells of a line of a table. */
function splitCells(line) {
  const inside = line.trim().replace(/^\||\|$/g, "");
  return inside.split("|").map((cell) => cell.trim());
}

function renderTable(lines) {
  const renderRow = (line, kind) => {
    const cells = splitCells(line).map((cell) => element(kind, {}, renderInline(cell)));
    return element("tr", {}, cells);
  };
  const body = lines.slice(2).map((line) => renderRow(line, "td"));
  return element("div", { class: "wide" }, element("table", {}, renderRow(lines[0], "th"), body));
}

function renderList(lines, depth) {
  const [, indent, number] = BULLET.exec(lines[0]);
  const items = [];
  for (const line of lines) {
    const match = BULLET.exec(line);
    if (match && match[1].length <= indent.length) {
      items.push([match[3]]);
    } else {
      const spaces = Math.min(indent.length + 2, line.search(/\S|$/));
      items.at(-1).push(line.slice(spaces));
    }
  }
  const elements = items.map((item) => element("li", {}, renderBlocks(item, depth + 1, true)));
  if (number) return element("ol", { start: number }, elements);
  return element("ul", {}, elements);
}

/** Whether a line begins a block, so that no paragraph goes on in it. */
function beginsBlock(line) {
  return FENCE.test(line) || BULLET.test(line) || /^\s*(>|#{1,6}\s)/.test(line);
}

/** Some lines, of which blocks take one after the other. */
class LineReader {
  constructor(lines) {
    this.lines = lines;
    this.place = 0;
  }

  get current() {
    return this.lines[this.place];
  }

  get next() {
    return this.lines[this.place + 1] ?? "";
  }

  get atEnd() {
    return this.place >= this.lines.length;
  }

  skip() {
    this.place += 1;
  }

  /** The current line and those after it for which a condition holds. */
  takeWhile(holds) {
    const start = this.place;
    do this.place += 1;
    while (!this.atEnd && holds(this.current));
    return this.lines.slice(start, this.place);
  }
}

/** The next block of some lines, null if it is a paragraph. */
function renderBlock(reader, depth) {
  const line = reader.current;
  const fence = FENCE.exec(line);
  if (fence) {
    const code = reader.takeWhile((other) => !other.trim().startsWith(fence[1])).slice(1);
    reader.skip();
    return element("pre", { class: "code", tabindex: 0 }, element("code", {}, code.join("\n")));
  }
  const heading = HEADING.exec(line);
  if (heading) {
    reader.skip();
    return element(`h${Math.min(6, heading[1].length + 3)}`, {}, renderInline(headingWords(heading[2])));
  }
  if (RULE.test(line)) {
    reader.skip();
    return element("hr");
  }
  if (QUOTE.test(line)) {
    const quoted = reader.takeWhile((other) => QUOTE.test(other));
    const inside = quoted.map((other) => other.replace(/^\s*> ?/, ""));
    return element("blockquote", {}, renderBlocks(inside, depth + 1));
  }
  if (BULLET.test(line)) {
    const lines = reader.takeWhile((other) => BULLET.test(other) || INDENTED.test(other));
    return renderList(lines, depth);
  }
  if (line.includes("|") && isTableDashes(reader.next)) {
    return renderTable(reader.takeWhile((other) => other.includes("|")));
  }
  return null;
}

/** The blocks of some lines; `bareStart` leaves the first paragraph without an element of its own. */
function renderBlocks(lines, depth = 0, bareStart = false) {
  if (depth > MAX_DEPTH) return [lines.join("\n")];
  const reader = new LineReader(lines);
  const elements = [];
  while (!reader.atEnd) {
    if (!reader.current.trim()) {
      reader.skip();
      continue;
    }
    const block = renderBlock(reader, depth);
    if (block) {
      elements.push(block);
      continue;
    }
    const paragraph = reader.takeWhile((line) => line.trim() && !beginsBlock(line));
    const words = renderInline(paragraph.join("\n"));
    if (bareStart && !elements.length) elements.push(words);
    else elements.push(element("p", {}, words));
  }
  return elements;
}

/** A text as elements. */
export const renderMarkdown = (text) => renderBlocks(String(text).split("\n"));
