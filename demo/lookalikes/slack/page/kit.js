// Draws the blocks of messages, modals and the home tab.

import { el } from "./dom.js";
import { element } from "./elements.js";
import { mrkdwn, plain, rich } from "./mrkdwn.js";
import { dateToken } from "./time.js";

// scene: {names, act(block, element, value), confirm(element), isView, errors, remember, recall, suggest}
export function blocks(list, scene) {
  return (list ?? []).map((block) => el("div", { class: `block block-${block.type}`, "data-block-id": block.block_id }, drawn(block, scene)));
}

export function textOf(part, names) {
  if (!part) return "";
  return part.type === "mrkdwn" ? mrkdwn(part.text, names) : plain(part.text);
}

function drawn(block, scene) {
  const { names } = scene;
  switch (block.type) {
    case "header":
      return el("h3", { class: "kit-header" }, textOf(block.text, names));
    case "divider":
      return el("hr");
    case "section":
      return section(block, scene);
    case "context":
      return el("div", { class: "kit-context" }, ...block.elements.map((part) => (part.type === "image" ? image(part, "tiny") : el("span", {}, textOf(part, names)))));
    case "actions":
      return el("div", { class: "kit-actions" }, ...block.elements.map((part) => element(block, part, scene)));
    case "input":
      return input(block, scene);
    case "image":
      return el("figure", { class: "kit-image" }, block.title ? el("figcaption", {}, textOf(block.title, names)) : null, image(block, "wide"));
    case "table":
      return table(block, names);
    case "rich_text":
      return el("div", { class: "kit-text" }, ...rich(block.elements, names));
    default:
      return el("div", { class: "kit-unknown" }, `[${block.type}]`);
  }
}

// The first row is the heading. A column that is not wrapped keeps its cells on one line.
function table(block, names) {
  const [heading, ...rows] = block.rows;
  const how = (column) => block.column_settings?.[column] ?? {};
  const cell = (kind) => (part, column) => el(kind, { class: `${how(column).is_wrapped ? "" : "whole"} ${how(column).align ?? "left"}`.trim() }, part.type === "raw_text" ? part.text : el("span", {}, ...rich(part.elements, names)));
  const row = (kind) => (cells) => el("tr", {}, ...cells.map(cell(kind)));
  return el("div", { class: "kit-table" }, el("table", {}, el("thead", {}, row("th")(heading)), el("tbody", {}, ...rows.map(row("td")))));
}

function section(block, scene) {
  const body = el("div", { class: "kit-words" });
  if (block.text) body.append(el("div", { class: "kit-text" }, textOf(block.text, scene.names)));
  if (block.fields) body.append(el("div", { class: "kit-fields" }, ...block.fields.map((field) => el("div", { class: "kit-text" }, textOf(field, scene.names)))));
  const accessory = block.accessory;
  if (!accessory) return body;
  const side = accessory.type === "image" ? image(accessory, "thumb") : element(block, accessory, scene);
  return el("div", { class: "kit-section" }, body, el("div", { class: "kit-accessory" }, side));
}

function input(block, scene) {
  const field = element(block, block.element, scene);
  const error = scene.errors?.[block.block_id];
  const control = field.matches("input,textarea,select") ? field : field.querySelector("input,textarea,select,summary,button");
  const name = `in-${block.block_id}`;
  if (control && !control.id) control.id = name;
  if (error) control?.setAttribute("aria-invalid", "true");
  return el("div", { class: error ? "kit-input wrong" : "kit-input" },
    el("label", { for: control?.id ?? name }, textOf(block.label, scene.names), block.optional ? el("span", { class: "optional" }, " (optional)") : null),
    field,
    error ? el("div", { class: "kit-error", role: "alert" }, error) : null,
    block.hint ? el("div", { class: "kit-hint" }, textOf(block.hint, scene.names)) : null);
}

function image(part, size) {
  const address = part.slack_file?.id ? `/page-api/file/${part.slack_file.id}` : part.image_url;
  return el("img", { class: `image ${size}`, src: address, alt: part.alt_text, title: part.alt_text });
}

// Attachments: a coloured bar beside blocks or the legacy fields.
export function attachments(list, scene) {
  return (list ?? []).map((part) => {
    const inner = el("div", { class: "attachment-inner" });
    if (part.pretext) inner.append(el("div", { class: "kit-text" }, mrkdwn(part.pretext, scene.names)));
    if (part.author_name) inner.append(el("div", { class: "attachment-author" }, part.author_name));
    if (part.title) inner.append(part.title_link ? el("a", { class: "attachment-title", href: part.title_link, target: "_blank", rel: "noreferrer" }, part.title) : el("div", { class: "attachment-title" }, part.title));
    if (part.text) inner.append(el("div", { class: "kit-text" }, mrkdwn(part.text, scene.names)));
    if (part.fields) inner.append(el("div", { class: "kit-fields" }, ...part.fields.map((field) => el("div", {}, el("strong", {}, field.title), el("br"), mrkdwn(String(field.value ?? ""), scene.names)))));
    inner.append(...blocks(part.blocks, scene));
    if (!part.blocks && !part.text && part.fallback) inner.append(part.fallback);
    if (part.footer) inner.append(el("div", { class: "kit-context" }, part.footer, part.ts ? ` | ${dateToken(part.ts, "{date_short_pretty} at {time}")}` : ""));
    const bar = el("div", { class: "attachment" }, inner);
    if (/^#?[0-9a-f]{6}$/i.test(part.color ?? "")) bar.style.borderLeftColor = `#${part.color.replace("#", "")}`;
    else if (["good", "warning", "danger"].includes(part.color)) bar.classList.add(part.color);
    return bar;
  });
}
