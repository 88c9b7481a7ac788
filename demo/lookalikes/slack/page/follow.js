// A list that stays at its newest message until its reader scrolls away from it.

const NEAR = 80; // pixels: so close to the end counts as the end

export class Follow {
  #follows = true;
  #top = 0;

  constructor(list) {
    this.list = list;
    list.addEventListener("scroll", () => this.#scrolled());
    list.addEventListener("load", () => this.keep(), true); // a picture that loads late makes the list longer
    new ResizeObserver(() => this.keep()).observe(list);
  }

  // A list that only became longer is further from its end too, but its reader has not moved.
  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.list;
    if (scrollHeight - scrollTop - clientHeight < NEAR) this.#follows = true;
    else if (scrollTop < this.#top) this.#follows = false;
    this.#top = scrollTop;
  }

  // Goes to the end, unless the reader is elsewhere.
  keep() {
    if (this.#follows) this.list.scrollTop = this.list.scrollHeight;
  }

  // Goes to the end, and follows it again.
  jump() {
    this.#follows = true;
    this.keep();
  }
}
