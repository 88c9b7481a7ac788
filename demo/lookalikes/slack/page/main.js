// The page: loads the state, draws it, applies changes.

import { doing, listen, loadState } from "./api.js";
import { Composer } from "./composer.js";
import { ask, Modals } from "./dialog.js";
import { el, face, settle } from "./dom.js";
import { Follow } from "./follow.js";
import { blocks } from "./kit.js";
import { drawMessage } from "./message.js";
import { mrkdwn } from "./mrkdwn.js";
import { Model } from "./model.js";
import { drawSidebar } from "./sidebar.js";
import { dayKey, dayName, useZone } from "./time.js";

const $ = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const introduced = (person) => {
  const what = person.profile.title || (person.is_restricted ? "guest" : person.is_stranger ? "external" : "");
  return what ? `${person.profile.display_name} (${what})` : person.profile.display_name;
};
const archive = location.pathname.match(/^\/archives\/(\w+)\/p(\d+)$/);

class Page {
  channel = "";
  threadTs = "";
  tab = "messages";
  fresh = 0;
  #kept = new Map();
  #due = 0;

  async start() {
    this.model = new Model(await loadState(query.get("as") ?? sessionStorage.getItem("as") ?? ""));
    sessionStorage.setItem("as", this.model.me);
    this.modals = new Modals(this);
    this.follow = new Follow($("list"));
    this.threadFollow = new Follow($("thread-list"));
    this.composer = new Composer($("composer"), this, () => ({ channel: this.channel, title: `Message ${this.#title()}` }));
    this.threadComposer = new Composer($("thread-composer"), this, () => ({ channel: this.channel, thread_ts: this.threadTs, title: "Reply…" }));
    this.#wire();
    this.#open(this.#wanted());
    let first = true;
    listen(this.model.me, {
      onReady: () => { $("offline").hidden = true; if (first) first = false; else this.reload(); },
      onNews: (news) => this.#receive(news),
      onLost: () => { $("offline").hidden = false; },
    });
    if (first) await this.reload();
    document.body.dataset.ready = "true";
  }

  async reload() {
    this.model.take(await loadState(this.model.me));
    this.#kept.clear();
    if (!this.model.channels.has(this.channel)) this.#open(this.#wanted());
    this.drawAll();
  }

