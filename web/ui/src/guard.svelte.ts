// When an answer may be given at all. A prompt that has just appeared or changed
// takes none for a moment, and never one that was on its way before that.

// inert is how long a prompt takes no answers, in milliseconds.
export const inert = 600

class Guard {
  live = $state(false)
  #at = Number.POSITIVE_INFINITY
  #timer = 0

  // changed begins the moment anew, once what changed has been drawn.
  changed() {
    this.#close()
    requestAnimationFrame(() => requestAnimationFrame(() => this.#begin()))
  }

  // gone is for when there is nothing to answer.
  gone() {
    this.#close()
  }

  #close() {
    this.live = false
    this.#at = Number.POSITIVE_INFINITY
    clearTimeout(this.#timer)
  }

  #begin() {
    clearTimeout(this.#timer)
    this.#at = performance.now() + inert
    this.#timer = window.setTimeout(() => { this.live = true }, inert)
  }

  // takes reports whether an event is one that was made while the prompt was
  // live. A key that was pressed before has an earlier time, however late it is
  // heard.
  takes(e: globalThis.Event): boolean {
    return this.live && e.timeStamp >= this.#at
  }
}

export const guard = new Guard()
