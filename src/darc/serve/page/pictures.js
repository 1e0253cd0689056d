/** The two pictures of a decision with their legends, and its table of numbers. */

import { titleOf } from "./answers.js";
import { Dots } from "./dots.js";
import { byId, element } from "./elements.js";
import { dotsLegend } from "./marks.js";
import { short } from "./numbers.js";
import { Plane, legend, riskOf } from "./plane.js";

const COLUMNS = { mean: "mean", value: "value", sigma: "sigma", risk_premium: "premium", samples: "samples" };

/** What shows a decision; `opened(index)` is called for an answer that is picked. */
export class Pictures {
  constructor(opened) {
    this.dots = new Dots(byId("dots"), opened);
    this.plane = new Plane(byId("plane"), byId("caption"), opened);
  }

  show(decision, list, rated) {
    this.showDots(decision, list, rated);
    this.showNumbers(decision, list);
  }

  /** Draw what each rater or wording gives. */
  showDots(decision, list, rated) {
    byId("dots-title").textContent = rated ? "What each rater thinks" : "What each wording scores";
    this.dots.draw(decision, list);
    byId("dots-legend").replaceChildren(...dotsLegend(decision, rated));
  }

  /** Draw value against disagreement, and list the numbers. */
  showNumbers(decision, list) {
    const risk = riskOf(decision.rule) === "sigma" ? "disagreement" : "risk premium";
    byId("plane-title").textContent = `Value against ${risk}`;
    this.plane.draw(decision, list);
    byId("legend").replaceChildren(...legend(decision));
    byId("table").replaceChildren(numbersTable(list));
  }
}

/** The numbers of all answers as a table; those of answers that were ruled out early are not known. */
function numbersTable(list) {
  const heads = ["answer", ...Object.values(COLUMNS)].map((name) => element("th", { scope: "col" }, name));
  const rows = list.map(({ answer, chosen, early, statistics }) => {
    const cells = Object.keys(COLUMNS).map((key) => {
      if (key === "samples") return String(statistics?.samples ?? 0);
      return early ? "–" : short(statistics?.[key]);
    });
    const name = element("th", { scope: "row" }, titleOf(answer));
    return element("tr", { class: chosen ? "chosen" : "" }, name, cells.map((cell) => element("td", {}, cell)));
  });
  return element("table", {}, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, rows));
}
