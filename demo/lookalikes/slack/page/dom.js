// Creates elements. Text is always inserted as text, so what people or apps write never becomes markup.

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value") made.value = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const COLOURS = ["#2f6fde", "#b4432f", "#1f8a5b", "#8a4fbf", "#b87a10", "#17818f", "#a8416f", "#4f6a2f"];

function colourOf(name) {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 9973;
  return COLOURS[sum % COLOURS.length];
}

export function face(person, size = "") {
  if (!person) return el("span", { class: `face ${size}` }, "?");
  if (person.is_bot) return el("img", { class: `face ${size}`, src: "/page/icon.svg", alt: "" });
  const made = el("span", { class: `face ${size}`, "aria-hidden": "true" }, (person.real_name || person.name).slice(0, 1).toUpperCase());
  made.style.background = colourOf(person.name);
  return made;
}

// A small menu under a button; it closes on a choice, on Escape, or on a click elsewhere.
export function popup(anchor, items, label) {
  document.querySelector(".popup")?.remove();
  const menu = el("div", { class: "popup", role: "menu", "aria-label": label });
  const away = (event) => {
    if (event.type === "keydown" ? event.key === "Escape" : !menu.contains(event.target)) close();
  };
  const close = () => {
    menu.remove();
    document.removeEventListener("pointerdown", away, true);
    document.removeEventListener("keydown", away, true);
  };
  for (const item of items) {
    menu.append(el("button", { type: "button", role: "menuitem", class: item.danger ? "danger" : null, onclick: () => { close(); item.act(); } }, item.text,
      item.note ? el("small", {}, item.note) : null));
  }
  document.body.append(menu);
  const box = anchor.getBoundingClientRect();
  const left = Math.min(box.left, innerWidth - menu.offsetWidth - 8);
  const below = box.bottom + 4 + menu.offsetHeight < innerHeight;
  menu.style.left = `${Math.max(8, left)}px`;
  menu.style.top = `${below ? box.bottom + 4 : Math.max(8, box.top - menu.offsetHeight - 4)}px`;
  document.addEventListener("pointerdown", away, true);
  document.addEventListener("keydown", away, true);
  menu.querySelector("button")?.focus();
}

// Sets the children of root, touching only nodes that differ: focus, open menus and scroll positions stay.
export function settle(root, nodes) {
  nodes.forEach((node, place) => {
    if (root.children[place] !== node) root.insertBefore(node, root.children[place] ?? null);
  });
  while (root.children.length > nodes.length) root.lastElementChild.remove();
}
