// Guarantee: the figures are the API's; only the outage is concluded from them, and two readings in a row must say so.

import { announce, byId, setText } from "../dom.js";
import { count, duration, tenths, whole } from "../words.js";
import { drawChart } from "./chart.js";
import { figuresHistory } from "./history.js";

/** Mail that waits so long while none goes out is stuck: the worker's breaker is open, or nobody works at all. */
const STUCK_SECONDS = 20;

/** The queue's figures, charts and outage banner. */
export function figures(api) {
  const history = figuresHistory();
  let stuckBefore = false;

  async function read(signal) {
    const now = await api.queue(signal);
    show(now);
    showCharts(now, history.add({ backlog: now.backlog, sends: now.sendsPerSecond }));
    const stuck = now.backlog > 0 && now.sendsPerSecond === 0 && now.oldestWaitSeconds >= STUCK_SECONDS;
    showOutage(stuck && stuckBefore, now);
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

function showCharts({ backlog, sendsPerSecond, providerLimit }, kept) {
  const top = (name) => Math.max(...kept.map((figures) => figures[name]));
  const [mostWaiting, mostSent] = [whole.format(top("backlog")), tenths.format(top("sends"))];
  setText(byId("backlog-top"), `at most ${mostWaiting}`);
  setText(byId("sends-top"), `at most ${mostSent}, limit ${tenths.format(providerLimit)}`);
  drawChart(byId("backlog-chart"), kept.map(({ at, backlog }) => [at, backlog]), {
    words: `Backlog: ${whole.format(backlog)} now, at most ${mostWaiting}.`,
  });
  drawChart(byId("sends-chart"), kept.map(({ at, sends }) => [at, sends]), {
    limit: providerLimit,
    words: `Mails a second: ${tenths.format(sendsPerSecond)} now, at most ${mostSent}; the provider allows ${tenths.format(providerLimit)}.`,
  });
}

function showOutage(isOut, { backlog, oldestWaitSeconds }) {
  const banner = byId("outage");
  const changed = banner.hidden === isOut;
  banner.hidden = !isOut;
  if (isOut) setText(byId("outage-words"), `${count(backlog, "invoice waits", "invoices wait")}, the oldest for ${duration(oldestWaitSeconds)}. None is lost: they go out by themselves when the mail server takes mail again.`);
  if (changed) announce(isOut ? `No mail is going out. ${byId("outage-words").textContent}` : "Mail goes out again.");
}
