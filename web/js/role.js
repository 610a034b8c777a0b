// Guarantee: what is for operators is shown to operators only, and to them also if the API was away when the page began.

/** Returns what asks, turn by turn until it is told: shows `data-for="operator"` to an operator, and calls `also` then. */
export function roleOf(api, also = () => {}) {
  let known = false;

  return async function read(signal) {
    if (known) return;
    const role = await roleNow(signal);
    known = true;
    if (role !== "operator") return;
    for (const part of document.querySelectorAll("[data-for=operator]")) part.hidden = false;
    also();
  };

  async function roleNow(signal) {
    try {
      return (await api.me(signal)).role;
    } catch (error) {
      if (error.lasting) return null;
      throw error;
    }
  }
}
