// Sound and notices of the desktop, each where somebody asked for it. They say
// that something waits and whose it is, and nothing of the arguments.
import { heading, type Item } from './inbox.svelte'
import { route } from './route.svelte'
import { count } from './words'

const kept = (name: string) => localStorage.getItem(`sayso.${name}`) === 'on'
const keep = (name: string, on: boolean) => localStorage.setItem(`sayso.${name}`, on ? 'on' : 'off')
const allowed = () => 'Notification' in window && Notification.permission === 'granted'

class Notices {
  sound = $state(kept('sound'))
  desktop = $state(kept('desktop') && allowed())
  told = $state('')
  #audio: AudioContext | null = null

  setSound(on: boolean) {
    this.sound = on
    keep('sound', on)
    if (on) this.#ring() // so that one knows it; and a browser lets a page sound only after a click
  }

  async setDesktop(on: boolean) {
    this.told = ''
    if (on && !allowed() && (!('Notification' in window) || (await Notification.requestPermission()) !== 'granted')) {
      this.told = 'The browser does not allow it: look at its settings for this address.'
      on = false
    }
    this.desktop = on
    keep('desktop', on)
  }

  // tell says that something came in. Who looks at the page sees it.
  tell(came: Item[]) {
    if (came.length === 0) return
    if (this.sound) this.#ring()
    if (this.desktop && (document.hidden || !document.hasFocus())) void this.#show(came).catch(() => {}) // the title says it too
  }

  async #show(came: Item[]) {
    const first = came[0]!.r
    const title = came.length === 1 ? 'A request waits' : `${count(came.length, 'request')} wait`
    const notice = { body: came.length === 1 ? heading(first) : 'Look at the page.', tag: 'sayso', icon: '/icon.svg', data: `/r/${first.id}` }
    const worker = await navigator.serviceWorker?.getRegistration()
    if (worker) return worker.showNotification(title, notice)
    new Notification(title, notice).onclick = () => {
      window.focus()
      route.go(notice.data)
    }
  }

  // ring is two short tones.
  #ring() {
    const audio = (this.#audio ??= new AudioContext())
    void audio.resume()
    for (const [i, pitch] of [659, 880].entries()) {
      const [tone, volume, at] = [audio.createOscillator(), audio.createGain(), audio.currentTime + i * 0.14]
      tone.frequency.value = pitch
      volume.gain.setValueAtTime(0.12, at)
      volume.gain.exponentialRampToValueAtTime(0.001, at + 0.3)
      tone.connect(volume).connect(audio.destination)
      tone.start(at)
      tone.stop(at + 0.32)
    }
  }
}

export const notices = new Notices()
