// Guarantee: each failed invoice stands once, under its reason, and is asked for again only when somebody says so.

import { announce, byId, element, icon, setText, withDisabled } from "../dom.js";
import { count, when, withStop } from "../words.js";

const PAGE = 100;

/** The failed invoices, grouped by reason; `refresh` asks for news at once. */
export function failedInvoices(api, refresh) {
  const groups = new Map(); // reason -> its group on the page
  const problems = new Map(); // invoice id -> why it could not be tried again
  const all = byId("retry-all");

  async function read(signal) {
    const { invoices, nextCursor } = await api.failedInvoices({ limit: PAGE }, signal);
    const byReason = Map.groupBy(invoices, groupOf);
    for (const [reason, { item }] of groups) {
      if (byReason.has(reason)) continue;
      if (item.contains(document.activeElement)) byId("failed").focus({ preventScroll: true });
      item.remove();
      groups.delete(reason);
    }
    for (const [reason, members] of byReason) {
      if (!groups.has(reason)) groups.set(reason, newGroup(reason));
      groups.get(reason).update(members);
    }
    all.hidden = invoices.length === 0;
    byId("no-failed").hidden = invoices.length > 0;
    setText(byId("no-failed"), "None. What fails for good shows up here, with its reason.");
    setText(byId("failed-title"), invoices.length === 0 ? "Failed invoices" : `Failed invoices: ${invoices.length}${nextCursor ? "+" : ""}`);
  }

  function newGroup(reason) {
    const rows = new Map(); // invoice id -> its row
    const number = element("p", { class: "note" });
    const retry = retryButton("Try these again");
    const list = element("ul", { role: "list" });
    const item = element("div", { class: "group" },
      element("div", { class: "group-head" }, element("div", {}, element("h3", { dir: "auto" }, withStop(reason)), number), retry), list);
    byId("groups").append(element("li", {}, item));
    let members = [];

    retry.addEventListener("click", () => withDisabled(retry, () => tryAgain(members)));

    function update(now) {
      members = now;
      setText(number, count(members.length, "invoice"));
      const wanted = new Set(members.map(({ id }) => id));
      for (const [id, row] of rows) {
        if (wanted.has(id)) continue;
        if (row.contains(document.activeElement)) byId("failed").focus({ preventScroll: true });
        row.remove();
        rows.delete(id);
      }
      for (const invoice of members) {
        if (!rows.has(invoice.id)) {
          rows.set(invoice.id, newRow(invoice));
          list.append(rows.get(invoice.id));
        }
        setText(rows.get(invoice.id).querySelector(".error"), problems.get(invoice.id) ?? "");
      }
    }

    return { item: item.parentElement, update };
  }

  function newRow(invoice) {
    const retry = retryButton("Try again", ` ${invoice.number}`);
    retry.addEventListener("click", () => withDisabled(retry, () => tryAgain([invoice])));
    return element("li", {},
      element("p", {}, element("a", { href: `/parcel/?n=${encodeURIComponent(invoice.trackingNumber)}` }, invoice.trackingNumber), " ", element("span", { dir: "auto" }, invoice.recipient ?? "")),
      element("p", { class: "note" }, `${invoice.number} to ${invoice.email}, failed ${when(invoice.failedAt)}`),
      element("p", { class: "error" }), retry);
  }

  // One after the other: whatever made a hundred fail should not meet a hundred again in one second.
  async function tryAgain(invoices) {
    let done = 0;
    for (const { id } of invoices) {
      try {
        await api.resendInvoice(id);
        problems.delete(id);
        done += 1;
      } catch (error) {
        problems.set(id, error.message);
        if (error.unsure) break;
      }
    }
    announce(done === invoices.length ? `${count(done, "invoice")} tried again.` : `${done} of ${count(invoices.length, "invoice")} tried again; the others say why not.`);
    refresh();
  }

  async function everyFailed() {
    const found = [];
    let cursor = null;
    do {
      const page = await api.failedInvoices({ limit: PAGE, cursor });
      found.push(...page.invoices);
      cursor = page.nextCursor;
    } while (cursor);
    return found;
  }

  all.addEventListener("click", () =>
    withDisabled(all, async () => {
      try {
        await tryAgain(await everyFailed());
      } catch (error) {
        announce(error.message);
      }
    }));

  return { read };
}

/** Addresses in a provider's words would make each reason its own group. */
const groupOf = ({ reason }) => String(reason || "No reason was given").replace(/<?[^\s<>]+@[^\s<>:;,]+>?/g, "…");

function retryButton(words, hidden = "") {
  return element("button", { class: "quiet", type: "button" }, icon("again"), words, element("span", { class: "sr" }, hidden));
}
