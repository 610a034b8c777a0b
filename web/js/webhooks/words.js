// Guarantee: every state of a webhook and every attempt has plain words, and an endpoint's own are only quoted.

import { count, until, when } from "../words.js";

const DAY_MS = 24 * 3600 * 1000;

const NOTICES = {
  Pending: "Its contact is about to be told.",
  Sent: "Its contact was told by e-mail.",
  NotConfirmed: "Its contact was not told, not having confirmed the address.",
  TooMany: "Its contact was not told: there were as many e-mails today as a day may have.",
  Suppressed: "Its contact gets no e-mail any more: earlier ones came back, or were called spam.",
  Refused: "The e-mail to its contact was refused.",
};

/** Whether a contact has said yes. */
export const contactNote = ({ contactConfirmedAt, confirmationSentAt }) =>
  contactConfirmedAt ? "confirmed" : confirmationSentAt ? `not confirmed, asked ${when(confirmationSentAt)}` : "not confirmed";

/** Whether the contact may be asked to confirm: once a day. */
export const mayAskContact = ({ contactConfirmedAt, confirmationSentAt }) =>
  !contactConfirmedAt && !(Date.parse(confirmationSentAt) + DAY_MS > Date.now());

/** The types of events, and what each tells. */
export const EVENT_TYPES = {
  ParcelCreated: "Parcel created",
  ParcelStatusChanged: "Parcel moved on",
  InvoiceRequested: "Invoice asked for",
  InvoiceSent: "Invoice e-mailed",
  InvoiceFailed: "Invoice given up",
  InvoiceBounced: "Invoice came back",
};

const REASONS = {
  FailedForDays: "It took nothing for five days.",
  Gone: "It answered that it is gone (410).",
};

const DELIVERY = {
  Pending: { word: "Waiting", icon: "clock", tone: "busy" },
  Delivered: { word: "Delivered", icon: "check", tone: "good" },
  Failed: { word: "Given up", icon: "alert", tone: "bad" },
  Withdrawn: { word: "Withdrawn", icon: "stop", tone: "calm" },
};

const ERRORS = {
  TimedOut: "No answer within ten seconds",
  CouldNotResolve: "The name was not found",
  AddressForbidden: "The name leads to an address that is not for the public internet",
  CouldNotConnect: "Nothing listens there",
  TlsFailed: "The certificate is not good",
  ConnectionLost: "The connection broke",
};

export const eventType = (type) => (type === "WebhookTest" ? "Test" : (EVENT_TYPES[type] ?? String(type)));
export const deliveryBadge = ({ status }) => DELIVERY[status] ?? { word: String(status), icon: "clock", tone: "calm" };

/** How a webhook does, as a badge. */
export function webhookBadge({ state, consecutiveFailures }) {
  if (state === "SwitchedOff") return { word: "Switched off", icon: "stop", tone: "bad" };
  if (consecutiveFailures > 0) return { word: "Failing", icon: "alert", tone: "warn" };
  return { word: "Active", icon: "check", tone: "good" };
}

/** The same as a sentence or two. */
export function webhookNote({ state, switchedOffAt, switchedOffReason, switchOffNotice, consecutiveFailures, failingSince, restUntil, lastSuccessAt, previousSecretsUntil }) {
  const said = [];
  if (state === "SwitchedOff") said.push(`Switched off ${when(switchedOffAt)}. ${REASONS[switchedOffReason] ?? ""} ${NOTICES[switchOffNotice] ?? ""}`.trim());
  else if (consecutiveFailures > 0) said.push(`${count(consecutiveFailures, "attempt")} in a row failed, since ${when(failingSince)}.`);
  if (state !== "SwitchedOff" && Date.parse(restUntil) > Date.now()) said.push(`Left alone, next try ${until(Date.parse(restUntil))}.`);
  said.push(lastSuccessAt ? `Last took an event ${when(lastSuccessAt)}.` : "Has not taken an event yet.");
  const last = previousSecretsUntil?.at(-1);
  if (last) said.push(`The secret before the present one is good until ${when(last)}.`);
  return said.join(" ");
}

/** What became of a delivery, and what comes next. */
export function deliveryNote({ status, createdAt, endedAt, nextAttemptAt, attemptCount, attempts }) {
  const tried = attemptCount > 0 ? `, ${count(attemptCount, "attempt")}` : "";
  if (status !== "Pending") return `Happened ${when(createdAt)}, ended ${when(endedAt)}${tried}.`;
  const why = attempts.length > 0 ? ` ${attemptNote(attempts.at(-1))}.` : "";
  return `Happened ${when(createdAt)}${tried}, next try ${nextAttemptAt ? until(Date.parse(nextAttemptAt)) : "in a moment"}.${why}`;
}

/** How an attempt ended. */
export const attemptNote = ({ statusCode, error, durationMillis }) =>
  `${statusCode ? `Answered ${statusCode}` : (ERRORS[error] ?? error)} after ${durationMillis}\u00a0ms`;
