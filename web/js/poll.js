// Guarantee: one turn at a time, none while the tab is hidden, ever fewer while the API is away.

const FIRST_RETRY_MS = 6000;
const LONGEST_MS = 60_000;

/**
 * Repeats `turn(signal)`, `everyMs` after the last one ended. `onTurn` hears of each end: the error, if it was one,
 * and when the next turn is, if there is one: an error that would only come again ends the turns until one is asked
 * for. Returns `refresh`, which asks for a turn as soon as may be, and `restart`, which gives up the one in progress.
 */
export function poll(turn, everyMs, onTurn) {
  let timer, running, asked = false, failures = 0;

  async function run() {
    clearTimeout(timer);
    if (document.hidden) return;
    if (running) {
      asked = true;
      return;
    }
    asked = false;
    running = new AbortController();
    let error = null;
    try {
      await turn(running.signal);
      failures = 0;
    } catch (thrown) {
      error = thrown;
    }
    const stopped = running.signal.aborted;
    running = undefined;
    if (error && !stopped) failures += 1;
    if (document.hidden) return;
    const over = error?.lasting && !stopped && !asked;
    const wait = asked || stopped ? 0 : pause();
    if (!over) timer = setTimeout(run, wait);
    if (!stopped) onTurn({ error, nextAt: over ? null : Date.now() + wait });
  }

  // Jitter, so that a hundred open pages do not come back in the same second.
  function pause() {
    if (failures === 0) return everyMs;
    return Math.min(LONGEST_MS, FIRST_RETRY_MS * 2 ** (failures - 1)) * (0.8 + 0.2 * Math.random());
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) running?.abort();
    run();
  });
  run();
  return {
    refresh: () => run(),
    restart: () => {
      running?.abort();
      run();
    },
  };
}

/** Calls `work` each second while somebody can see the page. */
export function everySecond(work) {
  setInterval(() => document.hidden || work(), 1000);
}
