// Draws Slack's mrkdwn and plain text as elements.

import { el } from "./dom.js";
import { emoji } from "./emoji.js";
import { dateToken, whole } from "./time.js";

const MARKS = { "*": "strong", _: "em", "~": "s" };

const unescaped = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
const isWord = (letter) => letter !== undefined && /[\p{L}\p{N}_]/u.test(letter);

// names: {person(id), channel(id), group(id)} return the name to show, or undefined.
export function mrkdwn(text, names) {
  const made = document.createDocumentFragment();
  const parts = text.split(/```\n?([\s\S]*?)```/g);
  parts.forEach((part, number) => {
    if (number % 2) made.append(el("pre", { class: "code-block" }, unescaped(links(part))));
    else if (part) made.append(...paragraphs(number ? part.replace(/^\n/, "") : part, names));
  });
  return made;
}

export function plain(text) {
  const made = document.createDocumentFragment();
  made.append(...withEmoji(text));
  return made;
}

// Inside code, a link is shown as its target.
const links = (text) => text.replace(/<(https?:[^|>]+)(?:\|[^>]*)?>/g, "$1");

function paragraphs(text, names) {
  const made = [];
  let quote = null;
  const lines = text.split("\n");
  lines.forEach((line, number) => {
    const quoted = line.match(/^(?:&gt;|>)\s?(.*)$/);
    if (quoted) {
      if (!quote) made.push((quote = el("blockquote")));
      else quote.append(el("br"));
      quote.append(...inline(quoted[1], names));
      return;
    }
    if (quote && number) quote = null;
    const item = line.match(/^(\s*)([•◦▪]|-|\d{1,3}[.)])\s+(.*)$/);
    if (item) {
      const row = el("div", { class: "item" }, el("span", { class: "bullet" }, item[2]), el("span", {}, ...inline(item[3], names)));
      if (item[1].length) row.classList.add("deeper");
      made.push(row);
      return;
    }
    made.push(...inline(line, names));
    if (number < lines.length - 1) made.push(el("br"));
  });
  return made;
}

function inline(text, names) {
  const made = [];
  let waiting = "";
  const flush = () => {
    if (waiting) made.push(...withEmoji(unescaped(waiting)));
    waiting = "";
  };
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === "`") {
      const end = text.indexOf("`", at + 1);
      if (end > at + 1) {
        flush();
        made.push(el("code", {}, unescaped(links(text.slice(at + 1, end)))));
        at = end;
        continue;
      }
    } else if (letter === "<") {
      const end = text.indexOf(">", at);
      const link = end > 0 ? angle(text.slice(at + 1, end), names) : null;
      if (link) {
        flush();
        made.push(link);
        at = end;
        continue;
      }
    } else if (MARKS[letter] && !isWord(text[at - 1])) {
      const end = closing(text, at);
      if (end > 0) {
        flush();
        made.push(el(MARKS[letter], {}, ...inline(text.slice(at + 1, end), names)));
        at = end;
        continue;
      }
    }
    waiting += letter;
  }
  flush();
  return made;
}

// A mark opens before a letter and closes after one, at the end of a word, on the same line.
function closing(text, at) {
  const mark = text[at];
  if (!text[at + 1] || /\s/.test(text[at + 1]) || text[at + 1] === mark) return -1;
  for (let end = text.indexOf(mark, at + 2); end > 0; end = text.indexOf(mark, end + 1)) {
    if (!/\s/.test(text[end - 1]) && !isWord(text[end + 1]) && text[end + 1] !== mark) return end;
  }
  return -1;
}

function angle(inner, names) {
  const [target, label] = inner.includes("|") ? [inner.slice(0, inner.indexOf("|")), inner.slice(inner.indexOf("|") + 1)] : [inner, ""];
  if (target.startsWith("@")) {
    const person = names.person(target.slice(1));
    return el("span", { class: names.isMe?.(target.slice(1)) ? "mention me" : "mention" }, `@${person ?? label ?? target.slice(1)}`);
  }
  if (target.startsWith("#")) return el("a", { class: "mention", href: `#${target.slice(1)}` }, `#${names.channel(target.slice(1)) ?? (label || target.slice(1))}`);
  if (target.startsWith("!date^")) {
    const [, seconds, pattern, link] = target.split("^");
    const shown = Number.isFinite(Number(seconds)) ? dateToken(seconds, pattern ?? "") : unescaped(label);
    return el(link ? "a" : "time", link ? { href: safe(link), target: "_blank", rel: "noreferrer" } : { title: whole(seconds) }, shown);
  }
  if (target.startsWith("!subteam^")) return el("span", { class: names.isMine?.(target.slice(9)) ? "mention me" : "mention" }, label || `@${names.group(target.slice(9)) ?? target.slice(9)}`);
  if (target.startsWith("!")) return el("span", { class: "mention me" }, label || `@${target.slice(1)}`);
  if (!/^(https?:|mailto:|tel:|\/)/.test(target)) return null;
  return el("a", { href: safe(unescaped(target)), target: "_blank", rel: "noreferrer" }, ...withEmoji(unescaped(label || target)));
}

const safe = (link) => (/^(https?:|mailto:|tel:|\/)/.test(link) ? link : "#");

function withEmoji(text) {
  const made = [];
  let from = 0;
  for (const found of text.matchAll(/:([a-z0-9_+'-]+(?:::skin-tone-\d)?):/g)) {
    const sign = emoji(found[1]);
    if (!sign) continue;
    made.push(text.slice(from, found.index), el("span", { class: "emoji", role: "img", "aria-label": found[1] }, sign));
    from = found.index + found[0].length;
  }
  made.push(text.slice(from));
  return made.filter((part) => part !== "");
}

// rich_text blocks, as Slack's composer creates them.
export function rich(parts, names) {
  return parts.map((part) => {
    const inner = part.elements ?? [];
    switch (part.type) {
      case "rich_text_list":
        return el(part.style === "ordered" ? "ol" : "ul", {}, ...inner.map((one) => el("li", {}, ...rich([one], names))));
      case "rich_text_preformatted":
        return el("pre", { class: "code-block" }, inner.map((word) => word.text ?? word.url ?? "").join(""));
      case "rich_text_quote":
        return el("blockquote", {}, ...inner.map((word) => richElement(word, names)));
      default:
        return el("div", {}, ...inner.map((word) => richElement(word, names)));
    }
  });
}

function richElement(word, names) {
  if (word.type === "user") return angle(`@${word.user_id}`, names);
  if (word.type === "channel") return angle(`#${word.channel_id}`, names);
  if (word.type === "usergroup") return angle(`!subteam^${word.usergroup_id}`, names);
  if (word.type === "date") return el("span", { class: "kept" }, dateToken(word.timestamp, word.format));
  if (word.type === "emoji") return emoji(word.name) ?? `:${word.name}:`;
  let made = word.type === "link" ? el("a", { href: safe(word.url), target: "_blank", rel: "noreferrer" }, word.text ?? word.url) : el("span", { class: "kept" }, word.text ?? "");
  const style = word.style ?? {};
  for (const [name, tag] of [["code", "code"], ["bold", "strong"], ["italic", "em"], ["strike", "s"]]) if (style[name]) made = el(tag, {}, made);
  return made;
}
