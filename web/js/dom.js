// Guarantee: data reaches the page as text only, and a value that did not change touches nothing.

const filled = new WeakMap(); // list -> what it shows
const SVG = "http://www.w3.org/2000/svg";

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** Sets an element's text. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets an attribute. */
export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** A new element; children that are strings become text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A new element of SVG. */
export function drawing(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** An icon of icons.svg, for the eye only. */
export const icon = (name) => drawing("svg", { class: "icon", "aria-hidden": "true" }, drawing("use", { href: `/icons.svg#${name}` }));

/** A status as icon, words and tone, so that colour is never the only sign. */
export function badge(status) {
  const made = element("span", { class: "badge" }, icon(status.icon), element("span", { class: "word" }));
  setBadge(made, status);
  return made;
}

/** Shows another status in a badge. */
export function setBadge(badge, { word, icon, tone }) {
  setText(badge.querySelector(".word"), word);
  setAttribute(badge.querySelector("use"), "href", `/icons.svg#${icon}`);
  setAttribute(badge, "data-tone", tone);
}

/** Makes the children of `list` anew with `make`, but only if `items` differ from those that it shows. */
export function fill(list, items, make) {
  const wanted = JSON.stringify(items);
  if (filled.get(list) === wanted) return;
  filled.set(list, wanted);
  list.replaceChildren(...items.map(make));
}

/** Has a screen reader say a sentence; a new node each time, since the same text twice is not read twice. */
export function announce(sentence) {
  byId("live").replaceChildren(element("span", {}, sentence));
}

/** Runs `work` with the button disabled, and gives back the focus that disabling takes away. */
export async function withDisabled(button, work) {
  const focused = document.activeElement === button;
  button.disabled = true;
  try {
    return await work();
  } finally {
    button.disabled = false;
    if (focused && [document.body, button].includes(document.activeElement)) button.focus();
  }
}
