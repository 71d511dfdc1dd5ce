package redact_test

import (
	"strings"
	"testing"
)

// Passwords are hidden where programs and languages take them, and nothing else
// of the line is. % stands for the password.
func TestVW5_passwordsWhereProgramsTakeThem(t *testing.T) {
	commands := []string{
		`redis-cli CONFIG SET requirepass %`,
		`redis-cli config set masterauth '%'`,
		`redis-cli -a % ping`,
		`redis-cli -h cache -a '%' ping`,
		`redis-cli AUTH %`,
		`redis-cli -h x AUTH default % && ls`,
		`redis-cli ACL SETUSER bob on '>%' allkeys`,
		`redis-cli -u redis://default:%@cache:6379/0 ping`,
		`redis-server --requirepass % --port 6379`,
		`echo "requirepass %" >> /etc/redis/redis.conf`,
		`printf 'requirepass %s\n' % >> redis.conf`,
		`printf 'user=%s password=%s\n' bob "%"`,
		`sed -i 's/^# requirepass .*/requirepass %/' redis.conf`,
		`curl -u bob:% https://x.org`,
		`curl -ubob:% https://x.org`,
		`curl -sSLu 'bob:%' https://x.org`,
		`curl --user="bob:%" https://x.org`,
		`curl -u "$USER:%" https://x.org`,
		`timeout 5 curl -u bob:% https://x.org`,
		`xargs -I{} curl -u bob:% {}`,
		`curl -H 'Authorization: Bearer %' https://x.org`,
		`curl -H"Authorization: Bearer %" https://x.org`,
		`curl -H Authorization:\ Bearer\ % https://x.org`,
		`curl -H $'Authorization: Bearer %' https://x.org`,
		`curl --header="Authorization: token %" https://x.org`,
		`bash -c "curl -H \"Authorization: Bearer %\" https://x.org"`,
		`bash -c 'curl -H "Authorization: Basic %" https://x.org'`,
		`http GET x.org Authorization:"Bearer %"`,
		`git -c http.extraHeader="Authorization: Basic %" fetch`,
		`mysql -u root -p% -h x db`,
		`mysql -uroot -p'%' db`,
		`docker exec db mysql -uroot -p% -e 'show tables'`,
		`ssh bob@x "mysql -uroot -p% -e 'show tables'"`,
		`PGPASSWORD=% psql -h x`,
		`env PGPASSWORD='%' psql -h x`,
		`sudo PGPASSWORD=% -u postgres psql`,
		`psql "host=x user=bob password=% dbname=y"`,
		`sshpass -p % ssh bob@x`,
		`sshpass -p% ssh bob@x`,
		`sudo sshpass -p '%' scp a b:`,
		`docker login -u bob -p %`,
		`docker --config /x login -u bob -p% reg.io`,
		`echo % | docker login -u bob --password-stdin`,
		`passwd --stdin bob <<< %`,
		`java -Ddb.url="jdbc:mysql://x:3306/db?user=bob&password=%" -jar a.jar`,
		`sqlplus -s bob/%@//x:1521/orcl @script.sql`,
		`sqlcmd -S x -U sa -P % -Q 'select 1'`,
		`rabbitmqctl add_user bob %`,
		`rabbitmqadmin -u bob -p % list queues`,
		`etcdctl --user root:% get a`,
		`vault login %`,
		`nmcli dev wifi connect home password %`,
		`echo % | kinit bob@REALM`,
	}
	texts := []string{
		"port 6379\nrequirepass %\nmaxmemory 1gb\n",
		"requirepass \"%\"\nmasterauth %\n",
		"String password = new String(\"%\");",
		"char[] password = new String(\"%\").toCharArray();",
		"var apiKey = new String('%');",
		"secret := []byte(\"%\")",
		"secret = bytes(\"%\", \"utf-8\")",
		"let token = String::from(\"%\");",
		"std::string password{\"%\"};",
		"const password = Buffer.from(\"%\");",
		"password = SecretStr(\"%\")",
		"password = \"%\" + suffix",
		"headers = {'Authorization': 'Basic ' + '%'}",
		"new UsernamePasswordCredentials(\"bob\", \"%\")",
		"req.SetBasicAuth(\"bob\", \"%\")",
		"requests.get(url, auth=(\"bob\", \"%\"))",
		"auth = HTTPBasicAuth('bob', '%')",
		"req.Header.Set(\"Authorization\", \"Bearer %\")",
		"jdbc:postgresql://x/db?user=bob&password=%",
		"jdbc:sqlserver://x:1433;databaseName=y;user=sa;password=%;encrypt=true",
		"jdbc:oracle:thin:bob/%@//x:1521/orcl",
		"jdbc:oracle:thin:bob/%@x:1521:orcl",
		"Server=x;Database=y;User Id=sa;Password=%;Encrypt=True",
		"Data Source=x;uid=sa;pwd=%;",
		"command: redis-server --requirepass %",
	}
	for key, list := range map[string][]string{"command": commands, "content": texts} {
		for _, form := range list {
			in, want := filled(form, "hunter2secret"), filled(form, "[hidden 13 bytes]")
			full, reds := args(t, map[string]string{key: in})
			if got := member(t, full, key); got != want || len(reds) == 0 {
				t.Errorf("%s %q\nis shown as %q", key, in, got)
			}
		}
	}
}

