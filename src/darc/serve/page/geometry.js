/** Where things lie in the plane: the frontier, the scales, and labels that hide nothing. */

import { shape } from "./elements.js";

/** The candidates that no other beats in both, by rising risk. */
export function findFrontier(candidates, risk) {
  const ordered = [...candidates].sort((a, b) => a[risk] - b[risk] || b.value - a.value);
  return ordered.filter((candidate, i) => ordered.slice(0, i).every((other) => other.value < candidate.value));
}

/** A scale with some room at both ends: where it starts and ends, and where a value lies. */
export function makeScale(values, from, to) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = (high - low || Math.abs(high) || 1) * 0.09;
  const start = low - room;
  const end = high + room;
  const at = (value) => from + ((value - start) / (end - start)) * (to - from);
  return { at, start, end };
}

/** A place for each label where it hides no mark and no other label. */
export function placeLabels(points, width) {
  // Boxes as [left, top, right, bottom].
  const taken = points.map(({ x, y }) => [x - 8, y - 8, x + 8, y + 8]);
  const overlap = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];
  const isFree = (box) => !taken.some((other) => overlap(box, other));
  return points.map(({ x, y, number, big }) => {
    const gap = big ? 14 : 9;
    const size = String(number).length * 8 + 2;
    const places = [[gap, 4], [-gap - size, 4], [-size / 2, -gap - 1], [-size / 2, gap + 11]];
    for (const [dx, dy] of places) {
      const box = [x + dx, y + dy - 11, x + dx + size, y + dy + 2];
      if (box[2] < width && isFree(box)) {
        taken.push(box);
        return shape("text", { class: "name", x: x + dx, y: y + dy }, String(number));
      }
    }
    return null;
  });
}
