// Guarantee: every status and time has plain words, times are Singapore's, and unknown words are shown as they came.

const PARCEL = {
  Created: { word: "Created", icon: "box", tone: "calm" },
  InTransit: { word: "In transit", icon: "truck", tone: "busy" },
  OutForDelivery: { word: "Out for delivery", icon: "pin", tone: "busy" },
  Delivered: { word: "Delivered", icon: "check", tone: "good" },
  DeliveryFailed: { word: "Delivery failed", icon: "alert", tone: "bad" },
  Returned: { word: "Returned", icon: "back", tone: "warn" },
  Cancelled: { word: "Cancelled", icon: "stop", tone: "calm" },
};

const INVOICE = {
  Pending: { word: "Pending", icon: "clock", tone: "calm" },
  Generated: { word: "Generated", icon: "pdf", tone: "busy" },
  Sent: { word: "Sent", icon: "check", tone: "good" },
  Failed: { word: "Failed", icon: "alert", tone: "bad" },
};

const DELIVERY = {
  Delivered: "The recipient's mail server has it.",
  Bounced: "The mail came back.",
  Complained: "The recipient called it spam.",
};

/** The statuses of a parcel, in the order of its way. */
export const PARCEL_STATUSES = Object.keys(PARCEL);

const other = (status) => ({ word: String(status), icon: "clock", tone: "calm" });
export const parcelBadge = (status) => PARCEL[status] ?? other(status);
export const invoiceBadge = (status) => INVOICE[status] ?? other(status);

/** True while the invoice is still on its way to the recipient. */
export const isWaiting = (status) => status === "Pending" || status === "Generated";

/** What happens to an invoice, in plain words. `detail` is the full invoice once it has been read. */
export function invoiceNote({ status, reason }, detail) {
  const attempts = detail?.attemptCount ?? detail?.attempts?.length ?? 0;
  if (status === "Failed") return `Not sent: ${withStop(reason || detail?.reason || "no reason was given")}`;
  if (status === "Sent") {
    const sent = `E-mailed ${detail?.sentAt ? when(detail.sentAt) : "to the recipient"}${attempts > 1 ? `, on attempt ${attempts}` : ""}.`;
    return [sent, DELIVERY[detail?.delivery], detail?.deliveryReason && withStop(detail.deliveryReason)].filter(Boolean).join(" ");
  }
  if (!isWaiting(status)) return "";
  if (attempts === 0) return status === "Pending" ? "In the queue, the PDF comes next." : "The PDF is ready, the e-mail is on its way.";
  const { outcome } = detail.attempts.at(-1) ?? {};
  // A parked invoice is tried when it is due; any other has a ticket on the queue, and the due time is only its guard.
  const next = outcome === "Parked" && detail.nextAttemptAt ? until(Date.parse(detail.nextAttemptAt)) : "in a moment";
  const waiting = status === "Pending" ? "Waiting to make the PDF" : "Waiting for the mail server";
  return `${waiting}, next try ${next}, attempt ${attempts + 1}.`;
}

/** What the mail server said at the last attempt of an invoice that still waits, if it said something. */
export function lastAnswer({ status, attempts }) {
  const why = isWaiting(status) && attempts.at(-1)?.reason;
  return why ? `Last answer: ${withStop(why)}` : "";
}

export const withStop = (text) => (/[.!?。]$/.test(text) ? text : `${text}.`);

/** A number and its noun. */
export const count = (number, noun, nouns = `${noun}s`) => `${whole.format(number)} ${number === 1 ? noun : nouns}`;
export const whole = new Intl.NumberFormat("en-SG", { maximumFractionDigits: 0 });
export const tenths = new Intl.NumberFormat("en-SG", { maximumFractionDigits: 1 });

const inSingapore = (options) => new Intl.DateTimeFormat("en-SG", { timeZone: "Asia/Singapore", ...options });
const hourAndMinute = inSingapore({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const withSeconds = inSingapore({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const dayAndMonth = inSingapore({ day: "numeric", month: "short" });
const wholeDay = inSingapore({ day: "numeric", month: "short", year: "numeric" });
const year = inSingapore({ year: "numeric" });

/** A time as one says it: today only the clock, this year without the year. */
export function when(iso, now = new Date()) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  const time = hourAndMinute.format(at);
  if (wholeDay.format(at) === wholeDay.format(now)) return time;
  return `${(year.format(at) === year.format(now) ? dayAndMonth : wholeDay).format(at)}, ${time}`;
}

/** The clock with seconds, for things that happen soon. */
export const clockTime = (at) => withSeconds.format(at);

/** How long until a moment. */
export function until(at, now = Date.now()) {
  const seconds = Math.ceil((at - now) / 1000);
  return seconds > 0 ? `in ${duration(seconds)}` : "any moment";
}

/** So many seconds, as one says it. */
export function duration(seconds) {
  if (seconds < 100) return `${Math.ceil(seconds)}\u00a0s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes}\u00a0min` : `${Math.round(minutes / 60)}\u00a0h`;
}
