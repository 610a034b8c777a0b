// Guarantee: an hour of figures, none older and none invented: the API's by the minute, and between them what this tab has read.

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The last hour as `{backlog, sends}`, each `[at, value]` oldest first, with `at` in milliseconds. */
export function lastHour(api) {
  const own = [];
  let past = { backlog: [], sends: [] }, readAt = -Infinity;

  return {
    async add({ backlog, sendsPerSecond }, signal) {
      const now = Date.now();
      own.push({ at: now, backlog, sends: sendsPerSecond });
      while (own[0].at < now - HOUR_MS) own.shift();
      if (now - readAt >= MINUTE_MS) {
        past = await read(signal);
        readAt = now;
      }
      return { backlog: merged("backlog"), sends: merged("sends") };
    },
  };

  async function read(signal) {
    const { backlog, sends } = await api.queueHistory(signal);
    return {
      backlog: backlog.map(({ at, backlog }) => [Date.parse(at), backlog]),
      // A minute's mails stand in its middle.
      sends: sends.map(({ at, sendsPerSecond }) => [Date.parse(at) + MINUTE_MS / 2, sendsPerSecond]),
    };
  }

  // What the tab has read is finer; a minute in which it looked needs no other word.
  function merged(name) {
    const seen = new Set(own.map(({ at }) => Math.floor(at / MINUTE_MS)));
    const others = past[name].filter(([at]) => !seen.has(Math.floor(at / MINUTE_MS)));
    return [...others, ...own.map((figures) => [figures.at, figures[name]])].sort(([a], [b]) => a - b);
  }
}
