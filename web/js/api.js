// Guarantee: a call gives the API's JSON or throws an ApiError that can be shown to a person; it never hangs.

const TIMEOUT_MS = 10_000;
const STRANGER = { detail: "What answers at the API's address is not ParcelTrack." };

/** A problem answer, or none at all (status 0). */
export class ApiError extends Error {
  constructor(status, { title, detail, errors, requestId } = {}, retryAfter = NaN) {
    super(detail || title || (status ? `The API answered with an error (${status}).` : "The API does not answer."));
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter; // seconds, NaN if the API named none
    this.fields = (Array.isArray(errors) ? errors : []).map(({ field, message }) => ({
      field: String(field ?? "").replace(/^\//, ""),
      message: String(message ?? ""),
    }));
  }

  /** True if the request may have been carried out all the same: the answer was lost, or a gateway gave up. */
  get unsure() {
    return this.status === 0 || this.status >= 500;
  }

  /** True if the same request would get the same answer again. */
  get lasting() {
    return this.status >= 400 && this.status < 500 && ![408, 429].includes(this.status);
  }
}

/** The calls these pages make of the API at `base`, with the key that `holder` has. */
export function connect(base, holder) {
  async function call(method, path, { body, headers = {}, signal, open = false } = {}) {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const request = { method, headers: { Accept: "application/json", ...headers }, cache: "no-store" };
    request.signal = signal ? AbortSignal.any([signal, limit]) : limit;
    if (body !== undefined) {
      request.body = JSON.stringify(body);
      request.headers["Content-Type"] = "application/json";
    }
    const key = open ? null : (holder.current() ?? (await holder.ask("")));
    if (key) request.headers.Authorization = `Bearer ${key}`;
    let answer, text;
    try {
      answer = await fetch(base + path, request);
      text = await answer.text();
    } catch {
      throw new ApiError(0);
    }
    if (answer.status === 204) return null;
    const content = parse(text);
    if (answer.status === 401 && key) {
      // Another call may have brought a new key meanwhile.
      if (holder.current() === key) await holder.ask("This key is not good, or not any more.");
      return call(method, path, { body, headers, signal });
    }
    if (!answer.ok) throw new ApiError(answer.status, content, parseInt(answer.headers.get("Retry-After"), 10));
    if (!content) throw new ApiError(0, STRANGER);
    return content;
  }

  async function list(name, path, query, signal) {
    const given = Object.entries(query).filter(([, value]) => value);
    const page = await call("GET", `${path}?${new URLSearchParams(given)}`, { signal });
    if (!Array.isArray(page[name])) throw new ApiError(0, STRANGER);
    return page;
  }

  const part = encodeURIComponent;
  const of = (path, owner) => (owner ? `${path}?${new URLSearchParams({ owner })}` : path);
  return {
    createParcel: (parcel, key) => call("POST", "/api/parcels", { body: parcel, headers: { "Idempotency-Key": key } }),
    parcels: (query, signal) => list("parcels", "/api/parcels", query, signal),
    parcel: (id, signal) => call("GET", `/api/parcels/${part(id)}`, { signal }),
    cancelParcel: (id) => call("POST", `/api/parcels/${part(id)}/cancel`),
    proofAddress: async (id, signal) => (await call("GET", `/api/parcels/${part(id)}/proof-of-delivery`, { signal })).url,
    requestInvoice: (parcelId) => call("POST", `/api/parcels/${part(parcelId)}/invoice`),
    invoice: (id, signal) => call("GET", `/api/invoices/${part(id)}`, { signal }),
    pdfAddress: async (id, disposition = "inline") => (await call("GET", `/api/invoices/${part(id)}/pdf?disposition=${disposition}`)).url,
    resendInvoice: (id) => call("POST", `/api/invoices/${part(id)}/resend`),
    correctEmail: (id, email) => call("PUT", `/api/invoices/${part(id)}/email`, { body: { email } }),
    failedInvoices: (query, signal) => list("invoices", "/api/invoices", { status: "Failed", ...query }, signal),
    me: (signal) => call("GET", "/api/me", { signal }),
    queue: (signal) => call("GET", "/api/queue", { signal }),
    queueHistory: (signal) => call("GET", "/api/queue/history", { signal }),
    webhooks: (owner, signal) => list("webhooks", "/api/webhooks", { owner }, signal),
    createWebhook: (webhook, key, owner) => call("POST", of("/api/webhooks", owner), { body: webhook, headers: { "Idempotency-Key": key } }),
    deleteWebhook: (id, owner) => call("DELETE", of(`/api/webhooks/${part(id)}`, owner)),
    rotateSecret: (id, owner) => call("POST", of(`/api/webhooks/${part(id)}/rotate-secret`, owner)),
    enableWebhook: (id, owner) => call("POST", of(`/api/webhooks/${part(id)}/enable`, owner)),
    testWebhook: (id, owner) => call("POST", of(`/api/webhooks/${part(id)}/test`, owner)),
    sendConfirmation: (id, owner) => call("POST", of(`/api/webhooks/${part(id)}/confirmation`, owner)),
    deliveries: (id, query, signal) => list("deliveries", `/api/webhooks/${part(id)}/deliveries`, query, signal),
    resendDelivery: (id, delivery, owner) => call("POST", of(`/api/webhooks/${part(id)}/deliveries/${part(delivery)}/resend`, owner)),
    resendSince: (id, wish, owner) => call("POST", of(`/api/webhooks/${part(id)}/resend`, owner), { body: wish }),
    track: (number, signal) => call("GET", `/api/track/${part(number)}`, { signal, open: true }),
  };
}

function parse(text) {
  try {
    const content = JSON.parse(text);
    return content && typeof content === "object" ? content : undefined;
  } catch {
    return undefined;
  }
}
