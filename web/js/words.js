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

const other = (status) => ({ word: String(status), icon: "clock", tone: "calm" });
export const parcelBadge = (status) => PARCEL[status] ?? other(status);
export const invoiceBadge = (status) => INVOICE[status] ?? other(status);

/** True while the invoice is still on its way to the recipient. */
export const isWaiting = (status) => status === "Pending" || status === "Generated";

/** What happens to an invoice, in a sentence. `detail` is the full invoice once it has been read. */
export function invoiceNote({ status, reason }, detail) {
  const attempts = detail?.attempts?.length ?? 0;
  if (status === "Failed") return `Not sent: ${withStop(reason || detail?.reason || "no reason was given")}`;
  if (status === "Sent") {
    return `E-mailed ${detail?.sentAt ? when(detail.sentAt) : "to the recipient"}${attempts > 1 ? `, on attempt ${attempts}` : ""}.`;
  }
  if (!isWaiting(status)) return "";
  if (attempts === 0) return status === "Pending" ? "In the queue, the PDF comes next." : "The PDF is ready, the e-mail is on its way.";
  const next = detail.nextAttemptAt ? until(Date.parse(detail.nextAttemptAt)) : "shortly";
  const waiting = status === "Pending" ? "Waiting to make the PDF" : "Waiting for the mail server";
  const why = detail.attempts.at(-1).reason;
  const count = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  return `${waiting}: ${count} so far, next try ${next}.${why ? ` Last answer: ${withStop(why)}` : ""}`;
}

const withStop = (text) => (/[.!?。]$/.test(text) ? text : `${text}.`);

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
  if (!(seconds > 0)) return "any moment";
  return seconds < 100 ? `in ${seconds}\u00a0s` : `in ${Math.round(seconds / 60)}\u00a0min`;
}
