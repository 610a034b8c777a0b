// Guarantee: nobody is asked about a number that cannot be right, and a shared link opens what its sender saw.

import { announce, byId, fill, element, setAttribute, setText } from "../dom.js";
import { faceOf, showFace } from "../face.js";
import { live } from "../live.js";
import { start } from "../shell.js";
import { showTimeline } from "../timeline.js";
import { readTrackingNumber } from "../tracking-number.js";
import { parcelBadge, when } from "../words.js";

const EVERY_MS = 30_000; // the API's answer may be as old
const UNKNOWN = { icon: "search", title: "We do not know this number", text: "A new parcel may take a moment to show up. Please compare the number with the one in your e-mail." };
const USUAL_WAY = ["Created", "InTransit", "OutForDelivery", "Delivered"];

const input = byId("number");
let asked = null, shown = null, polling = null;

start(({ api }) => {
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const { number, problem } = readTrackingNumber(input.value);
    if (problem) return refuse(problem);
    if (number !== asked) history.pushState(null, "", `?n=${number}`);
    ask(api, number);
  });
  input.addEventListener("input", () => refuse(""));
  addEventListener("popstate", () => fromAddress(api));
  byId("share").addEventListener("click", share);
  fromAddress(api);
});

function fromAddress(api) {
  const text = new URL(location.href).searchParams.get("n");
  if (text === null) return forget();
  input.value = text;
  const { number, problem } = readTrackingNumber(text);
  if (problem) refuse(problem);
  else ask(api, number);
}

function refuse(problem) {
  setText(byId("number-error"), problem);
  if (!problem) return input.removeAttribute("aria-invalid");
  forget();
  input.setAttribute("aria-invalid", "true");
  input.focus();
  announce(problem);
}

function forget() {
  asked = shown = null;
  byId("result").hidden = byId("waiting").hidden = byId("link").hidden = true;
  showFace(null);
}

function ask(api, number) {
  refuse("");
  input.value = number;
  if (number !== asked) {
    forget();
    asked = number;
  }
  byId("waiting").hidden = Boolean(shown);
  byId("link").hidden = false;
  if (polling) polling.restart();
  else polling = live((signal) => asked && read(api, signal), EVERY_MS, hear);
}

async function read(api, signal) {
  const parcel = await api.track(asked, signal);
  if (!signal.aborted) show(parcel);
}

function hear({ error }) {
  if (!asked) return;
  byId("waiting").hidden = true;
  if (!error) return;
  const unknown = [400, 404].includes(error.status);
  // What is shown stays while the API is away: it was true a moment ago.
  if (shown && !unknown) return;
  byId("result").hidden = true;
  byId("link").hidden = unknown;
  showFace(unknown ? UNKNOWN : faceOf(error));
  if (unknown) announce("We do not know this number.");
}

function show(parcel) {
  const { word, icon, tone } = parcelBadge(parcel.status);
  const first = !shown;
  if (shown?.status !== parcel.status) announce(`${parcel.trackingNumber}: ${word}.`);
  shown = parcel;
  document.title = `${word} · ${parcel.trackingNumber} · Lion City Logistics`;
  showFace(null);
  setText(byId("shown-number"), parcel.trackingNumber);
  const now = document.querySelector(".now");
  setAttribute(now.querySelector(".mark"), "data-tone", tone);
  setAttribute(now.querySelector("use"), "href", `/icons.svg#${icon}`);
  setText(byId("headline"), word);
  const next = parcel.expectedNext ? `Next: ${parcelBadge(parcel.expectedNext).word.toLowerCase()}. ` : "";
  setText(byId("next"), `${next}Since ${when(parcel.updatedAt)}.`);
  showSteps(parcel);
  showTimeline(byId("timeline"), parcel.events ?? []);
  byId("waiting").hidden = true;
  byId("result").hidden = false;
  if (first && document.activeElement === document.querySelector("#ask button")) byId("result").focus({ preventScroll: true });
}

// Off the usual way there is no telling what comes next, so no steps are drawn.
function showSteps({ status }) {
  const here = USUAL_WAY.indexOf(status);
  byId("steps").hidden = here < 0;
  fill(byId("steps"), USUAL_WAY.map((step, place) => ({ step, done: place <= here, here: place === here })), ({ step, done, here }) =>
    element("li", { ...(done && { "data-done": "" }), ...(here && { "data-here": "" }) }, parcelBadge(step).word));
}

async function share() {
  const word = byId("share").querySelector("span");
  try {
    await navigator.clipboard.writeText(location.href);
    setText(word, "Copied");
    announce("Link copied.");
  } catch {
    setText(word, "Copy it from the address bar");
  }
  setTimeout(() => setText(word, "Copy link"), 3000);
}
