/** Markdown as elements: text is always text, and a link leads to the web or is none. */

import { element } from "./elements.js";

const INLINE =
  /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|\*\*(?=\S)([\s\S]*?\S)\*\*|(?<![\w*])\*(?=\S)([^*]*?\S)\*(?!\w)|(?<!\w)_(?=\S)([^_]*?\S)_(?!\w)|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)/;
const BULLET = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const FENCE = /^\s*(`{3,}|~{3,})\s*([\w+-]*)/;
const DEEPEST = 8;

/** The words of a line with code, emphasis and links. */
function inline(text, depth = 0) {
  const found = depth < DEEPEST && INLINE.exec(text);
  if (!found) return [text];
  const [whole, , code, strong, star, under, label, href] = found;
  const inner = (words) => inline(words, depth + 1);
  let made;
  if (code !== undefined) made = element("code", {}, code);
  else if (strong !== undefined) made = element("strong", {}, inner(strong));
  else if (label !== undefined) {
    made = element("a", { href, rel: "noopener noreferrer", target: "_blank" }, inner(label));
  } else made = element("em", {}, inner(star ?? under));
  return [text.slice(0, found.index), made, ...inline(text.slice(found.index + whole.length), depth)];
}

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((each) => each.trim());

function table(lines) {
  const row = (line, kind) => element("tr", {}, cells(line).map((each) => element(kind, {}, inline(each))));
  const body = lines.slice(2).map((line) => row(line, "td"));
  return element("div", { class: "wide" }, element("table", {}, row(lines[0], "th"), body));
}

function list(lines, depth) {
  const [, indent, number] = BULLET.exec(lines[0]);
  const items = [];
  for (const line of lines) {
    const found = BULLET.exec(line);
    if (found && found[1].length <= indent.length) items.push([found[3]]);
    else items.at(-1).push(line.slice(Math.min(indent.length + 2, line.search(/\S|$/))));
  }
  const made = items.map((item) => element("li", {}, blocks(item, depth + 1, true)));
  return element(number ? "ol" : "ul", number ? { start: number } : {}, made);
}

/** The blocks of some lines; the first paragraph of a list's item stands without one. */
function blocks(lines, depth = 0, bare = false) {
  if (depth > DEEPEST) return [lines.join("\n")];
  const made = [];
  let i = 0;
  const take = (goes) => {
    const start = i;
    do i += 1;
    while (i < lines.length && goes(lines[i]));
    return lines.slice(start, i);
  };
  while (i < lines.length) {
    const line = lines[i];
    const fence = FENCE.exec(line);
    const heading = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    if (!line.trim()) i += 1;
    else if (fence) {
      const code = take((each) => !each.trim().startsWith(fence[1])).slice(1);
      i += 1;
      made.push(element("pre", { class: "code", tabindex: 0 }, element("code", {}, code.join("\n"))));
    } else if (heading) {
      i += 1;
      made.push(element(`h${Math.min(6, heading[1].length + 3)}`, {}, inline(heading[2])));
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      i += 1;
      made.push(element("hr"));
    } else if (/^\s*>/.test(line)) {
      const quoted = take((each) => /^\s*>/.test(each)).map((each) => each.replace(/^\s*> ?/, ""));
      made.push(element("blockquote", {}, blocks(quoted, depth + 1)));
    } else if (BULLET.test(line)) {
      made.push(list(take((each) => BULLET.test(each) || /^\s+\S/.test(each)), depth));
    } else if (line.includes("|") && /^[\s|:-]*-[\s|:-]*$/.test(lines[i + 1] ?? "")) {
      made.push(table(take((each) => each.includes("|"))));
    } else {
      const begins = (each) => FENCE.test(each) || BULLET.test(each) || /^\s*(>|#{1,6}\s)/.test(each);
      const words = inline(take((each) => each.trim() && !begins(each)).join("\n"));
      made.push(...(bare && !made.length ? words : [element("p", {}, words)]));
    }
  }
  return made;
}

/** A text as elements. */
export const markdown = (text) => blocks(String(text).split("\n"));