  #wanted() {
    const hash = decodeURIComponent(location.hash.slice(1));
    const named = [...this.model.channels.values()].find((one) => one.name === hash);
    const given = archive && this.model.channels.has(archive[1]) ? archive[1] : null;
    return this.model.channels.has(hash) ? hash : named?.id ?? given ?? this.model.channels.keys().next().value;
  }

  #wire() {
    const { model } = this;
    $("workspace").textContent = model.state.workspace;
    useZone(model.people.get(model.me).tz);
    const people = [...model.people.values()].filter((one) => !one.is_bot);
    $("acting").replaceChildren(...people.map((one) => el("option", { value: one.id }, introduced(one))));
    $("acting").value = model.me;
    $("acting-face").replaceChildren(face(model.people.get(model.me), "tiny"));
    $("acting").addEventListener("change", (event) => { location.href = `/?as=${event.target.value}#${this.channel}`; });
    $("menu").addEventListener("click", () => this.#menu(!document.body.classList.contains("menu-open")));
    $("thread-close").addEventListener("click", () => this.openThread(""));
    $("tab-messages").addEventListener("click", () => this.#show("messages"));
    $("tab-home").addEventListener("click", () => this.#show("home"));
    addEventListener("hashchange", () => this.#open(this.#wanted()));
    addEventListener("focus", () => { this.model.read(this.channel); this.#side(); });
  }

  #menu(open) {
    document.body.classList.toggle("menu-open", open);
    $("menu").setAttribute("aria-expanded", String(open));
  }

  #open(id) {
    this.channel = id;
    this.fresh = this.model.lastRead(id);
    this.#menu(false);
    history.replaceState(null, "", `/?as=${this.model.me}#${id}`);
    this.tab = "messages";
    this.openThread("");
    this.drawAll();
    this.follow.jump();
    if (archive?.[1] === id) $("list").querySelector(`[data-ts="${archive[2].slice(0, -6)}.${archive[2].slice(-6)}"]`)?.scrollIntoView();
    this.composer.field.focus({ preventScroll: true });
  }

  #show(tab) {
    this.tab = tab;
    if (this.model.channels.get(this.channel)?.is_im) doing(this.model.me, "home", { tab });
    this.drawAll();
  }

  #title() {
    const channel = this.model.channels.get(this.channel);
    return channel?.is_im ? this.model.state.people.find((one) => one.id === this.model.state.bot).name : `#${channel?.name}`;
  }

  drawAll() {
    const channel = this.model.channels.get(this.channel);
    if (!channel) return;
    $("title").textContent = this.#title();
    document.title = `${this.#title()} · ${this.model.state.workspace}`;
    const about = [channel.topic?.value, `${channel.num_members} members`, channel.is_archived ? "archived" : ""];
    $("about").textContent = channel.is_im ? "" : about.filter(Boolean).join(" · ");
    $("about").title = $("about").textContent;
    this.#welcome();
    $("tabs").hidden = !channel.is_im;
    for (const name of ["messages", "home"]) $(`tab-${name}`).setAttribute("aria-selected", String(this.tab === name));
    const home = this.tab === "home" && channel.is_im;
    $("home").hidden = !home;
    $("list").hidden = home;
    $("composer").hidden = home || channel.is_archived;
    $("home").replaceChildren(...(this.model.home ? blocks(this.model.home.blocks, this.#homeScene()) : [el("p", { class: "empty" }, "This app has not published a home tab for you yet.")]));
    this.composer.retitle();
    this.threadComposer.retitle();
    this.#drawList();
    this.#drawThread();
    this.modals.draw();
  }

  // What to do first, until the person closes it.
  #welcome() {
    const seen = `welcomed ${this.model.state.workspace} ${this.model.me}`;
    const lines = this.model.state.welcome ?? [];
    $("welcome").hidden = !lines.length || Boolean(sessionStorage.getItem(seen));
    const close = () => { sessionStorage.setItem(seen, "yes"); $("welcome").hidden = true; };
    $("welcome").replaceChildren(
      el("div", { class: "welcome-lines" }, ...lines.map((line) => el("p", {}, mrkdwn(line, this.model.names)))),
      el("button", { type: "button", class: "plain", "aria-label": "Close the welcome", onclick: close }, "✕"));
  }

  #drawList() {
    const list = $("list");
    const shown = this.model.shown(this.channel);
    const made = [];
    let before = null;
    for (const message of shown) {
      if (!before || dayKey(before.ts) !== dayKey(message.ts)) made.push(el("div", { class: "day", role: "separator" }, el("span", {}, dayName(message.ts))));
      if (this.fresh && before && Number(before.ts) <= this.fresh && Number(message.ts) > this.fresh && message.user !== this.model.me) made.push(el("div", { class: "day new", role: "separator" }, el("span", {}, "New")));
      const follows = before && before.user === message.user && message.ts - before.ts < 300 && !message.is_ephemeral && !before.is_ephemeral && made.at(-1)?.tagName === "ARTICLE" && message.subtype !== "thread_broadcast";
      made.push(this.#article(message, { follows: Boolean(follows) }));
      before = message;
    }
    if (!shown.length) made.push(el("p", { class: "empty" }, `This is the very beginning of ${this.#title()}.`));
    settle(list, made);
    this.follow.keep();
    if (document.hasFocus() || document.visibilityState === "visible") this.model.read(this.channel);
    this.#side();
  }

  // An unchanged message keeps its element.
  #article(message, how) {
    const place = `${this.channel} ${message.ts} ${how.inThread ? "thread" : ""}`;
    const key = JSON.stringify([message, how]);
    if (this.#kept.get(place)?.key !== key) this.#kept.set(place, { key, node: drawMessage(message, this.channel, this, how) });
    return this.#kept.get(place).node;
  }

  // Batches redraws: many changes at once are drawn once.
  #soon() {
    this.#due ||= setTimeout(() => { this.#due = 0; this.#drawList(); this.#drawThread(); }, 16);
  }

  #side() {
    drawSidebar($("sidebar"), this.model, this.channel, (id) => { location.hash = id; this.#menu(false); });
  }

  openThread(ts) {
    this.threadTs = ts;
    document.body.classList.toggle("thread-open", Boolean(ts));
    $("thread").hidden = !ts;
    this.#drawThread();
    if (ts) { this.threadFollow.jump(); this.threadComposer.field.focus({ preventScroll: true }); }
  }

  #drawThread() {
    if (!this.threadTs) return;
    const list = $("thread-list");
    $("thread-where").textContent = this.#title();
    const shown = this.model.thread(this.channel, this.threadTs);
    const made = shown.map((message) => this.#article(message, { inThread: true }));
    const count = shown.length - 1;
    if (count > 0) made.splice(1, 0, el("div", { class: "day count", role: "separator" }, el("span", {}, `${count} ${count === 1 ? "reply" : "replies"}`)));
    settle(list, made);
    this.threadFollow.keep();
    this.threadComposer.retitle();
  }

  // Whoever writes or presses something sees the answer.
  sent(isInThread) {
    (isInThread ? this.threadFollow : this.follow).jump();
  }

  #receive(news) {
    const change = this.model.hear(news);
    if (news.only_for && change.channel === this.channel) this.sent(Boolean(change.message?.thread_ts));
    if (change.reload) this.reload();
    else if (change.notice) this.notice(change.notice);
    else if (change.views) this.tab === "home" ? this.drawAll() : this.modals.draw();
    else if (change.channel) this.#soon();
  }

  notice(text) {
    this.model.notice(this.channel, text);
    this.#drawList();
  }

  dismiss(message) {
    this.model.channels.get(this.channel).private.delete(message.ts);
    this.#drawList();
    this.#drawThread();
  }

  async tell(promise) {
    const answer = await promise;
    if (!answer.ok && answer.error && !/^(timeout|connection|http)/.test(answer.error)) this.notice(answer.error);
    return answer;
  }

  async remove(message) {
    const label = (text) => ({ type: "plain_text", text });
    if (await ask({ title: label("Delete message"), text: label("Delete this message? This cannot be undone."), confirm: label("Delete"), deny: label("Cancel"), style: "danger" }, this.model.names))
      this.tell(doing(this.model.me, "deletes", { channel: this.channel, ts: message.ts }));
  }

  edit(message) {
    const text = prompt("Edit message", message.text);
    if (text?.trim()) this.tell(doing(this.model.me, "edits", { channel: this.channel, ts: message.ts, text }));
  }

  scene(message) {
    const { model, channel } = this;
    const at = (block, part, value) => ({ channel, ts: message?.ts, block_id: block.block_id, action_id: part.action_id, value });
    return {
      names: model.names,
      me: model.me,
      people: () => model.people.values(),
      channels: () => [...model.channels.values()].filter((one) => !one.is_im),
      confirm: (question) => ask(question, model.names),
      act: (block, part, value) => this.tell(doing(model.me, "acts", at(block, part, value))),
      suggest: async (block, part, value) => (await doing(model.me, "suggests", at(block, part, value))).options ?? [],
    };
  }

  #homeScene() {
    const view = this.model.home.id;
    return { ...this.scene(null), act: (block, part, value) => this.tell(doing(this.model.me, "acts", { view, block_id: block.block_id, action_id: part.action_id, value })) };
  }
}

new Page().start();
