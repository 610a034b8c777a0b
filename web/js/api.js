// Guarantee: a call gives the API's JSON or throws an ApiError that can be shown to a person; it never hangs.

const TIMEOUT_MS = 10_000;
const STRANGER = { detail: "What answers at the API's address is not ParcelTrack." };

/** A problem answer, or none at all (status 0). */
export class ApiError extends Error {
  constructor(status, { title, detail, errors, requestId } = {}) {
    super(detail || title || (status ? `The API answered with an error (${status}).` : "The API does not answer."));
    this.status = status;
    this.requestId = requestId;
    this.fields = (Array.isArray(errors) ? errors : []).map(({ field, message }) => ({
      field: String(field ?? "").replace(/^\//, ""),
      message: String(message ?? ""),
    }));
  }

  /** True if the request may have been carried out all the same: the answer was lost, or a gateway gave up. */
  get unsure() {
    return this.status === 0 || this.status >= 500;
  }
}

/** The calls this page makes of the API at `base`, with the key that `holder` has. */
export function connect(base, holder) {
  async function call(method, path, { body, headers = {}, signal } = {}) {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const request = { method, headers: { Accept: "application/json", ...headers }, cache: "no-store" };
    request.signal = signal ? AbortSignal.any([signal, limit]) : limit;
    if (body !== undefined) {
      request.body = JSON.stringify(body);
      request.headers["Content-Type"] = "application/json";
    }
    const key = holder.current() ?? (await holder.ask(""));
    request.headers.Authorization = `Bearer ${key}`;
    let answer, text;
    try {
      answer = await fetch(base + path, request);
      text = await answer.text();
    } catch {
      throw new ApiError(0);
    }
    const content = parse(text);
    if (answer.status === 401) {
      // Another call may have brought a new key meanwhile.
      if (holder.current() === key) await holder.ask("This key is not good, or not any more.");
      return call(method, path, { body, headers, signal });
    }
    if (!answer.ok) throw new ApiError(answer.status, content);
    if (!content) throw new ApiError(0, STRANGER);
    return content;
  }

  const part = encodeURIComponent;
  return {
    createParcel: (parcel, key) => call("POST", "/api/parcels", { body: parcel, headers: { "Idempotency-Key": key } }),
    requestInvoice: (parcelId) => call("POST", `/api/parcels/${part(parcelId)}/invoice`),
    invoice: (id, signal) => call("GET", `/api/invoices/${part(id)}`, { signal }),
    pdfAddress: async (id) => (await call("GET", `/api/invoices/${part(id)}/pdf`)).url,
    parcels: async (limit, cursor, signal) => {
      const page = await call("GET", `/api/parcels?limit=${limit}${cursor ? `&cursor=${part(cursor)}` : ""}`, { signal });
      if (!Array.isArray(page.parcels)) throw new ApiError(0, STRANGER);
      return page;
    },
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
