// Guarantee: what happens to the invoice stands there in plain words, and a second click sends no second mail.

import { announce, badge, byId, element, fill, setBadge, setText, withDisabled } from "../dom.js";
import { checkAsTyped, problemOf, setError } from "../field.js";
import { openPdf } from "../pdf.js";
import { everySecond } from "../poll.js";
import { duration, invoiceBadge, invoiceNote, isWaiting, lastAnswer, when, withStop } from "../words.js";

const ATTEMPT = {
  Sent: "The mail server took it",
  Retried: "Did not go through, tried again at once",
  Parked: "Did not go through, tried again later",
  Failed: "Given up",
  Reopened: "Opened again",
  Dropped: "Dropped by a person",
};

/** The card of a parcel's invoice; `refresh` asks for news at once. */
export function invoiceCard(api, refresh) {
  let parcel = null, summary = null, detail = null, spoken = null;

  function show(news) {
    parcel = news;
    // The parcel may have been read before the invoice was asked for here.
    summary = news.invoice ?? summary;
    render();
  }

  async function read(signal) {
    if (!summary) return;
    detail = await api.invoice(summary.id, signal);
    summary = { id: detail.id, status: detail.status, reason: detail.reason };
    render();
  }

  function render() {
    byId("no-invoice").hidden = Boolean(summary);
    byId("has-invoice").hidden = !summary;
    if (!summary) return;
    const status = invoiceBadge(summary.status);
    if (spoken && spoken !== summary.status) announce(`Invoice: ${status.word}.`);
    spoken = summary.status;
    if (!byId("invoice-status").firstChild) byId("invoice-status").append(badge(status));
    setBadge(byId("invoice-status").firstChild, status);
    setText(byId("invoice-words"), invoiceNote(summary, detail));
    const pdf = Boolean(detail?.pdf);
    byId("open").hidden = byId("download").hidden = !pdf;
    byId("preview").hidden = !pdf || !navigator.pdfViewerEnabled;
    byId("resend").hidden = !detail || isWaiting(summary.status);
    setText(byId("resend").querySelector("span"), summary.status === "Failed" ? "Try again" : "Send it again");
    if (detail) renderDetail(detail);
  }

  function renderDetail({ number, currency, total, dueOn, email, emailHistory = [], attempts = [] }) {
    setText(byId("invoice-number"), number);
    setText(byId("last-answer"), lastAnswer(detail));
    const facts = [
      ["Total", [`${currency} ${total}`, `due ${when(`${dueOn}T00:00+08:00`).replace(/, 00:00$/, "")}`]],
      ["Goes to", [email ?? parcel.email, ...emailHistory.map(({ previous, changedAt }) => `until ${when(changedAt)}: ${previous}`).reverse()]],
    ];
    fill(byId("invoice-facts"), facts, ([name, [value, ...notes]]) => {
      const pair = document.createDocumentFragment();
      pair.append(element("dt", {}, name), element("dd", { dir: "auto" }, value, ...notes.map((note) => element("span", { class: "note" }, note))));
      return pair;
    });
    byId("attempts").hidden = attempts.length === 0;
    setText(byId("attempts").querySelector("summary span"), String(attempts.length));
    fill(byId("attempts").querySelector("ol"), [...attempts].reverse(), ({ at, outcome, reason }) =>
      element("li", {}, element("time", { datetime: at, class: "since" }, when(at)), ` ${ATTEMPT[outcome] ?? outcome}`, reason ? element("p", { class: "note" }, withStop(reason)) : ""));
  }

  /** Does one thing at a time with this button, and says below what went wrong. */
  function on(id, work) {
    const button = byId(id);
    button.addEventListener("click", () =>
      withDisabled(button, async () => {
        setText(byId("problem"), "");
        try {
          await work();
        } catch (error) {
          const wait = error.status === 429 && error.retryAfter > 0 ? ` It may be sent once more in ${duration(error.retryAfter)}.` : "";
          say(`${error.message}${wait}${error.unsure ? " Try again: it will not be e-mailed twice." : ""}`);
        }
      }));
  }

  function say(sentence) {
    setText(byId("problem"), sentence);
    announce(sentence);
  }

  on("request", async () => {
    summary = await api.requestInvoice(parcel.id);
    render();
    byId("invoice").focus({ preventScroll: true });
    refresh();
  });
  on("resend", async () => {
    await api.resendInvoice(summary.id);
    announce(summary.status === "Failed" ? "The invoice is tried again." : "The invoice is sent again.");
    refresh();
  });
  on("open", () => openPdf(api, summary.id));
  on("download", async () => location.assign(await api.pdfAddress(summary.id, "attachment")));
  on("preview", async () => {
    byId("frame").src = await api.pdfAddress(summary.id);
    setText(byId("paper-title"), detail.number);
    byId("paper").showModal();
  });
  byId("close-paper").addEventListener("click", () => byId("paper").close());

  const form = byId("correct-form"), input = byId("new-email");
  checkAsTyped(input);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wrong = problemOf(input);
    setError(input, wrong);
    if (wrong) return input.focus();
    withDisabled(form.querySelector("button"), correct);
  });

  async function correct() {
    setText(byId("problem"), "");
    try {
      detail = await api.correctEmail(summary.id, input.value.trim());
      render();
      form.reset();
      byId("correct").open = false;
      byId("correct").querySelector("summary").focus();
      announce(`The invoice goes to ${detail.email} now.`);
      refresh();
    } catch (error) {
      const field = error.fields?.find(({ field }) => field === "email");
      if (!field) return say(error.message);
      setError(input, field.message);
      input.focus();
    }
  }

  everySecond(() => summary && isWaiting(summary.status) && render());

  return { show, read };
}
