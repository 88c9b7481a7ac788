// Formats times as Slack does, in the reader's time zone.

let zone = undefined;

export function useZone(name) {
  zone = name || undefined;
}

function format(moment, options) {
  return new Intl.DateTimeFormat("en-US", { timeZone: zone, ...options }).format(moment);
}

export const momentOf = (ts) => new Date(Number(ts) * 1000);
export const clock = (ts) => format(momentOf(ts), { hour: "numeric", minute: "2-digit" });
export const dayKey = (ts) => format(momentOf(ts), { year: "numeric", month: "2-digit", day: "2-digit" });
export const whole = (ts) => format(momentOf(ts), { dateStyle: "full", timeStyle: "medium" });

function near(moment, fallback) {
  const day = dayKey(moment.getTime() / 1000);
  const now = Date.now() / 1000;
  if (day === dayKey(now)) return "today";
  if (day === dayKey(now - 86400)) return "yesterday";
  if (day === dayKey(now + 86400)) return "tomorrow";
  return fallback;
}

const capital = (word) => word.slice(0, 1).toUpperCase() + word.slice(1);

export function dayName(ts) {
  const moment = momentOf(ts);
  return capital(near(moment, format(moment, { weekday: "long", month: "long", day: "numeric" })));
}

export function ago(ts) {
  const seconds = Math.round(Date.now() / 1000 - Number(ts));
  const size = Math.abs(seconds);
  const [number, word] = size < 60 ? [size, "second"] : size < 3600 ? [Math.round(size / 60), "minute"] : size < 86400 ? [Math.round(size / 3600), "hour"] : [Math.round(size / 86400), "day"];
  const words = `${number} ${word}${number === 1 ? "" : "s"}`;
  return seconds < 0 ? `in ${words}` : `${words} ago`;
}

// <!date^1700000000^{date_short_pretty} at {time}|fallback>
export function dateToken(seconds, pattern) {
  const moment = momentOf(seconds);
  const month = { year: "numeric", day: "numeric" };
  const forms = {
    date_num: () => format(moment, { year: "numeric", month: "2-digit", day: "2-digit" }),
    date: () => format(moment, { ...month, month: "long" }),
    date_short: () => format(moment, { ...month, month: "short" }),
    date_long: () => format(moment, { ...month, month: "long", weekday: "long" }),
    time: () => format(moment, { hour: "numeric", minute: "2-digit" }),
    time_secs: () => format(moment, { hour: "numeric", minute: "2-digit", second: "2-digit" }),
    ago: () => ago(seconds),
  };
  for (const name of ["date", "date_short", "date_long"]) forms[`${name}_pretty`] = () => near(moment, forms[name]());
  const written = pattern.replace(/\{(\w+)\}/g, (token, name) => (forms[name] ? forms[name]() : token));
  return pattern.startsWith("{") ? capital(written) : written;
}
