/** Numbers as people read and set them. */

/** The digits after the point for three significant ones. */
function digitsFor(size) {
  if (size >= 100) return 0;
  if (size >= 10) return 1;
  if (size >= 1) return 2;
  return 3;
}

/** Three significant digits, or a dash where there is no number. */
export function short(value) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(Number(value))) return String(value).startsWith("-") ? "−∞" : "∞";
  const size = Math.abs(value);
  const digits = digitsFor(size);
  const text = size > 0 && size < 0.001 ? value.toPrecision(2) : value.toFixed(digits);
  return text.replace("-", "−");
}

/** A mean with as many digits as a reader needs. */
export function brief(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const digits = size >= 1 ? 1 : 2;
  const text = size > 0 && size < 0.1 ? String(Number(value.toPrecision(2))) : value.toFixed(digits);
  return text.replace("-", "−");
}

/** A rating as it was given, without digits that arithmetic added. */
export const exact = (value) => String(Number(value.toPrecision(4))).replace("-", "−");

/** A value rounded to what a slider can say. */
export const rounded = (value) => Number(value.toPrecision(3));

/** The smallest of 1, 2 and 5 times a power of ten that is not below a value. */
export function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 2, 5, 10].map((factor) => factor * power);
  return rounded(steps.find((step) => step >= value * 0.999));
}

/** About `count` round numbers from low to high. */
export function ticks(low, high, count) {
  const step = roundUp((high - low) / count);
  const first = Math.ceil(low / step);
  const last = Math.floor(high / step + 1e-9);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => {
    const value = (first + i) * step;
    const text = Math.abs(value) < step / 2 ? (0).toFixed(digits) : value.toFixed(digits);
    return { value, text: text.replace("-", "−") };
  });
}

/** The mean of the numbers among some values, null where there is none. */
export function meanOf(values) {
  const present = values.filter((value) => value !== null);
  if (!present.length) return null;
  return present.reduce((sum, value) => sum + value, 0) / present.length;
}

/** A noun with its count. */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Milliseconds as seconds or milliseconds. */
export const duration = (ms) => (ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms)} ms`);
