// Draws the list of channels and apps, with unread counts.

import { el, face } from "./dom.js";

export function drawSidebar(root, model, current, open) {
  const row = (channel, name, sign) => {
    const { count, loud } = channel.id === current && document.visibilityState === "visible" ? { count: 0, loud: false } : model.unread(channel.id);
    const label = count ? `${name}, ${count} unread` : name;
    return el("button", { type: "button", class: ["row", channel.id === current ? "current" : "", count ? "unread" : "", channel.is_archived ? "archived" : ""].join(" ").trim(), "aria-current": channel.id === current ? "page" : null, "aria-label": label, "data-channel": channel.id, onclick: () => open(channel.id) },
      sign, el("span", { class: "row-name" }, name), count ? el("span", { class: loud ? "count loud" : "count" }, count > 99 ? "99+" : String(count)) : null);
  };
  const all = [...model.channels.values()];
  const bot = model.people.get(model.state.bot);
  root.replaceChildren(
    el("h2", {}, "Channels"),
    ...all.filter((one) => !one.is_im).map((one) => row(one, one.name, el("span", { class: "hash", "aria-hidden": "true" }, one.is_private ? "🔒" : "#"))),
    el("h2", {}, "Apps"),
    ...all.filter((one) => one.is_im).map((one) => row(one, bot.name, face(bot, "tiny"))),
  );
}
