/** The different answers among the candidates: those with the same text are one answer. */

/** Answers in the order of their arrival. */
export class Answers {
  constructor() {
    this.list = [];
    this.places = new Map();
  }

  /** Add a candidate, or count it with the answer that has the same text; returns the answer. */
  add({ index, text, copies = 1 }) {
    const key = text.trim();
    let answer = this.list.find((other) => other.text.trim() === key);
    if (!answer) {
      answer = { index, text, number: this.list.length + 1, copies: 0, indices: [] };
      this.list.push(answer);
    }
    answer.copies += copies;
    answer.indices.push(index);
    this.places.set(index, answer);
    return answer;
  }

  /** The answer at a place of the gateway's candidates. */
  of(index) {
    return this.places.get(index);
  }

  /** What sentences call a candidate, such as "answer 3". */
  name(index) {
    const answer = this.of(index);
    return answer ? `answer ${answer.number}` : `candidate ${index}`;
  }

  /** How many candidates there are, copies included. */
  get written() {
    return this.list.reduce((sum, answer) => sum + answer.copies, 0);
  }
}

/** A text with a capital letter at its beginning. */
export const capitalized = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** The title of an answer, such as "Answer 3". */
export const titleOf = (answer) => `Answer ${answer.number}`;
