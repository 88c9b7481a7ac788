// Requests to the look-alike's server.

export async function loadState(as) {
  const answer = await fetch(`/page-api/state?as=${encodeURIComponent(as)}`);
  if (!answer.ok) throw new Error(`state: ${answer.status}`);
  return answer.json();
}

export async function doing(as, action, more = {}) {
  try {
    const answer = await fetch("/page-api/do", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ as, do: action, ...more }),
    });
    if (!answer.ok) return { ok: false, error: await answer.text() };
    return await answer.json();
  } catch (error) {
    return { ok: false, error: `The server cannot be reached (${error.message}).` };
  }
}

export async function uploading(as, file, more = {}) {
  const form = new FormData();
  form.append("as", as);
  for (const [name, value] of Object.entries(more)) if (value) form.append(name, value);
  form.append("file", file, file.name);
  const answer = await fetch("/page-api/upload", { method: "POST", body: form });
  return answer.ok ? answer.json() : { ok: false, error: await answer.text() };
}

// Calls onReady at every (re)connection, onNews for each change, onLost when the connection breaks.
export function listen(as, { onReady, onNews, onLost }) {
  const stream = new EventSource(`/page-api/stream?as=${encodeURIComponent(as)}`);
  stream.addEventListener("ready", onReady);
  stream.addEventListener("message", (event) => onNews(JSON.parse(event.data)));
  stream.addEventListener("error", onLost);
  return stream;
}
