// Guarantee: one parcel keeps one row for as long as it is shown, and only the texts that changed are written.

import { byId, setAttribute, setBadge, setText, withDisabled } from "../dom.js";
import { openPdf } from "../pdf.js";
import { invoiceBadge, invoiceNote, parcelBadge, when } from "../words.js";

/** Makes a row; `ask` requests the invoice. */
export function createRow(api, ask) {
  const element = byId("parcel-row").content.cloneNode(true).querySelector("li");
  const find = (selector) => element.querySelector(selector);
  const [name, time, button, state, pdf, problem] = [".name a", "time", ".ask", ".state", ".pdf", ".bill .error"].map(find);

  let invoiceId;

  button.addEventListener("click", () => {
    setText(problem, "");
    withDisabled(button, async () => {
      try {
        await ask();
        // The button gave way to the state; whoever works by keyboard stays where they were.
        if ([document.body, button].includes(document.activeElement)) state.focus({ preventScroll: true });
      } catch (error) {
        setText(problem, error.unsure ? `${error.message} Try again: it will not be e-mailed twice.` : error.message);
      }
    });
  });

  pdf.addEventListener("click", async () => {
    setText(problem, "");
    try {
      await openPdf(api, invoiceId);
    } catch (error) {
      setText(problem, error.message);
    }
  });

  function update(parcel, detail) {
    setText(name, parcel.recipient);
    setAttribute(name, "href", `/parcel/?n=${encodeURIComponent(parcel.trackingNumber)}`);
    setText(find(".tracking"), parcel.trackingNumber);
    setText(find(".email"), parcel.email);
    for (const whose of element.querySelectorAll(".whose")) setText(whose, ` for ${parcel.recipient}${whose.closest(".pdf") ? " (opens in a new tab)" : ""}`);
    setBadge(find(".where .badge"), parcelBadge(parcel.status));
    setText(time, when(parcel.updatedAt));
    setAttribute(time, "datetime", parcel.updatedAt);
    const { invoice } = parcel;
    button.hidden = Boolean(invoice);
    state.hidden = !invoice;
    if (!invoice) return;
    setText(problem, "");
    invoiceId = invoice.id;
    setBadge(find(".bill .badge"), invoiceBadge(invoice.status));
    setText(find(".note"), invoiceNote(invoice, detail));
    pdf.hidden = !(detail?.pdf || invoice.status === "Generated" || invoice.status === "Sent");
  }

  return { element, update };
}
