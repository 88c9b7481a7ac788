// Draws interactive elements (buttons, menus, inputs) and reports their use to the scene.

import { el, popup } from "./dom.js";
import { emoji } from "./emoji.js";
import { mrkdwn, plain } from "./mrkdwn.js";
import { uploading } from "./api.js";

const shown = (part) => (part?.text ?? "").replace(/:([a-z0-9_+-]+):/g, (whole, name) => emoji(name) ?? whole);
const optionsOf = (part) => [...(part.options ?? []), ...(part.option_groups ?? []).flatMap((group) => group.options)];

export function element(block, part, scene) {
  const draw = DRAWN[part.type];
  return draw ? draw(block, part, scene) : el("span", { class: "kit-unknown" }, `[${part.type}]`);
}

// Shows the app's confirmation first if there is one; resets the control when it is declined.
async function use(block, part, scene, value, control) {
  scene.remember?.(block, part, value);
  if (block.type === "input" && !block.dispatch_action) return;
  if (part.confirm && !(await scene.confirm(part.confirm))) {
    if (control?.tagName === "SELECT") control.value = "";
    return;
  }
  control?.classList.add("busy");
  await scene.act(block, part, value);
  control?.classList.remove("busy");
}

function button(block, part, scene) {
  const made = el("button", { type: "button", class: `kit-button ${part.style ?? ""}`, "aria-label": part.accessibility_label ?? null, "data-action-id": part.action_id }, plain(part.text.text));
  made.addEventListener("click", () => {
    if (part.url) window.open(part.url, "_blank", "noreferrer");
    use(block, part, scene, null, made);
  });
  return made;
}

function chosen(part, scene, block) {
  const kept = scene.recall?.(block, part);
  if (kept !== undefined) return kept;
  return part.initial_option?.value ?? part.initial_user ?? part.initial_channel ?? part.initial_conversation ?? null;
}

function select(block, part, scene, choices) {
  const made = el("select", { class: "kit-select", "aria-label": block.type === "input" ? null : part.placeholder?.text ?? part.action_id, "data-action-id": part.action_id });
  made.append(el("option", { value: "", disabled: !block.optional, hidden: !block.optional }, part.placeholder?.text ?? "Select an item"));
  for (const choice of choices) {
    if (choice.options) made.append(el("optgroup", { label: choice.label.text }, ...choice.options.map((one) => el("option", { value: one.value }, shown(one.text)))));
    else made.append(el("option", { value: choice.value }, shown(choice.text)));
  }
  made.value = chosen(part, scene, block) ?? "";
  made.addEventListener("change", () => use(block, part, scene, made.value, made));
  return made;
}

const fixed = (block, part, scene) => select(block, part, scene, part.option_groups ?? part.options);
const people = (scene) => [...scene.people()].filter((one) => !one.is_bot).map((one) => ({ value: one.id, text: { text: one.real_name } }));
const channels = (scene) => [...scene.channels()].map((one) => ({ value: one.id, text: { text: `#${one.name}` } }));

function several(block, part, scene, choices) {
  const before = scene.recall?.(block, part) ?? (part.initial_options ?? []).map((one) => one.value).concat(part.initial_users ?? []);
  const picked = new Set(before);
  const summary = el("summary", { "aria-label": part.placeholder?.text ?? block.label?.text ?? part.action_id });
  const summarize = () => {
    const names = choices.filter((one) => picked.has(one.value)).map((one) => shown(one.text));
    summary.replaceChildren(...(names.length ? names.map((name) => el("span", { class: "chip" }, name)) : [part.placeholder?.text ?? "Select items"]));
  };
  const boxes = choices.map((one) => el("label", { class: "choice" }, el("input", { type: "checkbox", checked: picked.has(one.value), onchange: (event) => {
    if (event.target.checked) picked.add(one.value);
    else picked.delete(one.value);
    summarize();
    use(block, part, scene, [...picked]);
  } }), shown(one.text)));
  summarize();
  return el("details", { class: "kit-several", "data-action-id": part.action_id }, summary, el("div", { class: "several-list" }, ...boxes));
}

function externalSeveral(block, part, scene) {
  let picked = [...(scene.recall?.(block, part) ?? part.initial_options ?? [])];
  const chips = el("span", { class: "chips" });
  const keep = (next) => {
    picked = next;
    chips.replaceChildren(...picked.map((one) => el("button", { type: "button", class: "chip", "aria-label": `Remove ${shown(one.text)}`, onclick: () => keep(picked.filter((other) => other !== one)) }, `${shown(one.text)} ✕`)));
    use(block, part, scene, picked);
  };
  const search = external(block, part, { ...scene, recall: () => undefined, remember: () => {} }, (one, field) => {
    field.value = "";
    if (!picked.some((other) => other.value === one.value)) keep([...picked, one]);
  });
  keep(picked);
  return el("div", { class: "kit-external-several" }, chips, search);
}

