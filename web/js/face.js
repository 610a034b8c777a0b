// Guarantee: where there is nothing to show, the page says why and what to do; never a blank.

import { byId, setAttribute, setText } from "./dom.js";

export const UNAVAILABLE = { icon: "away", title: "This cannot be shown right now", text: "It appears by itself as soon as the API answers." };
export const FORBIDDEN = { icon: "key", title: "This key is not for this page", text: "Keys are made for merchants, drivers or operators, and each sees only what it is for.", label: "Use another key" };
export const SETTINGS = { icon: "away", title: "The page's settings cannot be read", text: "Please reload, or tell your administrator." };

/** Shows a face in `#face`, with `action` behind its button if it has one; null hides it. */
export function showFace(face, action) {
  const place = byId("face");
  place.hidden = !face;
  if (!face) return;
  const { icon, title, text, label } = face;
  setAttribute(place.querySelector("use"), "href", `/icons.svg#${icon}`);
  setText(place.querySelector("strong"), title);
  setText(place.querySelector("p + p"), text);
  const button = place.querySelector("button");
  button.hidden = !label;
  setText(button, label ?? "");
  button.onclick = action ?? null;
}

/** The face for an error that kept a page from being filled. */
export const faceOf = (error) => (error.status === 403 ? FORBIDDEN : UNAVAILABLE);
