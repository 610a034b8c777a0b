// Guarantee: the figures are the API's, and so is the outage; one that no worker tells of is concluded, from two readings in a row.

import { announce, byId, setText } from "../dom.js";
import { clockTime, count, duration, tenths, whole } from "../words.js";
import { drawChart } from "./chart.js";
import { lastHour } from "./history.js";

/** Mail that waits so long while none goes out is stuck, though no worker's breaker says so: nobody works at all. */
const STUCK_SECONDS = 20;

/** No chart is shorter. */
const SHORTEST_MS = 300_000;

/** The queue's figures, charts and outage banner. */
export function figures(api) {
  const hour = lastHour(api);
  let stuckBefore = false;

  async function read(signal) {
    const now = await api.queue(signal);
    show(now);
    showCharts(now, await hour.add(now, signal));
    const away = now.backlog > 0 && now.provider?.state === "away";
    const stuck = now.backlog > 0 && now.sendsPerSecond === 0 && now.oldestWaitSeconds >= STUCK_SECONDS;
    showOutage(away || (stuck && stuckBefore), now);
    stuckBefore = stuck;
  }

  return { read };
}

function show({ backlog, backlogIs, oldestWaitSeconds, tickets, sendsPerSecond, providerLimit, drainSeconds, deadLetters }) {
  setText(byId("backlog"), `${whole.format(backlog)}${backlogIs === "atLeast" ? "+" : ""}`);
  const { waiting, inFlight, delayed } = tickets;
  setText(byId("tickets"), `${count(waiting + inFlight + delayed, "ticket")} on the queue`);
  setText(byId("oldest"), oldestWaitSeconds === null ? "–" : duration(oldestWaitSeconds));
  setText(byId("sends"), tenths.format(sendsPerSecond));
  setText(byId("limit"), `of ${tenths.format(providerLimit)} the provider allows`);
  setText(byId("drain"), backlog === 0 ? "–" : duration(drainSeconds));
  setText(byId("dead"), whole.format(deadLetters));
  setText(byId("dead-words"), deadLetters === 0 ? "nothing to look at" : "for a person to look at");
}

function showCharts({ backlog, sendsPerSecond, providerLimit }, hour) {
  const most = (points) => Math.max(...points.map(([, value]) => value));
  const [mostWaiting, mostSent] = [whole.format(most(hour.backlog)), tenths.format(most(hour.sends))];
  // A few minutes at first, so that a burst can be seen; then as long as there is something to show.
  const begins = [hour.backlog, hour.sends].map((points) => points.find(([, value]) => value > 0)?.[0] ?? Infinity);
  const begin = Math.min(...begins, hour.backlog.at(-1)[0] - SHORTEST_MS);
  setText(byId("backlog-top"), `at most ${mostWaiting}`);
  setText(byId("sends-top"), `at most ${mostSent}, limit ${tenths.format(providerLimit)}`);
  drawChart(byId("backlog-chart"), hour.backlog, {
    begin,
    words: `Backlog: ${whole.format(backlog)} now, at most ${mostWaiting}.`,
  });
  drawChart(byId("sends-chart"), hour.sends, {
    begin,
    limit: providerLimit,
    words: `Mails a second: ${tenths.format(sendsPerSecond)} now, at most ${mostSent}; the provider allows ${tenths.format(providerLimit)}.`,
  });
}

function showOutage(isOut, { backlog, oldestWaitSeconds, provider }) {
  const banner = byId("outage");
  const changed = banner.hidden === isOut;
  banner.hidden = !isOut;
  if (isOut) setText(byId("outage-words"), `${count(backlog, "invoice waits", "invoices wait")}, the oldest for ${duration(oldestWaitSeconds)}.${provider?.state === "away" ? ` The mail server has not answered since ${clockTime(Date.parse(provider.since))}.` : ""} None is lost: they go out by themselves when the mail server takes mail again.`);
  if (changed) announce(isOut ? `No mail is going out. ${byId("outage-words").textContent}` : "Mail goes out again.");
}
