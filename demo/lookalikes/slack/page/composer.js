// The message composer: slash commands with hints, mentions, files.

import { doing, uploading } from "./api.js";
import { el, face } from "./dom.js";

export class Composer {
  #files = [];
  #offers = [];
  #at = 0;

  // where: () => ({channel, thread_ts, title}); view: {model, notice(text), sent(isInThread)}
  constructor(root, view, where) {
    this.view = view;
    this.where = where;
    this.field = el("textarea", { rows: 1, "aria-label": "Message", autocomplete: "off", spellcheck: "false" });
    this.offers = el("div", { class: "offers", role: "listbox", "aria-label": "Suggestions", hidden: true });
    this.chips = el("div", { class: "chips" });
    this.picker = el("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files to attach", onchange: () => this.#attach([...this.picker.files]) });
    this.button = el("button", { type: "submit", class: "send", "aria-label": "Send message", disabled: true }, "➤");
    const form = el("form", { class: "box" }, this.field, this.chips,
      el("div", { class: "bar" },
        el("button", { type: "button", class: "tool", "aria-label": "Attach file", title: "Attach file", onclick: () => this.picker.click() }, "📎"),
        el("button", { type: "button", class: "tool", "aria-label": "Mention someone", title: "Mention someone", onclick: () => this.#insert("@") }, "@"),
        el("button", { type: "button", class: "tool", "aria-label": "Slash commands", title: "Slash commands", onclick: () => this.#insert("/") }, "/"),
        el("span", { class: "bar-hint" }, "Enter to send, Shift+Enter for a new line"), this.button), this.picker);
    root.replaceChildren(this.offers, form);
    form.addEventListener("submit", (event) => { event.preventDefault(); this.send(); });
    form.addEventListener("dragover", (event) => event.preventDefault());
    form.addEventListener("drop", (event) => { event.preventDefault(); this.#attach([...event.dataTransfer.files]); });
    this.field.addEventListener("input", () => this.#changed());
    this.field.addEventListener("keydown", (event) => this.#key(event));
    this.field.addEventListener("blur", () => setTimeout(() => { this.offers.hidden = true; }, 150));
  }

  retitle() {
    this.field.placeholder = this.where().title;
  }

  async send() {
    const text = this.field.value.trim();
    const files = this.#files;
    if (!text && !files.length) return;
    const { channel, thread_ts } = this.where();
    this.field.value = "";
    this.#files = [];
    this.#changed();
    const { me } = this.view.model;
    let answer;
    if (files.length) {
      for (const [number, file] of files.entries()) answer = await uploading(me, file, { channel, thread_ts, comment: number ? "" : text });
    } else answer = await doing(me, "types", { channel, thread_ts, text });
    if (!answer.ok && answer.error && !/^(operation_timeout|dispatch_failed)$/.test(answer.error)) {
      this.view.notice(answer.error);
      if (!this.field.value) this.field.value = text;
    }
    this.#changed();
    this.view.sent(Boolean(thread_ts));
  }

  #attach(files) {
    this.#files.push(...files);
    this.picker.value = "";
    this.#changed();
    this.field.focus();
  }

  #insert(sign) {
    const at = this.field.selectionStart;
    const before = this.field.value.slice(0, at);
    this.field.value = sign === "/" ? "/" : before + (before && !before.endsWith(" ") ? " " : "") + sign + this.field.value.slice(at);
    this.field.focus();
    this.#changed();
  }

  #changed() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight, innerHeight / 3)}px`;
    this.button.disabled = !this.field.value.trim() && !this.#files.length;
    this.chips.replaceChildren(...this.#files.map((file, number) => el("span", { class: "chip file-chip" }, `📄 ${file.name}`, el("button", { type: "button", class: "plain", "aria-label": `Remove ${file.name}`, onclick: () => { this.#files.splice(number, 1); this.#changed(); } }, "✕"))));
    this.#offer();
  }

  #offer() {
    const before = this.field.value.slice(0, this.field.selectionStart);
    const { model } = this.view;
    const mention = before.match(/(?:^|\s)@([\w.-]*)$/);
    const command = before.match(/^\/(\S*)$/) || (before.match(/^\/(\S+) .{0,3}$/) ?? null);
    this.#offers = [];
    if (command && !this.where().thread_ts) {
      this.#offers = model.state.commands.filter((one) => one.name.startsWith(`/${command[1]}`)).map((one) => ({
        text: one.name, note: one.hint, fill: before.includes(" ") ? null : `${one.name} `, bot: true }));
    } else if (mention) {
      const prefix = mention[1].toLowerCase();
      const people = [...model.people.values()].map((one) => ({ text: `@${one.name}`, note: one.real_name, person: one }));
      const groups = [...model.groups.values()].map((one) => ({ text: `@${one.handle}`, note: `group of ${one.user_count}` }));
      this.#offers = [...people, ...groups].filter((one) => one.text.slice(1).toLowerCase().startsWith(prefix)).slice(0, 6)
        .map((one) => ({ ...one, fill: `${before.slice(0, before.length - prefix.length - 1)}${one.text} ` }));
    }
    this.#at = Math.min(this.#at, Math.max(0, this.#offers.length - 1));
    this.offers.hidden = !this.#offers.length;
    this.offers.replaceChildren(...this.#offers.map((one, number) => el("button", { type: "button", role: "option", "aria-selected": number === this.#at ? "true" : "false", onpointerdown: (event) => { event.preventDefault(); this.#take(one); } },
      one.bot ? face({ is_bot: true }, "tiny") : one.person ? face(one.person, "tiny") : "👥", el("strong", {}, one.text), el("small", {}, one.note))));
  }

  #take(offer) {
    if (!offer.fill) return;
    const after = this.field.value.slice(this.field.selectionStart);
    this.field.value = offer.fill + after;
    this.field.setSelectionRange(offer.fill.length, offer.fill.length);
    this.field.focus();
    this.#changed();
  }

  #key(event) {
    const open = !this.offers.hidden && this.#offers.some((one) => one.fill);
    if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      this.#at = (this.#at + (event.key === "ArrowDown" ? 1 : -1) + this.#offers.length) % this.#offers.length;
      this.#offer();
    } else if (open && (event.key === "Tab" || (event.key === "Enter" && this.field.value !== this.#offers[this.#at].fill.trim()))) {
      event.preventDefault();
      this.#take(this.#offers[this.#at]);
    } else if (event.key === "Escape") this.offers.hidden = true;
    else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.send();
    }
  }
}