function external(block, part, scene, pick = null) {
  const list = el("div", { class: "found", role: "listbox", hidden: true });
  const kept = scene.recall?.(block, part);
  const field = el("input", { type: "text", class: "kit-text-input", role: "combobox", "aria-expanded": "false", autocomplete: "off", placeholder: part.placeholder?.text ?? "Type to search", value: shown((kept ?? part.initial_option)?.text) });
  let waiting;
  const search = async () => {
    if (field.value.length < (part.min_query_length ?? 3)) return;
    const offered = await scene.suggest(block, part, field.value);
    list.replaceChildren(...offered.map((one) => el("button", { type: "button", role: "option", onclick: () => {
      field.value = shown(one.text);
      list.hidden = true;
      if (pick) pick(one, field);
      else use(block, part, scene, one);
    } }, shown(one.text), one.description ? el("small", {}, shown(one.description)) : null)));
    if (!offered.length) list.replaceChildren(el("span", { class: "nothing" }, "No matches"));
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
  };
  field.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 200); });
  field.addEventListener("focus", () => { if (!field.value) search(); }); // what is filled in covers nothing
  field.addEventListener("blur", () => setTimeout(() => { list.hidden = true; field.setAttribute("aria-expanded", "false"); }, 200));
  return el("div", { class: "kit-external", "data-action-id": part.action_id }, field, list);
}

function ticks(kind) {
  return (block, part, scene) => {
    const many = kind === "checkbox";
    const before = scene.recall?.(block, part) ?? (many ? (part.initial_options ?? []).map((one) => one.value) : [part.initial_option?.value]);
    const picked = new Set([before].flat());
    const name = `tick-${block.block_id}-${part.action_id}`;
    return el("div", { class: "kit-ticks", role: many ? "group" : "radiogroup", "data-action-id": part.action_id }, ...part.options.map((one) =>
      el("label", { class: "choice" }, el("input", { type: kind, name, checked: picked.has(one.value), onchange: (event) => {
        if (!many) picked.clear();
        if (event.target.checked) picked.add(one.value);
        else picked.delete(one.value);
        use(block, part, scene, many ? [...picked] : one.value);
      } }), el("span", {}, one.text.type === "mrkdwn" ? mrkdwn(one.text.text, scene.names) : plain(one.text.text), one.description ? el("small", {}, shown(one.description)) : null))));
  };
}

function overflow(block, part, scene) {
  const made = el("button", { type: "button", class: "kit-button kit-overflow", "aria-haspopup": "menu", "aria-label": "More actions", "data-action-id": part.action_id }, "⋯");
  made.addEventListener("click", () => popup(made, part.options.map((one) => ({
    text: shown(one.text),
    note: one.description ? shown(one.description) : null,
    act: () => {
      if (one.url) window.open(one.url, "_blank", "noreferrer");
      use(block, part, scene, one.value, made);
    },
  })), "More actions"));
  return made;
}

function typed(block, part, scene) {
  const more = { class: "kit-text-input", placeholder: part.placeholder?.text, maxlength: part.max_length, minlength: part.min_length, autofocus: part.focus_on_load, "data-action-id": part.action_id };
  const value = scene.recall?.(block, part) ?? part.initial_value ?? "";
  const made = part.multiline ? el("textarea", { rows: 4, ...more }) : el("input", { type: part.type === "number_input" ? "number" : "text", step: part.is_decimal_allowed ? "any" : null, min: part.min_value, max: part.max_value, ...more });
  made.value = value;
  made.addEventListener("input", () => scene.remember?.(block, part, made.value));
  if (block.dispatch_action) made.addEventListener("keydown", (event) => event.key === "Enter" && use(block, part, scene, made.value, made));
  return made;
}

function dated(kind, initial) {
  return (block, part, scene) => {
    const made = el("input", { type: kind, class: "kit-text-input kit-date", "aria-label": block.type === "input" ? null : part.placeholder?.text ?? "Select a date", value: scene.recall?.(block, part) ?? part[initial] ?? "", "data-action-id": part.action_id });
    made.addEventListener("change", () => use(block, part, scene, made.value, made));
    return made;
  };
}

function files(block, part, scene) {
  const names = el("span", { class: "kit-hint" });
  const accept = part.filetypes?.map((one) => `.${one}`).join(",");
  const made = el("input", { type: "file", class: "kit-file", multiple: (part.max_files ?? 10) > 1, accept });
  made.addEventListener("change", async () => {
    const answers = await Promise.all([...made.files].map((file) => uploading(scene.me, file)));
    names.textContent = answers.map((answer) => (answer.ok ? "✓" : answer.error)).join(" ");
    scene.remember?.(block, part, answers.filter((answer) => answer.ok).map((answer) => answer.file));
  });
  return el("div", {}, made, names);
}

const DRAWN = {
  button,
  overflow,
  static_select: fixed,
  users_select: (block, part, scene) => select(block, part, scene, people(scene)),
  channels_select: (block, part, scene) => select(block, part, scene, channels(scene)),
  conversations_select: (block, part, scene) => select(block, part, scene, channels(scene)),
  multi_static_select: (block, part, scene) => several(block, part, scene, optionsOf(part)),
  multi_users_select: (block, part, scene) => several(block, part, scene, people(scene)),
  external_select: (block, part, scene) => external(block, part, scene),
  multi_external_select: externalSeveral,
  checkboxes: ticks("checkbox"),
  radio_buttons: ticks("radio"),
  plain_text_input: typed,
  number_input: typed,
  datepicker: dated("date", "initial_date"),
  timepicker: dated("time", "initial_time"),
  file_input: files,
};
