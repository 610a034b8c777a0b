// Guarantee: the list shows the newest parcels without gaps, never moves under a reader, and never goes back in time.

import { announce, byId, setText } from "../dom.js";
import { faceOf, showFace } from "../face.js";
import { live } from "../live.js";
import { everySecond } from "../poll.js";
import { roleOf } from "../role.js";
import { count, isWaiting } from "../words.js";
import { filter } from "./filter.js";
import { createRow } from "./row.js";

const EVERY_MS = 3000;
const PAGE = 20;
const LARGEST_PAGE = 100;
const INVOICES_PER_TURN = 5;

const EMPTY = { icon: "box", title: "No parcels yet", text: "The first one you create shows up here." };
const NOTHING = { icon: "search", title: "No parcel matches", text: "A search looks at the beginning of names and references, and at whole tracking numbers.", label: "Show all parcels" };

/** Starts the list; returns `add`, for a parcel that was just created here. */
export function parcelList(api, changeKey) {
  const list = byId("rows");
  const older = byId("older");
  const showNew = byId("show-new");
  const rows = new Map(); // parcel id -> row on the page
  const own = new Map(); // created here, not yet in an answer: the index may lag behind the write
  const known = new Map(); // parcel id -> the latest that was heard of it
  const spoken = new Map(); // parcel id -> the invoice's status that a screen reader has heard
  const details = new Map(); // invoice id -> invoice with attempts
  let newest = null, cursor = null, shown = [], depth = PAGE;
  let olderWanted = false, otherSearch = false, trouble = null;

  // Another search is another list: nothing of the last one is news, or gone. It stays, dimmed, until there is the new.
  const search = filter(() => {
    otherSearch = true;
    depth = PAGE;
    olderWanted = false;
    list.classList.add("stale");
    polling.restart();
  });

  // Whose parcels they are is a question for operators.
  const readRole = roleOf(api, search.offerOwner);

  async function turn(signal) {
    await readNewest(signal);
    if (olderWanted && cursor) await readOlder(signal);
    await readInvoices(signal);
    await readRole(signal);
  }

  // All that is shown, from the top: after a busy hour away, a first page alone would leave a hole in the list.
  async function readNewest(signal) {
    const read = [];
    let next = null;
    do {
      const page = await api.parcels({ limit: Math.min(LARGEST_PAGE, depth - read.length), cursor: next, ...search.current() }, signal);
      read.push(...page.parcels);
      next = page.nextCursor;
    } while (next && read.length < depth);
    signal.throwIfAborted();
    take(read, next);
  }

  async function readOlder(signal) {
    const page = await api.parcels({ limit: PAGE, cursor, ...search.current() }, signal);
    depth = newest.length + page.parcels.length;
    olderWanted = false;
    take([...newest, ...page.parcels], page.nextCursor);
    announce(`${page.parcels.length} older parcels shown.`);
  }

  // Waiting invoices in turn, then finished ones once each: few at a time, the list comes first.
  async function readInvoices(signal) {
    const wanted = shown
      .map(({ id }) => known.get(id).invoice)
      .filter((invoice) => invoice && (isWaiting(invoice.status) || details.get(invoice.id)?.status !== invoice.status))
      .sort((a, b) => isWaiting(b.status) - isWaiting(a.status) || readAt(a) - readAt(b));
    for (const { id } of wanted.slice(0, INVOICES_PER_TURN)) {
      try {
        const detail = await api.invoice(id, signal);
        details.set(id, { ...detail, readAt: Date.now() });
        const parcel = known.get(detail.parcelId);
        if (parcel) hear({ ...parcel, invoice: { id, status: detail.status, reason: detail.reason } });
      } catch (error) {
        if (error.unsure) throw error;
        details.set(id, { ...details.get(id), readAt: Date.now() });
      }
    }
    if (wanted.length > 0) render();
  }
  const readAt = ({ id }) => details.get(id)?.readAt ?? 0;

  function take(parcels, next) {
    const found = otherSearch;
    for (const parcel of parcels) {
      own.delete(parcel.id);
      hear(parcel);
    }
    if (otherSearch) forgetShown();
    newest = parcels;
    cursor = next;
    render();
    if (found) announce(parcels.length === 0 ? "No parcel matches." : `${count(parcels.length, "parcel")}${next ? " or more" : ""} found.`);
  }

  function forgetShown() {
    otherSearch = false;
    list.classList.remove("stale");
    shown = [];
    newest = cursor = null;
  }

  // Answers may overtake each other, and the list may be read before a write: keep the later word of each part.
  function hear(parcel) {
    const last = known.get(parcel.id);
    if (!last) return known.set(parcel.id, parcel);
    const base = Date.parse(parcel.updatedAt) < Date.parse(last.updatedAt) ? last : parcel;
    return known.set(parcel.id, { ...base, invoice: laterInvoice(last.invoice, parcel.invoice) });
  }

  function sayChanges() {
    const said = [];
    for (const { id } of shown) {
      const { recipient, invoice } = known.get(id);
      const status = invoice?.status;
      if (spoken.has(id) && spoken.get(id) !== status) said.push(`Invoice for ${recipient}: ${status}.`);
      spoken.set(id, status);
    }
    if (said.length > 3) announce(`${said.length} invoices changed their state.`);
    else if (said.length > 0) announce(said.join(" "));
  }

  function render() {
    const all = inOrder([...(search.isOn() ? [] : own.values()), ...(newest ?? [])]);
    const held = reading() ? arrived(all) : [];
    const kept = held.length > 0 ? shown.filter(({ id }) => !all.some((parcel) => parcel.id === id)) : [];
    shown = inOrder([...all.filter((parcel) => !held.includes(parcel)), ...kept]);

    const wanted = new Set(shown.map(({ id }) => id));
    for (const [id, row] of rows) {
      if (wanted.has(id)) continue;
      row.element.remove();
      rows.delete(id);
    }
    shown.forEach(({ id }, index) => {
      if (!rows.has(id)) rows.set(id, newRow(id));
      const row = rows.get(id);
      if (list.children[index] !== row.element) list.insertBefore(row.element, list.children[index] ?? null);
      updateRow(id);
    });

    sayChanges();
    showNew.hidden = held.length === 0;
    setText(showNew, held.length === 1 ? "Show 1 new parcel" : `Show ${held.length} new parcels`);
    older.hidden = !cursor;
    setText(older, olderWanted ? "Loading…" : "Older parcels");
    byId("loading").hidden = newest !== null || shown.length > 0 || Boolean(trouble);
    if (shown.length > 0) showFace(null);
    else if (newest !== null) search.isOn() ? showFace(NOTHING, search.clear) : showFace(EMPTY);
    else if (trouble) showFace(faceOf(trouble), changeKey);
    else showFace(null);
  }

  // What is searched for comes in an order of the API's own.
  const inOrder = (parcels) => (search.isOn() ? parcels : newestFirst(parcels));

  // A reader points into the list, works in it by keyboard, or has scrolled past its top.
  const reading = () =>
    list.matches(":hover") || list.querySelector(":focus-visible") || list.getBoundingClientRect().top < 0;

  function arrived(all) {
    if (shown.length === 0) return [];
    const last = created(shown.at(-1));
    return all.filter((parcel) => !rows.has(parcel.id) && !own.has(parcel.id) && created(parcel) > last);
  }

  function newRow(id) {
    const row = createRow(api, async () => {
      const invoice = await api.requestInvoice(id);
      hear({ ...known.get(id), invoice: { id: invoice.id, status: invoice.status } });
      render();
      polling.refresh();
    });
    if (newest) row.element.classList.add("arrives");
    return row;
  }

  function updateRow(id) {
    const parcel = known.get(id);
    rows.get(id).update(parcel, details.get(parcel.invoice?.id));
  }

  function hearTurn({ error }) {
    trouble = error;
    if (error && otherSearch) forgetShown();
    if (error) olderWanted = false;
    render();
  }

  older.addEventListener("click", () => {
    olderWanted = true;
    render();
    polling.refresh();
  });
  showNew.addEventListener("click", () => {
    byId("parcels").focus();
    byId("parcels").scrollIntoView();
    render();
  });
  everySecond(() => {
    for (const { id } of shown) if (isWaiting(known.get(id).invoice?.status)) updateRow(id);
  });

  const polling = live(turn, EVERY_MS, hearTurn);

  return function add(parcel) {
    own.set(parcel.id, parcel);
    hear(parcel);
    render();
    polling.refresh();
  };
}

const created = ({ createdAt }) => Date.parse(createdAt);
const newestFirst = (parcels) => parcels.sort((a, b) => created(b) - created(a));

// Sent is final, and Generated never becomes Pending; only a Failed invoice may start again.
function laterInvoice(last, now) {
  if (!last || !now) return now ?? last;
  const stale = last.status === "Sent" || (last.status === "Generated" && now.status === "Pending");
  return stale ? last : now;
}
