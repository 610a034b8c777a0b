// Guarantee: the figures of the last hour, as this tab has read them, survive a reload; none is older, none invented.

const PLACE = "parceltrack-figures";
const HOUR_MS = 3_600_000;

/** The figures kept by this tab, oldest first: `{at, backlog, sends}`, with `at` in milliseconds. */
export function figuresHistory() {
  let kept = read();

  return {
    add(figures) {
      kept = [...kept.filter(({ at }) => at > Date.now() - HOUR_MS), { at: Date.now(), ...figures }];
      try {
        sessionStorage.setItem(PLACE, JSON.stringify(kept));
      } catch {
        // Without room for it the charts begin anew after a reload.
      }
      return kept;
    },
  };
}

function read() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PLACE));
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}
