// The app's modals, and confirmation dialogs.

import { doing } from "./api.js";
import { el } from "./dom.js";
import { blocks, textOf } from "./kit.js";

const layer = () => document.getElementById("layer");

function trapFocus(dialog, onEscape) {
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.stopPropagation(); onEscape(); }
    if (event.key !== "Tab") return;
    const stops = [...dialog.querySelectorAll("button,input,select,textarea,summary,a[href]")].filter((one) => !one.disabled && one.offsetParent);
    const edge = event.shiftKey ? stops[0] : stops.at(-1);
    if (document.activeElement === edge) { event.preventDefault(); (event.shiftKey ? stops.at(-1) : stops[0])?.focus(); }
  });
}

// Shows a confirmation dialog; resolves to true when the person confirms.
export function ask({ title, text, confirm, deny, style }, names) {
  return new Promise((settle) => {
    const done = (answer) => { shade.remove(); settle(answer); };
    const yes = el("button", { type: "button", class: `big ${style === "danger" ? "danger" : "primary"}`, onclick: () => done(true) }, textOf(confirm, names));
    const box = el("div", { class: "dialog ask", role: "alertdialog", "aria-modal": "true", "aria-label": title.text },
      el("div", { class: "dialog-head" }, el("h2", {}, textOf(title, names)), el("button", { type: "button", class: "plain", "aria-label": "Close", onclick: () => done(false) }, "✕")),
      el("div", { class: "dialog-body kit-text" }, textOf(text, names)),
      el("div", { class: "dialog-foot" }, el("button", { type: "button", class: "big", onclick: () => done(false) }, textOf(deny, names)), yes));
    const shade = el("div", { class: "shade above", onpointerdown: (event) => event.target === shade && done(false) }, box);
    trapFocus(box, () => done(false));
    layer().append(shade);
    yes.focus();
  });
}

// Shows the top modal of the stack, and keeps what is typed into it.
export class Modals {
  #typed = new Map();
  #errors = {};
  #shown = "";

  constructor(view) {
    this.view = view;
  }

  draw() {
    const { model } = this.view;
    const top = model.stack.at(-1);
    const key = top ? `${top.id} ${top.hash} ${model.stack.length} ${JSON.stringify(this.#errors)}` : "";
    if (key === this.#shown) return;
    const focus = document.activeElement?.closest(".modal") ? document.activeElement.id : "";
    layer().querySelector(".shade.modal")?.remove();
    this.#shown = key;
    if (!top) { this.#typed.clear(); this.#errors = {}; return; }
    const close = () => { this.#errors = {}; doing(model.me, "closes", { view: top.id }); };
    const form = el("form", { class: "dialog-body" }, ...blocks(top.blocks, this.#scene(top)));
    const send = top.submit ? el("button", { type: "submit", class: "big primary" }, top.submit.text) : null;
    const box = el("div", { class: "dialog", role: "dialog", "aria-modal": "true", "aria-label": top.title.text, "data-testid": "modal" },
      el("div", { class: "dialog-head" }, el("h2", {}, textOf(top.title, model.names)), el("button", { type: "button", class: "plain", "aria-label": "Close", onclick: close }, "✕")),
      form,
      el("div", { class: "dialog-foot" }, el("span", { class: "foot-note", role: "status" }), el("button", { type: "button", class: "big", onclick: close }, top.close?.text ?? (model.stack.length > 1 ? "Back" : "Cancel")), send));
    form.id = `form-${top.id}`;
    send?.setAttribute("form", form.id);
    form.addEventListener("submit", async (event) => { event.preventDefault(); await this.#submit(top, send, box); });
    trapFocus(box, close);
    layer().append(el("div", { class: "shade modal" }, box));
    (focus && document.getElementById(focus) || form.querySelector("[autofocus],input,textarea,select,summary") || send || box.querySelector("button")).focus();
  }

  async #submit(top, send, box) {
    send.disabled = true;
    send.classList.add("busy");
    const values = [...(this.#typed.get(top.id)?.values() ?? [])];
    const answer = await doing(this.view.model.me, "submits", { view: top.id, values });
    send.disabled = false;
    send.classList.remove("busy");
    this.#errors = answer.ok ? {} : answer.errors ?? {};
    if (!answer.ok && !Object.keys(this.#errors).length) box.querySelector(".foot-note").textContent = "We had some trouble connecting. Try again?";
    else this.draw();
  }

  #scene(top) {
    const typed = this.#typed.get(top.id) ?? new Map();
    this.#typed.set(top.id, typed);
    const key = (block, part) => `${block.block_id} ${part.action_id}`;
    return {
      ...this.view.scene(null),
      isView: true,
      errors: this.#errors,
      remember: (block, part, value) => typed.set(key(block, part), { block_id: block.block_id, action_id: part.action_id, value }),
      recall: (block, part) => typed.get(key(block, part))?.value,
      act: (block, part, value) => this.view.tell(doing(this.view.model.me, "acts", { view: top.id, block_id: block.block_id, action_id: part.action_id, value })),
      suggest: async (block, part, value) => (await doing(this.view.model.me, "suggests", { view: top.id, block_id: block.block_id, action_id: part.action_id, value })).options ?? [],
    };
  }
}
