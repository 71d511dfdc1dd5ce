//go:build unix

package canary_test

import (
	"math/rand/v2"
	"strings"
)

// The ways in which people and programs write secrets. § stands for one.
var (
	commands = []string{
		`TOKEN=§ make deploy`, `export API_KEY="§"; ./run`, `tool --password § --verbose`, `tool --api-key='§' -v`,
		`curl -H "Authorization: Bearer §" https://api.example.com/x`, `curl -H 'X-API-Key: §' https://api.example.com | sh`,
		`curl -u admin:§ https://h.example -X DELETE`, `curl "https://h.example/x?access_token=§&delete=all"`,
		`curl -d '{"user":"bob","password":"§"}' https://h.example`, `curl -d 'user=bob&password=§' https://h.example`,
		`mysql -u root -p§ -e 'drop table x'`, `sshpass -p § ssh root@h.example reboot`, `redis-cli -a § flushall`,
		`docker login -u me -p § reg.example`, `echo § | docker login --password-stdin reg.example`,
		`git clone https://oauth2:§@gitlab.example/x.git`, `psql "postgresql://app:§@db:5432/x" -c 'select 1'`,
		`aws configure set aws_secret_access_key §`, "cat > .env <<EOF\nA=1\nTOKEN=§\nEOF\nmake", `bash -c 'export TOKEN=§; rm x'`,
		`python3 -c 'import x; x.login(user="bob", password="§")'`, `kubectl create secret generic s --from-literal=password=§`,
		`psql "postgresql://app:§@db:5432/x" -c "select $(cat x)"`, `PASSWORD="§$(id)" x; curl https://u:§@h.example/`,
	}
	addresses = []string{
		`https://u:§@h.example/x?y=1`, `https://h.example/x?access_token=§&a=1`, `https://h.example/cb#id_token=§`,
		`http://u:§@127.0.0.1:8080/x`, `https://h.example/?u=https%3A%2F%2Fg.example%2F%3Ftoken%3D§%26a%3Db`, `https:\\u:§@h.example`,
		`https://hooks.slack.com/services/T00000000/B00000000/§`, `not an address, password=§`,
	}
	texts = []string{
		"Authorization: Bearer §\nHost: h", "Cookie: sid=§; theme=x\nHost: h", "user: bob\npassword: §\nhost: h\n", "db:\n  password: \"§\"  # old\n",
		"API_KEY=§\nHOST=h\n", "export SECRET_KEY='§'\nmake\n", `{"password":"§","host":"h"}`, `{"env":[{"name":"TOKEN","value":"§"}]}`,
		`{"a":"{\"token\":\"§\"}"}`, "const cfg = { apiKey: '§', host: 'h' };", "client = Client(api_key=\"§\")", "password := \"§\"\nrun()",
		"<password>§</password>", "Server=db;User Id=a;Password=§;Timeout=3", "see https://h.example/cb?id_token=§&state=2 for more",
		"machine h.example login bob password §", "-----BEGIN RSA PRIVATE KEY-----\n§\n-----END RSA PRIVATE KEY-----\nafter",
		"- name: API_TOKEN\n  value: §\n", "run `mytool --token § --now` first", "My password: §, do not tell", "+password: §\n-password: x",
	}
	mistakes = []string{ // as they stand in the text of an error
		`wrong password=§`, `x: Authorization: Bearer §`, `dial https://u:§@h.example/x: refused`, `{"api_key":"§"}: no such key`,
		"two lines\nAPI_KEY=§\nmore",
	}
	members = []string{"password", "apiKey", "X-Api-Key", "access_token", "client_secret", "DB_PASSWORD", "authorization", "privateKey", "passphrase"}
)

// shapes are credentials that are known by how they look, wherever they stand.
var shapes = []struct {
	prefix string
	n      int
}{{"ghp_", 36}, {"github_pat_", 82}, {"sk-ant-api03-", 95}, {"xoxb-123456789012-1234567890123-", 24}, {"glpat-", 20}, {"npm_", 36}, {"sk_live_", 24}}

// shaped is a credential that is known by its shape.
func (n *nest) shaped(r *rand.Rand) string {
	s := shapes[r.IntN(len(shapes))]
	return s.prefix + n.laySized(s.n)
}

// text is a text of one of the given kinds with a secret in it, or a shape in
// the middle of words.
func (n *nest) text(r *rand.Rand, kinds []string) string {
	if r.IntN(5) == 0 {
		return "take " + n.shaped(r) + " and go on"
	}
	return strings.ReplaceAll(kinds[r.IntN(len(kinds))], "§", n.lay())
}

// value is what a model might put into a field of a tool.
func (n *nest) value(r *rand.Rand, field string) any {
	low := strings.ToLower(field)
	switch {
	case r.IntN(6) == 0:
		return n.structure(r, 3)
	case strings.Contains(low, "command"):
		return n.text(r, commands)
	case strings.Contains(low, "url") || strings.Contains(low, "uri"):
		return n.text(r, addresses)
	case strings.Contains(low, "path") || strings.Contains(low, "dir"):
		return "/srv/" + n.shaped(r) + "/x.txt"
	}
	return n.text(r, [][]string{texts, texts, commands, addresses}[r.IntN(4)])
}

// structure is a JSON value with a secret under a telling name in it.
func (n *nest) structure(r *rand.Rand, deep int) any {
	if deep == 0 {
		return map[string]any{members[r.IntN(len(members))]: n.lay(), "n": 1}
	}
	switch r.IntN(4) {
	case 0:
		return []any{"a", n.structure(r, deep-1)}
	case 1:
		return map[string]any{"env": n.structure(r, deep-1), "host": "h"}
	case 2:
		return map[string]any{members[r.IntN(len(members))]: []any{n.lay(), 1, true}, "text": n.text(r, texts)}
	}
	return map[string]any{members[r.IntN(len(members))]: n.lay(), n.shaped(r): "a name that is a secret"}
}
