// Guarantee: what the API has promised in a rush is counted against what became of it, one parcel at a time.

import { announce, byId, element, fill, setText, withDisabled } from "../dom.js";
import { count } from "../words.js";

const PLACE = "parceltrack-rush";
const AT_ONCE = 5;
const PAGE = 100;
const TRIES = 5;
const NAMES = ["Tan Wei Ming", "Nur Aisyah", "Priya Raj", "Lim Bee Hoon", "Muhammad Faizal", "Goh Siew Lan", "Kumar Selvam", "Ong Kai Xiang", "陈伟明", "முத்துலட்சுமி"];

/** The rush: a burst of invented parcels, and what became of them; `refresh` asks for news at once. */
export function rush(api, { rush: address, inboxUrl }, refresh) {
  const form = byId("rush-form"), button = form.querySelector("button");
  let current = JSON.parse(sessionStorage.getItem(PLACE)); // {reference, size, promised}
  let counts = { sent: 0, failed: 0, waiting: 0 };

  byId("rush").hidden = false;
  byId("rush-stop").hidden = !inboxUrl;
  byId("rush-inbox").href = inboxUrl ?? "";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!button.disabled) withDisabled(button, () => send(Number(byId("rush-size").value)));
  });

  async function send(size) {
    setText(byId("rush-problem"), "");
    keep({ reference: `rush-${crypto.randomUUID().slice(0, 8)}`, size, promised: 0 });
    counts = { sent: 0, failed: 0, waiting: 0 };
    render();
    let next = 0;
    const sender = async () => {
      while (next < size) {
        await one(next++);
        keep({ ...current, promised: current.promised + 1 });
        render();
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, sender));
      announce(`${count(size, "invoice")} promised.`);
    } catch (error) {
      next = size;
      setText(byId("rush-problem"), `The rush ended early: ${error.message}`);
    }
    refresh();
  }

  async function one(place) {
    const { reference } = current;
    const parcel = { recipient: NAMES[place % NAMES.length], email: address.replace("{}", `${reference}-${place}`), reference };
    const { id } = await persistently(() => api.createParcel(parcel, `${reference}-${place}`));
    await persistently(() => api.requestInvoice(id));
  }

  async function read(signal) {
    if (!current || (current.promised === current.size && counts.sent + counts.failed === current.size)) return render();
    const now = { sent: 0, failed: 0, waiting: 0 };
    let cursor = null;
    do {
      const page = await api.parcels({ q: current.reference, limit: PAGE, cursor }, signal);
      for (const { invoice, reference } of page.parcels) {
        if (invoice && reference === current.reference) now[{ Sent: "sent", Failed: "failed" }[invoice.status] ?? "waiting"] += 1;
      }
      cursor = page.nextCursor;
    } while (cursor);
    counts = now;
    render();
    if (now.sent + now.failed === current.size) announce(byId("rush-words").textContent);
  }

  function keep(state) {
    current = state;
    sessionStorage.setItem(PLACE, JSON.stringify(state));
  }

  function render() {
    byId("rush-result").hidden = !current;
    if (!current) return;
    const { size, promised } = current;
    const { sent, failed } = counts;
    // The list may be a moment behind the promises, and a promise behind the list.
    const waiting = Math.max(promised, sent + failed + counts.waiting) - sent - failed;
    const shares = { sent, failed, waiting };
    for (const [name, number] of Object.entries(shares)) {
      byId("rush-shares").querySelector(`[data-share=${name}]`).style.flexBasis = `${(number / size) * 100}%`;
    }
    fill(byId("rush-legend"), Object.entries(shares), ([name, number]) => element("li", {}, element("i", { "data-share": name }), `${number} ${name}`));
    setText(byId("rush-words"), words({ ...shares, size, promised }));
  }

  return { read };
}

function words({ sent, failed, waiting, size, promised }) {
  if (promised < size && waiting + sent + failed < size) return `${promised} of ${size} promised so far.`;
  if (waiting > 0) return `All ${size} are promised, and ${count(waiting, "is", "are")} still to be sent.`;
  if (failed > 0) return `All ${size} have come to their end; the failed ones stand below with their reasons.`;
  return `All ${size} are sent. Nothing got lost.`;
}

/** Both calls are safe to repeat: the one has an idempotency key, and a parcel has one invoice. */
async function persistently(call) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (tries === TRIES || error.lasting) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** tries));
    }
  }
}
