package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/sayso-dev/sayso/redact"
)

// alphabets that secrets are drawn from, and how long they are.
var alphabets = []struct {
	chars string
	n     int
}{
	{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 32},
	{"0123456789abcdef", 40},
	{"abcdefghijklmnopqrstuvwxyz", 12},
	{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 22},
	{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 41},
}

func secret(r *rand.Rand, kind int) string {
	a := alphabets[kind%len(alphabets)]
	b := make([]byte, a.n)
	for i := range b {
		b[i] = a.chars[r.IntN(len(a.chars))]
	}
	b[0], b[len(b)-1] = 'q', 'z' // no dash or sign at an end
	return string(b)
}

// leaks returns a part of eight characters of the secret that out shows.
func leaks(out, secret string) string {
	for i := 0; i+8 <= len(secret); i++ {
		if strings.Contains(out, secret[i:i+8]) {
			return secret[i : i+8]
		}
	}
	return ""
}

// canary is a place for a secret (§), and what must stay visible around it.
type canary struct {
	key, text string
	keep      []string
}

var canaries = []canary{
	// Command lines.
	{"command", `TOKEN=§ make deploy; rm -rf /`, []string{"TOKEN=", "make deploy; rm -rf /"}},
	{"command", `TOKEN='§' make deploy && rm -rf /`, []string{"make deploy && rm -rf /"}},
	{"command", `export API_KEY="§"; reboot`, []string{"export API_KEY=", "; reboot"}},
	{"command", `env DB_PASSWORD=§ ./run --fast`, []string{"./run --fast"}},
	{"command", `A=1 PGPASSWORD=§ psql -c 'drop table x'`, []string{"A=1", "psql -c 'drop table x'"}},
	{"command", `TOKEN=§&rm x`, []string{"&rm x"}},
	{"command", `TOKEN=§|sh`, []string{"|sh"}},
	{"command", `TOKEN=§>out; sh`, []string{">out; sh"}},
	{"command", "TOKEN=§\nrm -rf /", []string{"\nrm -rf /"}},
	{"command", `(TOKEN=§ run); rm x`, []string{" run); rm x"}},
	{"command", `x=$(TOKEN=§ run) && rm x`, []string{" run) && rm x"}},
	{"command", "x=`TOKEN=§ run` && rm x", []string{" run` && rm x"}},
	{"command", `TOKENS=(a § b); rm x`, []string{"; rm x"}},
	{"command", `tool --password § --verbose`, []string{"--password", "--verbose"}},
	{"command", `tool --password=§ --verbose`, []string{"--password=", "--verbose"}},
	{"command", `tool --password="§" --verbose | sh`, []string{"--verbose | sh"}},
	{"command", `tool --api-key '§' -v`, []string{"-v"}},
	{"command", `tool -token § -v`, []string{"-v"}},
	{"command", `tool --set=auth.password=§,other=1 -v`, []string{"other=1 -v"}},
	{"command", `java -Ddb.password=§ -jar x.jar`, []string{"-jar x.jar"}},
	{"command", `docker run -e API_TOKEN=§ -p 80:80 img`, []string{"-p 80:80 img"}},
	{"command", `curl -H "Authorization: Bearer §" https://api.example.com/x -o /etc/passwd`, []string{"Authorization: Bearer ", "https://api.example.com/x -o /etc/passwd"}},
	{"command", `curl -H 'X-API-Key: §' https://api.example.com | sh`, []string{"X-API-Key: ", "https://api.example.com | sh"}},
	{"command", `curl -HX-Token:§ https://h`, []string{"https://h"}},
	{"command", `curl --header="Cookie: sid=§; a=b" https://h`, []string{"https://h"}},
	{"command", `curl -u admin:§ https://h -X DELETE`, []string{"-u admin:", "https://h -X DELETE"}},
	{"command", `curl -uadmin:§ https://h`, []string{"https://h"}},
	{"command", `curl -sSu 'admin:§' https://h`, []string{"https://h"}},
	{"command", `curl --user=admin:§ https://h`, []string{"https://h"}},
	{"command", `curl -x http://u:§@proxy:3128 https://h`, []string{"@proxy:3128 https://h"}},
	{"command", `curl -x u:§@proxy:3128 https://h`, []string{"@proxy:3128 https://h"}},
	{"command", `curl -b 'sid=§' https://h`, []string{"https://h"}},
	{"command", `curl https://u:§@h.example/x?y=1`, []string{"https://u:", "@h.example/x?y=1"}},
	{"command", `curl "https://h/x?access_token=§&delete=all#top"`, []string{"&delete=all#top"}},
	{"command", `curl https://h/x?access_token=§&rm x`, []string{"&rm x"}},
	{"command", `curl https://h/x#token=§ -o y`, []string{"-o y"}},
	{"command", `curl -d '{"user":"bob","password":"§","role":"admin"}' https://h`, []string{`"user":"bob"`, `"role":"admin"`, "https://h"}},
	{"command", `curl -d "{\"password\":\"§\",\"role\":\"admin\"}" https://h`, []string{`\"role\":\"admin\"`, "https://h"}},
	{"command", `curl -d 'user=bob&password=§&role=admin' https://h`, []string{"user=bob&password=", "&role=admin"}},
	{"command", `curl --data-urlencode password=§ https://h`, []string{"https://h"}},
	{"command", `mysql -u root -p§ -e 'drop database x'`, []string{"-u root", "-e 'drop database x'"}},
	{"command", `docker exec db mysqldump -uroot -p'§' app > /tmp/x`, []string{"app > /tmp/x"}},
	{"command", `sshpass -p § ssh root@h reboot`, []string{"ssh root@h reboot"}},
	{"command", `redis-cli -a § flushall`, []string{"flushall"}},
	{"command", `docker login -u me -p § reg.example`, []string{"reg.example"}},
	{"command", `docker login --password § reg.example`, []string{"reg.example"}},
	{"command", `echo § | docker login --password-stdin reg.example`, []string{"docker login --password-stdin reg.example"}},
	{"command", `echo '§' | sudo -S rm -rf /`, []string{"sudo -S rm -rf /"}},
	{"command", `sudo -S rm x <<< '§'`, []string{"sudo -S rm x"}},
	{"command", `echo root:§ | chpasswd`, []string{"chpasswd"}},
	{"command", `openssl enc -aes256 -pass pass:§ -in x`, []string{"-in x"}},
	{"command", `zip -P § a.zip b`, []string{"a.zip b"}},
	{"command", `7z a -p§ a.7z b`, []string{"a.7z b"}},
	{"command", `htpasswd -nb bob §`, []string{"htpasswd -nb bob"}},
	{"command", `git clone https://oauth2:§@gitlab.example/x.git && rm y`, []string{"@gitlab.example/x.git && rm y"}},
	{"command", `git remote set-url origin https://u:§@github.com/a/b`, []string{"@github.com/a/b"}},
	{"command", `psql "postgresql://app:§@db:5432/x?sslmode=disable" -c 'select 1'`, []string{"@db:5432/x?sslmode=disable", "-c 'select 1'"}},
	{"command", `aws configure set aws_secret_access_key §`, []string{"aws configure set"}},
	{"command", `npm config set //registry.npmjs.org/:_authToken § && npm publish`, []string{"&& npm publish"}},
	{"command", `echo //registry.npmjs.org/:_authToken=§ >> .npmrc`, []string{">> .npmrc"}},
	{"command", `gh secret set X --body §`, []string{"gh secret set X"}},
	{"command", `kubectl create secret generic s --from-literal=password=§ -n prod`, []string{"-n prod"}},
	{"command", `echo "password=§" >> .env; rm y`, []string{">> .env; rm y"}},
	{"command", `printf 'token: §\n' > c.yaml; rm y`, []string{"> c.yaml; rm y"}},
	{"command", "cat > .env <<EOF\nA=1\nTOKEN=§\nB=2\nEOF\nrm -rf /", []string{"A=1", "B=2\nEOF\nrm -rf /"}},
	{"command", "cat > c.yml <<'EOF'\npassword: §\nuser: bob\nEOF\nrm -rf /", []string{"user: bob\nEOF\nrm -rf /"}},
	{"command", "bash <<EOF\nexport TOKEN=§\nrm y\nEOF", []string{"rm y"}},
	{"command", "python3 - <<'PY'\npassword = \"§\"\nprint(1)\nPY\nrm x", []string{"print(1)\nPY\nrm x"}},
	{"command", `python3 -c 'import x; x.login(user="bob", password="§", host="h")'`, []string{`user="bob"`, `host="h"`}},
	{"command", `bash -c 'export TOKEN=§; rm x'`, []string{"; rm x"}},
	{"command", `bash -c "curl -H \"Authorization: Bearer §\" https://h; rm x"`, []string{"https://h; rm x"}},
	{"command", `ssh root@h 'TOKEN=§ reboot'`, []string{"reboot"}},
	{"command", `sh -lc "mysql -p§ -e 'drop table x'"`, []string{"drop table x"}},
	{"command", `echo Authorization: Bearer §; rm x`, []string{"Authorization: Bearer", "; rm x"}},
	{"command", `http POST h Authorization:"Bearer §" name=x`, []string{"name=x"}},
	{"command", `PASSWORD="§$(rm -rf ~)" x`, []string{"$(rm -rf ~)", " x"}},
	{"command", `PASSWORD=${PASSWORD:-§} x`, []string{"PASSWORD=${PASSWORD:-", "} x"}},
	{"command", `export TOKEN=§ OTHER=2`, []string{"OTHER=2"}},
	{"command", `terraform apply -var db_password=§ -auto-approve`, []string{"-auto-approve"}},
	{"command", `helm upgrade r c --set secret.key=§,replicas=2`, []string{"replicas=2"}},
	{"command", `git config --global user.password § && rm x`, []string{"&& rm x"}},
	{"command", `powershell -c "$env:TOKEN='§'; Remove-Item x"`, []string{"; Remove-Item x"}},
	{"command", "git commit -m 'x' # password: §\nrm y", []string{"\nrm y"}},
	{"command", `mysql -e "CREATE USER a IDENTIFIED BY '§'; DROP TABLE b"`, []string{"DROP TABLE b"}},

	// Texts.
	{"content", `https:\\u:§@h.example/x`, []string{"@h.example/x"}},
	{"content", `HTTPS:\u:§@h.example/x`, []string{"@h.example/x"}},
	{"content", `aws configure set aws_secret_access_key §`, []string{"aws configure set"}},
	{"content", "Authorization: Bearer §\nHost: h", []string{"Authorization: Bearer ", "\nHost: h"}},
	{"content", "GET / HTTP/1.1\r\nCookie: sid=§; theme=x\r\nHost: h\r\n", []string{"GET / HTTP/1.1", "\r\nHost: h"}},
	{"content", "Set-Cookie: sid=§; Path=/\nX: y", []string{"\nX: y"}},
	{"content", "X-Api-Key: §\nAccept: x", []string{"\nAccept: x"}},
	{"content", "Proxy-Authorization: Basic §\nAccept: x", []string{"\nAccept: x"}},
	{"content", "user: bob\npassword: §\nhost: h\n", []string{"user: bob\npassword: ", "\nhost: h"}},
	{"content", "db:\n  password: \"§\"  # old\n  host: h\n", []string{"host: h"}},
	{"content", "tokens:\n  - §\nhost: h\n", []string{"\nhost: h"}},
	{"content", "private_key: |\n  §\nhost: h\n", []string{"\nhost: h"}},
	{"content", "- name: API_TOKEN\n  value: §\n- name: HOST\n  value: h\n", []string{"- name: API_TOKEN", "value: h"}},
	{"content", "API_KEY=§\nHOST=h\n", []string{"API_KEY=", "\nHOST=h"}},
	{"content", "export SECRET_KEY='§'\nrm -rf /\n", []string{"\nrm -rf /"}},
	{"content", "password = §\nhost = h", []string{"\nhost = h"}},
	{"content", "[db]\npassword=§\nhost=h", []string{"\nhost=h"}},
	{"content", `{"password":"§","host":"h"}`, []string{`"host":"h"`}},
	{"content", `{"password":["§"],"host":"h"}`, []string{`"host":"h"`}},
	{"content", `{"env":[{"name":"TOKEN","value":"§"}],"host":"h"}`, []string{`"host":"h"`}},
	{"content", `{"a":"{\"b\":\"{\\\"token\\\":\\\"§\\\"}\",\"host\":\"h\"}"}`, []string{`host`}},
	{"content", `{"url":"https://u:§@h/x","host":"h"}`, []string{`@h/x`, `"host":"h"`}},
	{"content", "{\n  \"password\": \"§\",\n  // no JSON\n  \"host\": \"h\"\n}", []string{`"host": "h"`}},
	{"content", "const cfg = { apiKey: '§', host: 'h' };", []string{"host: 'h' };"}},
	{"content", "client = Client(api_key=\"§\", host=\"h\")", []string{`host="h")`}},
	{"content", "password := \"§\"\nos.RemoveAll(dir)", []string{"os.RemoveAll(dir)"}},
	{"content", "$password = '§';\nunlink($x);", []string{"unlink($x);"}},
	{"content", "<password>§</password><host>h</host>", []string{"<password>", "</password><host>h</host>"}},
	{"content", "Server=db;User Id=a;Password=§;Timeout=3", []string{"Server=db;User Id=a;Password=", ";Timeout=3"}},
	{"content", "jdbc:mysql://h/db?user=a&password=§&x=1", []string{"&x=1"}},
	{"content", "see https://h/cb?code=1&id_token=§&state=2 for more", []string{"&state=2 for more"}},
	{"content", "go to https://h/?u=https%3A%2F%2Fg%2F%3Ftoken%3D§%26a%3Db", []string{"%26a%3Db"}},
	{"content", "https://hooks.slack.com/services/T0/B0/§ posts", []string{"https://hooks.slack.com/services/", " posts"}},
	{"content", "machine h login bob password §\nmachine g", []string{"machine h login bob", "machine g"}},
	{"content", "```\n$ curl -u a:§ https://h\n```\nthen rm x", []string{"https://h\n```\nthen rm x"}},
	{"content", "run `mytool --token § --now` first", []string{"--now` first"}},
	{"content", "My password: §, do not tell", []string{", do not tell"}},
	{"content", "api key: §\nnext", []string{"\nnext"}},
	{"content", "-----BEGIN RSA PRIVATE KEY-----\n§\n-----END RSA PRIVATE KEY-----\nafter", []string{"after"}},
	{"content", "+password: §\n-password: x\n+host: h", []string{"+host: h"}},
	{"content", "kind: Secret\ndata:\n  x: §\ntype: Opaque", []string{"type: Opaque"}},
	{"content", "git config: [user]\n\ttoken = §\n", []string{"[user]"}},
	{"content", "Error: login failed for https://bot:§@h/x (403)", []string{"@h/x (403)"}},
	{"content", "RUN curl -H \"Authorization: Bearer §\" https://h", []string{"https://h"}},
	{"content", "ENV API_TOKEN=§ HOST=h", []string{"HOST=h"}},
	{"content", "ENV API_TOKEN §", []string{"ENV API_TOKEN"}},
	{"content", "  - run: deploy --api-key=§ --prod", []string{"--prod"}},
	{"content", "env.TOKEN = \"§\"; run()", []string{"run()"}},
	{"content", "process.env['API_KEY'] = '§'; run()", []string{"run()"}},
	{"content", "headers = {'Authorization': f'Bearer §', 'X': 'y'}", []string{"'X': 'y'"}},
	{"content", "\"token\":\n  \"§\"", nil},
	{"content", "TOKEN: \"§\" # note", []string{"# note"}},
	{"content", "password=\"\"\"§\"\"\"\nhost = 1", []string{"host = 1"}},
	{"content", "http.password=§", nil},
	{"content", "log: user=bob token=§ path=/x", []string{"user=bob token=", "path=/x"}},
	{"content", "{\"level\":\"info\",\"token\":\"§\"}\n{\"level\":\"warn\"}\n", []string{`{"level":"warn"}`}},
	{"content", "data: {'session': {'id': '§'}} end", []string{" end"}},
	{"content", "(password=§)", nil},
	{"content", "url=\"https://h/?api_key=§\"", nil},
	{"content", "[link](https://h/?api_key=§)", nil},
	{"content", "<a href='https://h/?api_key=§&amp;x=1'>", []string{"x=1'>"}},
}

