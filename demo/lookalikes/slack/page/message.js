// Draws one message with its reactions, files, replies and hover toolbar.

import { doing } from "./api.js";
import { el, face, popup } from "./dom.js";
import { emoji, REACTIONS } from "./emoji.js";
import { attachments, blocks } from "./kit.js";
import { mrkdwn, plain } from "./mrkdwn.js";
import { clock, dayName, whole } from "./time.js";

const SLACKBOT = { name: "Slackbot", real_name: "Slackbot", profile: { display_name: "Slackbot" } };

// view: {model, scene(message), openThread(ts), changed()}; follows: omits the author's name, as Slack does.
export function drawMessage(message, channel, view, { follows = false, inThread = false } = {}) {
  const { model } = view;
  const author = message.user === "slackbot" ? SLACKBOT : model.people.get(message.user);
  const name = author?.profile.display_name || author?.name || message.user;
  const made = el("article", {
    class: ["message", follows ? "follows" : "", message.is_ephemeral ? "private" : "", message.pinned_to ? "pinned" : ""].join(" ").trim(),
    "data-testid": "message",
    "data-ts": message.ts,
    "aria-label": `${name} at ${clock(message.ts)}`,
  });
  const stamp = el("a", { class: "stamp", href: linkTo(channel, message), title: whole(message.ts) }, clock(message.ts));
  made.append(el("div", { class: "gutter" }, follows ? stamp : face(author)));
  const body = el("div", { class: "said" });
  if (message.is_ephemeral) body.append(el("div", { class: "only-you" }, "👁 Only visible to you"));
  if (message.pinned_to) body.append(el("div", { class: "only-you" }, "📌 Pinned"));
  if (!follows) {
    const signs = [author?.is_bot ? el("span", { class: "badge" }, "APP") : null, author?.is_restricted ? el("span", { class: "badge" }, "GUEST") : null, author?.is_stranger ? el("span", { class: "badge" }, "EXTERNAL") : null];
    body.append(el("div", { class: "who" }, el("strong", {}, name), ...signs, stamp));
  }
  if (message.subtype === "thread_broadcast") body.append(broadcastLine(message, view, inThread));
  body.append(...content(message, view));
  body.append(...files(message));
  if (message.reactions?.length) body.append(reactions(message, channel, view));
  if (!inThread && message.reply_count) body.append(replies(message, view));
  if (message.is_ephemeral) body.append(el("div", { class: "dismiss" }, el("button", { type: "button", class: "plain small", onclick: () => view.dismiss(message) }, "Dismiss message")));
  made.append(body);
  if (!message.is_ephemeral) made.append(tools(message, channel, view, inThread));
  return made;
}

function content(message, view) {
  const scene = view.scene(message);
  const edited = message.edited ? el("span", { class: "edited", title: "This message was edited" }, "(edited)") : null;
  const parts = message.blocks?.length ? blocks(message.blocks, scene) : message.text ? [el("div", { class: "kit-text" }, message.plain ? plain(message.text) : mrkdwn(message.text, scene.names))] : [];
  parts.push(...attachments(message.attachments, scene));
  if (edited) (parts.length === 1 && !message.blocks?.length ? parts[0] : { append: (mark) => parts.push(mark) }).append(edited);
  return parts;
}

function broadcastLine(message, view, inThread) {
  if (inThread) return el("div", { class: "broadcast" }, "Also sent to the channel");
  return el("div", { class: "broadcast" }, "replied to a thread: ", el("button", { type: "button", class: "plain", onclick: () => view.openThread(message.thread_ts) }, "open it"));
}

function files(message) {
  return (message.files ?? []).map((file) => {
    const address = `/page-api/file/${file.id}`;
    if (/^image\/(png|jpeg|gif)$/.test(file.mimetype)) return el("figure", { class: "file-image" }, el("figcaption", {}, file.title), el("a", { href: address, target: "_blank" }, el("img", { class: "image wide", src: address, alt: file.title })));
    const size = file.size < 1024 ? `${file.size} B` : file.size < 1048576 ? `${Math.round(file.size / 1024)} kB` : `${(file.size / 1048576).toFixed(1)} MB`;
    return el("a", { class: "file", href: address, download: file.name }, el("span", { class: "file-sign", "aria-hidden": "true" }, "📄"), el("span", {}, el("strong", {}, file.title), el("small", {}, `${file.filetype} · ${size}`)));
  });
}

function reactions(message, channel, view) {
  const { model } = view;
  return el("div", { class: "reactions" }, ...message.reactions.map((each) => {
    const who = each.users.map((id) => model.names.person(id)).join(", ");
    return el("button", { type: "button", class: each.users.includes(model.me) ? "reaction mine" : "reaction", title: `${who} reacted with :${each.name}:`, "aria-label": `${each.name}, ${each.count}`, onclick: () => doing(model.me, "reacts", { channel, ts: message.ts, name: each.name }) }, emoji(each.name) ?? `:${each.name}:`, " ", String(each.count));
  }));
}

function replies(message, view) {
  const who = (message.reply_users ?? []).slice(0, 4).map((id) => face(view.model.people.get(id), "tiny"));
  const count = message.reply_count;
  return el("button", { type: "button", class: "replies", onclick: () => view.openThread(message.ts) }, ...who, el("strong", {}, `${count} ${count === 1 ? "reply" : "replies"}`), el("span", {}, `Last reply ${dayName(message.latest_reply).toLowerCase()} at ${clock(message.latest_reply)}`));
}

function tools(message, channel, view, inThread) {
  const { model } = view;
  const tool = (label, sign, act) => el("button", { type: "button", class: "tool", "aria-label": label, title: label, onclick: act }, sign);
  const react = (name) => () => doing(model.me, "reacts", { channel, ts: message.ts, name });
  const more = tool("More message actions", "⋯", () => popup(more, [
    { text: "Copy link", act: () => navigator.clipboard?.writeText(new URL(linkTo(channel, message), location.href).href) },
    ...model.state.message_shortcuts.map((each) => ({ text: each.title, act: () => view.tell(doing(model.me, "shortcut", { id: each.id, channel, ts: message.ts })) })),
    ...(message.user === model.me ? [{ text: "Edit message", act: () => view.edit(message) }] : []),
    { text: "Delete message", danger: true, act: () => view.remove(message) },
  ], "More message actions"));
  return el("div", { class: "tools", role: "toolbar", "aria-label": "Message actions" },
    ...REACTIONS.slice(0, 3).map((name) => tool(`React with ${name}`, emoji(name), react(name))),
    inThread ? null : tool("Reply in thread", "💬", () => view.openThread(message.thread_ts ?? message.ts)), more);
}

const linkTo = (channel, message) => `/archives/${channel}/p${message.ts.replace(".", "")}`;
