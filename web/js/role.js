// Guarantee: what is for operators is shown to operators only, and to them also if the API was away when the page began.

const PAUSE_MS = 10_000;

/** Shows everything marked `data-for="operator"` to an operator, and calls `also` then. */
export async function showRole(api, also = () => {}) {
  const me = await persistently(() => api.me());
  if (me?.role !== "operator") return;
  for (const part of document.querySelectorAll("[data-for=operator]")) part.hidden = false;
  also();
}

async function persistently(call) {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (error.lasting) return null;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