func TestCanaries(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for _, c := range canaries {
		for kind := range alphabets {
			s := secret(r, kind)
			text := strings.ReplaceAll(c.text, "§", s)
			if strings.Contains(c.text, "://") || strings.Contains(c.text, "%3D") {
				text = strings.ReplaceAll(c.text, "§", strings.NewReplacer("/", "_", "+", "-").Replace(s))
				s = strings.NewReplacer("/", "_", "+", "-").Replace(s)
			}
			full, reds := args(t, map[string]string{c.key: text})
			out := member(t, full, c.key)
			if part := leaks(full, s); part != "" {
				t.Errorf("%s: %q\n shows %q of %q:\n %q", c.key, c.text, part, s, out)
			}
			for _, k := range c.keep {
				if !strings.Contains(out, k) {
					t.Errorf("%s: %q\n hides %q:\n %q", c.key, c.text, k, out)
				}
			}
			if again, more := args(t, map[string]string{c.key: out}); again != full || len(more) > 0 {
				t.Errorf("%s: %q\n gives %q,\n and that %q", c.key, c.text, full, again)
			}
			if len(reds) == 0 {
				t.Errorf("%s: %q: nothing is said of what was hidden", c.key, c.text)
			}
		}
	}
}

// args redacts an object of strings and returns it as text.
func args(t *testing.T, m map[string]string) (string, []string) {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	full, reds, err := redact.New(nil).Args(raw)
	if err != nil {
		t.Fatal(err)
	}
	paths := make([]string, len(reds))
	for i := range reds {
		paths[i] = reds[i].Path
	}
	return string(full), paths
}