// filled puts a value where % stands by itself.
func filled(form, value string) string {
	form = strings.ReplaceAll(form, "%s", "\x00")
	return strings.ReplaceAll(strings.ReplaceAll(form, "%", value), "\x00", "%s")
}

// Beside them stands what only looks like it.
func TestVW5_ordinaryLinesStay(t *testing.T) {
	commands := []string{
		`redis-cli CONFIG GET requirepass`,
		`redis-cli config set maxmemory 1gb`,
		`redis-cli -n 2 KEYS 'session:*'`,
		`redis-cli AUTH $REDIS_PASSWORD`,
		`redis-cli -a "$REDIS_PASSWORD" ping`,
		`redis-server --requirepass "$PW"`,
		`grep -n requirepass /etc/redis/redis.conf`,
		`sed -i 's/^requirepass .*/# requirepass/' redis.conf`,
		`rabbitmqctl add_user bob`,
		`rabbitmqctl list_users`,
		`nmcli dev wifi list`,
		`vault login -method=github`,
		`vault status && vault kv get secret/app`,
		`etcdctl --endpoints x:2379 get /a`,
		`sqlplus / as sysdba`,
		`sqlplus -s /nolog @scripts/report.sql`,
		`passwd -S bob`,
		`printf '%s\n' a b c`,
		`printf 'name=%s path=%s\n' bob /tmp/x`,
		`printf 'session %s ended\n' "$id"`,
		`curl -u bob https://x.org`,
		`curl -u "$USER:$TOKEN" https://x.org`,
		`curl -sSfL https://x.org/a.sh -o a.sh`,
		`curl -H 'Accept: application/json' -H 'Content-Type: text/plain' https://x.org`,
		`mysql -uroot -P3306 -hlocalhost -p db -e 'select 1'`,
		`docker login -u bob reg.io`,
		`docker run -p 8080:80 -it img sh`,
		`docker compose -p proj up -d`,
		`sshpass -e ssh bob@x`,
		`sshpass -f pw.txt ssh -p 2222 bob@x uptime`,
		`psql -h x -U bob -d db -c 'select 1'`,
		`PGPASSFILE=~/.pgpass psql`,
		`java -Ddb.url="jdbc:mysql://x:3306/db?useSSL=false" -jar a.jar`,
		`cd /tmp; pwd=$(pwd); ls`,
		`kubectl get secret db -o yaml`,
		`openssl rand -hex 32`,
		`aws sts get-session-token`,
		`xargs -P 4 -n 1 echo`,
		`zip -r out.zip src`,
		`go test ./... -run Token`,
		`npm run build && npm test`,
	}
	texts := []string{
		"requirepass is the directive to set\n",
		"the requirepass directive and the masterauth setting",
		"jdbc:oracle:thin:@//x:1521/orcl",
		"jdbc:sqlserver://x:1433;databaseName=y;user=sa;encrypt=true",
		"jdbc:h2:mem:test;DB_CLOSE_DELAY=-1",
		"Server=x;Database=y;Integrated Security=True",
		"a=1;pwd=$OLDPWD",
		"password = new PasswordEncoder()",
		"password = passwordEncoder.encode(raw)",
		"token = String(req.headers.authorization)",
		"token = str(uuid.uuid4())",
		"secret = bytes(32)",
		"secret = []byte(os.Getenv(\"SECRET\"))",
		"password = getpass(\"Password: \")",
		"password = input(\"Enter password: \")",
		"const token = localStorage.getItem(\"token\")",
		"const session = new Session(\"main\")",
		"const token = new Token(Kind.Ident, \"foo\")",
		"cookie = new Cookie(\"theme\", \"dark\")",
		"auth(\"admin\", \"write\")",
		"router.use(auth(\"jwt\", \"session\"))",
		"req.SetBasicAuth(user, pass)",
		"msg = \"password: \" + name",
		"s = \"Authorization: Bearer \" + token",
		"headers[\"Authorization\"] = \"Basic \" + encoded",
		"user: \"1000:1000\"",
		"std::string password(read_password());",
		"prometheus_tokens_total{job=\"a\"} 5",
	}
	for key, list := range map[string][]string{"command": commands, "content": texts} {
		for _, in := range list {
			full, reds := args(t, map[string]string{key: in})
			if got := member(t, full, key); got != in || len(reds) > 0 {
				t.Errorf("%s %q\nis shown as %q", key, in, got)
			}
		}
	}
}
