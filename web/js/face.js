// Guarantee: where there is nothing to show, the page says why and what to do; never a blank.

import { byId, setAttribute, setText } from "./dom.js";

const FACES = {
  empty: { icon: "box", title: "No parcels yet", text: "The first one you create shows up here." },
  nothing: { icon: "search", title: "No parcel matches", text: "A search looks at the beginning of names and references, and at whole tracking numbers.", action: "Show all parcels" },
  unavailable: { icon: "away", title: "This cannot be shown right now", text: "It appears by itself as soon as the API answers." },
  forbidden: { icon: "key", title: "This key is not for this page", text: "Keys are made for merchants, drivers or operators, and each sees only what it is for.", action: "Use another key" },
  unknown: { icon: "search", title: "There is no such parcel", text: "Perhaps the address is incomplete, or the parcel belongs to another merchant." },
  untracked: { icon: "search", title: "We do not know this number", text: "A new parcel may take a moment to show up. Please compare the number with the one in your e-mail." },
  settings: { icon: "away", title: "The page's settings cannot be read", text: "Please reload, or tell your administrator." },
};

/** Shows a face in `#face`, with `action` behind its button if it has one; no name hides it. */
export function showFace(name, action) {
  const face = byId("face");
  face.hidden = !name;
  if (!name) return;
  const { icon, title, text, action: label } = FACES[name];
  setAttribute(face.querySelector("use"), "href", `/icons.svg#${icon}`);
  setText(face.querySelector("strong"), title);
  setText(face.querySelector("p + p"), text);
  const button = face.querySelector("button");
  button.hidden = !label;
  setText(button, label ?? "");
  button.onclick = action ?? null;
}

/** The face for an error that kept a page from being filled. */
export const faceOf = (error) => ({ 403: "forbidden", 404: "unknown" })[error.status] ?? "unavailable";