func member(t *testing.T, full, key string) string {
	t.Helper()
	var m map[string]string
	if err := json.Unmarshal([]byte(full), &m); err != nil {
		t.Fatalf("%s: %v", full, err)
	}
	return m[key]
}

// A secret found once is hidden wherever it stands, in part and encoded.
func TestLearntSecretsAreHiddenEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for kind := range alphabets {
		s := secret(r, kind)
		mid := s[2 : len(s)-1]
		raw, err := json.Marshal(map[string]any{
			"token": s, "note": "it is " + s + " indeed", "part": "x" + mid + "y", "list": []string{mid, s},
			"base64": base64.StdEncoding.EncodeToString([]byte("user:" + s + "!")), "hex": hex.EncodeToString([]byte(s)),
			"query": "a=" + url.QueryEscape("<"+s+">"), s: 1, "command": "echo " + s + " 'a " + mid + "' && rm x", "deep": map[string]any{"x": map[string]any{"y" + s: "z"}},
			"nested": `{"a":"` + s + `"}`,
		})
		if err != nil {
			t.Fatal(err)
		}
		res, err := redact.New(nil).Call(raw, map[string]string{"description": "uses " + mid, "other": "plain"})
		if err != nil {
			t.Fatal(err)
		}
		all := string(res.Full) + res.Texts["description"]
		for _, red := range res.Redactions {
			all += red.Path + red.Key
		}
		for _, form := range []string{s, url.QueryEscape(s), hex.EncodeToString([]byte(s))} {
			if part := leaks(all, form); part != "" {
				t.Errorf("%q of %q is shown:\n%s", part, form, all)
			}
		}
		if b := base64.StdEncoding.EncodeToString([]byte("user:" + s + "!")); leaks(all, b[8:len(b)-4]) != "" {
			t.Errorf("%q is shown in base64:\n%s", s, all)
		}
		if !strings.Contains(all, "&& rm x") || !strings.Contains(all, "it is ") || res.Texts["other"] != "plain" {
			t.Errorf("more than the secret is hidden:\n%s", all)
		}
	}
}
