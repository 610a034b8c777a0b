"use strict";

const at = (id) => document.getElementById(id);

const WORDS = {
  running: "The mail server is running",
  stopped: "The mail server is stopped: connections are refused",
  hanging: "The mail server hangs: it accepts mail and never answers",
  rejecting: "The mail server rejects every recipient",
  slow: "The mail server is slow",
  hangingUp: "The mail server takes mail and hangs up",
  garbling: "The mail server takes mail and answers gibberish",
  cuttingShort: "The mail server takes mail and hangs up in the middle of its answer",
  flooding: "The mail server takes mail and answers with 10 MB",
  quoting: "The mail server rejects every mail and quotes it",
  puttingOff: "The mail server puts every mail off",
};

let chosen = null;
let tab = "html";
let state = null;

async function ask(path, options) {
  const answer = await fetch(path, options);
  if (!answer.ok) throw new Error((await answer.text()) || `${answer.status}`);
  return answer.status === 204 ? null : answer.json();
}

function showProblem(text) {
  at("problem").textContent = text;
  at("problem").hidden = !text;
}

function showState(now) {
  state = now;
  at("dot").className = `dot ${now}`;
  at("state").textContent = WORDS[now];
  at("toggle").textContent = now === "running" ? "Stop the mail server" : "Start the mail server";
  at("toggle").disabled = false;
}

function span(name, text) {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}

function showList(mails) {
  at("count").textContent = mails.length || "";
  document.title = mails.length ? `Inbox (${mails.length})` : "Inbox";
  at("empty").hidden = mails.length > 0;
  at("mails").replaceChildren(...mails.map((mail) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(
      span("to", mail.to.join(", ") || "(nobody)"),
      span("time", new Date(mail.received).toLocaleTimeString()),
      span("subject", mail.subject || "(no subject)"),
    );
    button.setAttribute("aria-current", String(mail.id === chosen));
    button.addEventListener("click", () => open(mail.id));
    const item = document.createElement("li");
    item.dataset.id = mail.id;
    item.append(button);
    return item;
  }));
  if (chosen !== null && !mails.some((mail) => mail.id === chosen)) close();
}

function close() {
  chosen = null;
  at("mail").hidden = true;
  at("none").hidden = false;
}

async function open(id) {
  try {
    const mail = await ask(`/api/mails/${id}`);
    chosen = id;
    at("subject").textContent = mail.subject || "(no subject)";
    at("from").textContent = mail.from;
    at("to").textContent = mail.to.join(", ");
    at("date").textContent = mail.date ? new Date(mail.date).toLocaleString() : "";
    // Links of the mail open in a tab of their own; scripts do not run in this frame.
    at("html").srcdoc = mail.html ? `<base target="_blank">${mail.html}` : "<p>This mail has no HTML part.</p>";
    at("text").textContent = mail.text || "This mail has no text part.";
    at("raw").textContent = mail.raw;
    at("headers").tBodies[0].replaceChildren(...mail.headers.map((header) => {
      const row = document.createElement("tr");
      for (const value of [header.name, header.value]) row.insertCell().textContent = value;
      return row;
    }));
    at("mail").hidden = false;
    at("none").hidden = true;
    for (const item of at("mails").children) {
      item.firstChild.setAttribute("aria-current", String(Number(item.dataset.id) === id));
    }
    showTab(tab);
  } catch (error) {
    showProblem(`The mail cannot be shown: ${error.message}`);
  }
}

function showTab(name) {
  tab = name;
  for (const button of document.querySelectorAll("[data-tab]")) {
    const here = button.dataset.tab === name;
    button.setAttribute("aria-selected", String(here));
    at(button.dataset.tab).hidden = !here;
  }
}

for (const button of document.querySelectorAll("[data-tab]")) {
  button.addEventListener("click", () => showTab(button.dataset.tab));
}

at("toggle").addEventListener("click", async () => {
  at("toggle").disabled = true;
  try {
    const next = state === "running" ? "stopped" : "running";
    const server = await ask("/api/server", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ state: next }),
    });
    showState(server.state);
  } catch (error) {
    showProblem(error.message);
    at("toggle").disabled = false;
  }
});

at("clear").addEventListener("click", async () => {
  if (!confirm("Delete all mails of this inbox?")) return;
  try {
    await ask("/api/mails", { method: "DELETE" });
  } catch (error) {
    showProblem(error.message);
  }
});

async function follow() {
  let seen = null;
  for (;;) {
    try {
      const query = seen === null ? "" : `?after=${seen}`;
      const { version } = await ask(`/api/changes${query}`);
      if (version !== seen) {
        const [mails, server] = await Promise.all([ask("/api/mails"), ask("/api/server")]);
        showList(mails);
        showState(server.state);
        seen = version;
      }
      showProblem("");
    } catch {
      seen = null;
      showProblem("The inbox does not answer. Is the local stack still up?");
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

follow();
