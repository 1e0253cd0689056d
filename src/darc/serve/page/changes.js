/** Which words a rewrite changed. */

const MAX_PIECES = 1200;
const splitPieces = (text) => text.match(/\s+|\S+/g) ?? [];

/** The text in parts {text, changed}: changed where the words are not the original's, in order. */
export function findChanges(original, text) {
  const before = splitPieces(original);
  const after = splitPieces(text);
  if (before.length > MAX_PIECES || after.length > MAX_PIECES) return [{ text, changed: false }];
  const width = after.length + 1;
  // The length of the longest common subsequence of before[i:] and after[j:], row by row.
  const common = new Uint16Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const down = common[(i + 1) * width + j];
      const right = common[i * width + j + 1];
      common[i * width + j] =
        before[i] === after[j] ? 1 + common[(i + 1) * width + j + 1] : Math.max(down, right);
    }
  }
  const parts = [];
  const add = (piece, changed) => {
    if (parts.at(-1)?.changed === changed) parts.at(-1).text += piece;
    else parts.push({ text: piece, changed });
  };
  let i = 0;
  let j = 0;
  while (j < after.length) {
    if (i < before.length && before[i] === after[j]) {
      add(after[j], false);
      i += 1;
      j += 1;
    } else if (i < before.length && common[(i + 1) * width + j] >= common[i * width + j + 1]) {
      i += 1;
    } else {
      add(after[j], true);
      j += 1;
    }
  }
  return parts;
}
