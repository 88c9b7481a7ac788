// The page's state: people, channels with messages, unread counts, ephemeral messages.

export class Model {
  constructor(state) {
    this.take(state);
  }

  take(state) {
    this.state = state;
    this.me = state.me;
    this.people = new Map(state.people.map((person) => [person.id, person]));
    this.groups = new Map(state.groups.map((group) => [group.id, group]));
    this.channels = new Map();
    for (const channel of state.channels) {
      const messages = new Map(channel.messages.map((message) => [message.ts, message]));
      this.channels.set(channel.id, { ...channel, messages, private: new Map() });
    }
    for (const { channel, message } of state.ephemeral) this.channels.get(channel)?.private.set(message.ts, message);
    this.stack = state.stack;
    this.home = state.home;
    this.names = {
      person: (id) => this.people.get(id)?.profile.display_name,
      channel: (id) => this.channels.get(id)?.name,
      group: (id) => this.groups.get(id)?.handle,
      isMe: (id) => id === this.me,
      isMine: (id) => Boolean(this.groups.get(id)?.users?.includes(this.me)),
    };
  }

  // Applies one change; returns what must be redrawn.
  hear(news) {
    const channel = this.channels.get(news.channel);
    switch (news.kind) {
      case "message":
        if (!channel) return { reload: true };
        (news.only_for ? channel.private : channel.messages).set(news.ts, news.message);
        return { message: news.message, channel: channel.id };
      case "gone":
        channel?.messages.delete(news.ts);
        channel?.private.delete(news.ts);
        return { gone: news.ts, channel: news.channel };
      case "views":
        this.stack = news.stack;
        this.home = news.home;
        return { views: true };
      case "notice":
        return { notice: news.text };
      case "reload":
        return { reload: true };
      default:
        return {};
    }
  }

  notice(channel, text) {
    const ts = String(Date.now() / 1000);
    const message = { ts, user: "slackbot", text, is_ephemeral: true, plain: true };
    this.channels.get(channel)?.private.set(ts, message);
    return message;
  }

  // The messages of the channel itself, oldest first, including ephemeral ones.
  shown(id) {
    const channel = this.channels.get(id);
    if (!channel) return [];
    const open = [...channel.messages.values()].filter((message) => !message.thread_ts || message.thread_ts === message.ts || message.subtype === "thread_broadcast");
    const mine = [...channel.private.values()].filter((message) => !message.thread_ts);
    return [...open, ...mine].sort((one, other) => Number(one.ts) - Number(other.ts));
  }

  thread(id, ts) {
    const channel = this.channels.get(id);
    if (!channel) return [];
    const all = [...channel.messages.values(), ...channel.private.values()];
    return all.filter((message) => message.ts === ts || message.thread_ts === ts).sort((one, other) => Number(one.ts) - Number(other.ts));
  }

  #key(id) {
    return `read ${this.state.workspace} ${this.me} ${id}`;
  }

  lastRead(id) {
    return Number(sessionStorage.getItem(this.#key(id)) ?? 0);
  }

  read(id) {
    const last = this.shown(id).at(-1);
    if (last) sessionStorage.setItem(this.#key(id), last.ts);
  }

  // {count, loud}: loud when a message is addressed to me.
  unread(id) {
    const since = this.lastRead(id);
    const fresh = this.shown(id).filter((message) => Number(message.ts) > since && message.user !== this.me);
    const direct = this.channels.get(id)?.is_im;
    const meant = (message) => direct || message.is_ephemeral || [`<@${this.me}>`, "<!here>", "<!channel>", ...this.#myGroups()].some((sign) => JSON.stringify(message.blocks ?? message.text).includes(sign));
    return { count: fresh.length, loud: fresh.some(meant) };
  }

  #myGroups() {
    return [...this.groups.values()].filter((group) => group.users?.includes(this.me)).map((group) => `<!subteam^${group.id}`);
  }
}
