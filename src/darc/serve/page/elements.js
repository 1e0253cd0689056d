/** Elements made by hand: text is always text, never markup. */

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function fillElement(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  // One by one: there may be more than a function takes arguments.
  for (const child of children.flat(Infinity)) if (child !== null) element.append(child);
  return element;
}

/** An HTML element; an attribute that is a function listens to the event of its name. */
export function element(name, attributes = {}, ...children) {
  return fillElement(document.createElement(name), attributes, children);
}

/** An SVG element. */
export function shape(name, attributes = {}, ...children) {
  return fillElement(document.createElementNS(SVG, name), attributes, children);
}
