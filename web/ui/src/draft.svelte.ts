// The policy file that somebody is trying out. It is kept while the tab is, and
// goes nowhere but to the replay.
class Draft {
  text = $state<string | null>(null)
  days = $state(30)
}

export const draft = new Draft()
