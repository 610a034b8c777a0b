// Guarantee: the page shows one parcel as the API last told of it, and says when it could not be asked.

import { announce, badge, byId, element, fill, setAttribute, setBadge, setText } from "../dom.js";
import { faceOf, showFace } from "../face.js";
import { live } from "../live.js";
import { roleOf } from "../role.js";
import { start } from "../shell.js";
import { showTimeline } from "../timeline.js";
import { parcelBadge, when } from "../words.js";
import { cancelling } from "./cancel.js";
import { invoiceCard } from "./invoice.js";
import { proofOfDelivery } from "./proof.js";

const EVERY_MS = 3000;
const UNKNOWN = { icon: "search", title: "There is no such parcel", text: "Perhaps the address is incomplete, or the parcel belongs to another merchant." };

start(({ api, changeKey }) => {
  const number = new URL(location.href).searchParams.get("n") ?? "";
  let shown = null;
  // Asking for a parcel without a name would be asking for the list.
  if (!number) {
    byId("loading").hidden = byId("link").hidden = true;
    return showFace(UNKNOWN);
  }

  const readRole = roleOf(api);
  const refresh = () => polling.refresh();
  const cancel = cancelling(api, (parcel) => {
    show(parcel);
    refresh();
  });
  const proof = proofOfDelivery(api);
  const invoice = invoiceCard(api, refresh);

  async function turn(signal) {
    show(await api.parcel(number, signal));
    await invoice.read(signal);
    await readRole(signal);
  }

  function show(parcel) {
    const status = parcelBadge(parcel.status);
    if (shown && shown.status !== parcel.status) announce(`Parcel: ${status.word}.`);
    shown = parcel;
    document.title = `${parcel.trackingNumber} · Lion City Logistics`;
    setText(byId("recipient"), parcel.recipient);
    setText(byId("tracking"), parcel.trackingNumber);
    if (!byId("status").firstChild) byId("status").append(badge(status));
    setBadge(byId("status").firstChild, status);
    setText(byId("since"), `since ${when(parcel.updatedAt)}`);
    setAttribute(byId("customer-view"), "href", `/track/?n=${encodeURIComponent(parcel.trackingNumber)}`);
    byId("customer-view").hidden = false;
    showFacts(parcel);
    showTimeline(byId("timeline"), parcel.events);
    cancel.show(parcel);
    proof.show(parcel);
    invoice.show(parcel);
    byId("loading").hidden = true;
    byId("facts").hidden = byId("story").hidden = false;
    showFace(null);
  }

  function hear({ error }) {
    if (!error) return;
    byId("loading").hidden = true;
    if (!shown) showFace([400, 404].includes(error.status) ? UNKNOWN : faceOf(error), changeKey);
  }

  const polling = live(turn, EVERY_MS, hear);
});

function showFacts({ email, address, postalCode, phone, reference, weightGrams, createdAt }) {
  const facts = [
    ["E-mail", email],
    ["Address", [address, postalCode].filter(Boolean).join(", ")],
    ["Phone", phone],
    ["Reference", reference],
    ["Weight", weightGrams && `${weightGrams.toLocaleString("en-SG")} g`],
    ["Created", when(createdAt)],
  ];
  showPairs(byId("parcel-facts"), facts);
}

function showPairs(list, pairs) {
  fill(list, pairs.filter(([, value]) => value), ([name, value]) => {
    const pair = document.createDocumentFragment();
    pair.append(element("dt", {}, name), element("dd", { dir: "auto" }, value));
    return pair;
  });
}
