// Calls of every sort, and calls by somebody who means harm.

export const diff = {
  type: 'diff', language: 'diff', metadata: { path: 'internal/auth/session.go', added: '5', removed: '2' },
  content: `--- a/internal/auth/session.go
+++ b/internal/auth/session.go
@@ -12,9 +12,12 @@ package auth
 // Session is who is signed in.
 type Session struct {
 	User    string
-	Expires time.Time
+	Expires time.Time // in UTC
 }
 
-func (s Session) Valid() bool { return time.Now().Before(s.Expires) }
+// Valid reports whether the session has not ended.
+func (s Session) Valid(now time.Time) bool {
+	return now.Before(s.Expires)
+}
 
 // Refresh makes the session last longer.
`,
}

const code = 'package main\n\n// main greets.\nfunc main() {\n\tprintln("hello", 3)\n}\n'
const site = { session: 'b7d1c9e2-7a55-4f2e-9d0c-1f6a2e8c33aa', cwd: '/home/dev/site', caller: 'claude-code/reviewer' }

// plain has each presentation and each risk.
export const plain = [
  [{ tool: 'Bash', args: { command: 'git push --force origin main && sudo systemctl restart app > /var/log/deploy.log' }, said: { description: 'Push the branch and restart the service' } }, { canEdit: true }],
  [{ tool: 'Edit', args: { file_path: '/home/dev/app/internal/auth/session.go', old_string: 'a', new_string: 'b' } }, { shown: diff, canEdit: true }],
  [{ tool: 'Write', args: { file_path: '/home/dev/app/hello.go', content: code } }, { shown: { type: 'file_content', language: 'go', content: code, metadata: { path: 'hello.go', size: '74 B' } } }],
  [{ tool: 'Bash', args: { command: 'npm run build' }, ...site }, { canEdit: true }],
  [{ tool: 'Bash', args: { command: 'npm run build' }, ...site }, {}],
  [{ tool: 'create_issue', server: 'github', args: { repo: 'acme/app', title: 'Login fails', labels: ['bug', 'p1'], token: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789', body: { steps: 3, done: true, of: null } }, ...site }, {}],
  [{ tool: 'WebFetch', args: { url: 'https://example.org:8443/a?q=1', prompt: 'look' } }, {}],
  [{ tool: 'Bash', args: { command: 'git commit -m "one two"' } }, {}],
]

const markup = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><iframe srcdoc="<script>top.pwned=1</script>"></iframe>javascript:window.pwned=1 {@html 1} {{1}}'
const ansi = '\u001b[2J\u001b]0;pwned\u0007\u009b31m'
const bidi = 'safe\u202egnp.exe\u2066\u2069 \u200b\u200d\ufeff\u{e0041} аdmin'
const line = 'A'.repeat(500_000) + markup + 'B'.repeat(500_000) // a megabyte

// hostile has all of that in every field that an agent fills.
export const hostile = [markup, ansi, bidi].flatMap((bad) => [
  [{ tool: 'Bash', args: { command: `echo ${bad}` }, said: { description: bad, [bad]: bad }, description: bad, cwd: `/home/${bad.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '')}`, session: 'h1' }, { canEdit: true }],
  [{ tool: 'odd', server: 'srv', args: { [bad]: bad, deep: [[{ [bad]: [bad] }]], command: bad, path: bad }, session: 'h2', tags: ['a'] }, { shown: { type: 'structured', content: JSON.stringify({ [bad]: bad }), metadata: { path: bad, note: bad, [bad]: bad } } }],
  [{ tool: 'Write', args: { file_path: `/home/dev/app/${bad}`, content: bad }, session: 'h3' }, { shown: { type: 'file_content', language: 'html', content: bad, metadata: { path: bad } } }],
  [{ tool: 'Edit', args: { file_path: '/x', old_string: bad, new_string: bad }, session: 'h4' }, { shown: { type: 'diff', content: `--- a/${bad}\n+++ b/${bad}\n@@ -1 +1 @@\n-${bad}\n+${bad}x\n`, metadata: { path: bad } } }],
]).concat([
  [{ tool: 'Write', args: { file_path: '/home/dev/app/long', content: line }, session: 'h5' }, { shown: { type: 'text', content: line } }],
  [{ tool: 'Bash', args: { command: `echo ok${' '.repeat(4000)}; rm -rf /` }, session: 'h5' }, {}],
])
