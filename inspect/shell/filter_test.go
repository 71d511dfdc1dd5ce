package shell_test

import (
	"testing"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// TestSH8_filters: what a filter shows of the environment, or loads, is found
// however it is written, and what is only called like it is not.
func TestSH8_filters(t *testing.T) {
	for text, beyond := range map[string]bool{
		"jq -n env": true, "jq -n '$ENV'": true, "jq -n '$ ENV'": true, "jq -n '$ # x\nENV.HOME'": true, "jq -n '$__prog_args'": true, "jq -n 'e''nv'": true, "jq -n {e,}nv": true, "jq -n $'\\x65nv'": true,
		"jq '{a: env}' x": true, "jq '.[env:2]' x": true, "jq '.a | {b: {c: 1}, d: env}' x": true, `jq '"a \("\(env)") b"' x`: true, `jq '@sh "\(env.HOME)"' x`: true, "jq '# x\nenv' x": true, "jq '# \\\nenv' x": true,
		`jq 'import "x" as $d; $d' x`: true, `jq 'include "x"; .' x`: true, `jq '"x" | modulemeta' x`: true, "jq -rnf x.jq": true, "jq --from-file x.jq y": true, "jq -L lib . x": true, "jq --unheard-of . x": true,
		"jq --arg a b env": true, "jq --slurpfile a b env x": true, "jq -n --args env a": true, `jq "$x" y`: true,
		"yq 'strenv(HOME)' x": true, "yq e 'env(HOME)' x": true, "yq eval-all '. | envsubst' x": true, `yq 'load("x")' y`: true, "yq '.a |= load_str (\"x\")' y": true, "yq --expression 'env(X)' y": true, `yq 'system("x")' y`: true,
		"gh pr list --json title --jq env": true, "gh pr list --json title -q '$ENV'": true, "gh api repos --jq=env": true,
		"jq . env.json": false, "jq '.env' x": false, `jq '.["env"]' x`: false, `jq '."env"' x`: false, "jq '{env: .x}' x": false, "jq '{a: 1, env : .x}' x": false, `jq '"env \(.x) env"' x`: false, "jq --arg env x '.a = $env' y": false,
		"jq '. as $env | $env' x": false, "jq '.a # env' x": false, `jq '"\\" + .x' y`: false, "jq '.environment, .loader' x": false, "jq -r '.[] | select(.env == \"prod\") | .name' x": false, "jq .name docs/*.json": false,
		`yq 'strload("x")' y`: true, `yq 'str_load("x")' y`: true, `yq 'xmlload("x")' y`: true, `yq 'xml_load("x")' y`: true, `yq 'base64load("x")' y`: true, `yq 'propload("x")' y`: true, `yq 'props_load("x")' y`: true,
		`yq 'load_xml("x")' y`: true, `yq 'load_props("x")' y`: true, `yq 'load_base64("x")' y`: true, `yq 'loadstr("x")' y`: true, `yq -n '"/etc/" + "x" | load_str' y`: true, "yq '.a = str_load(.b)' y": true, `yq 'load "x"' y`: true, `yq 'load"x"' y`: true, "yq 'str_load .f' y": true,
		`yq '.a orload("x")' y`: true, `yq '.a orenv(HOME)' y`: true, `yq '.a andstrenv(HOME)' y`: true, "yq '.a |= envsubst(nu)' y": true, "yq '{envsubst: 1}' y": true, "yq '.a oreval(.b)' y": true, `yq '.a orsystem("x")' y`: true,
		`yq '.a"|load("x")|.b"' y`: true, `yq '.a#|load("x")' y`: true, `yq '."a |load("x")|."b"' y`: true, `yq '.a$ orload("x")' y`: true,
		"yq '{payload, id}' y": false, "yq '.spec.workload' y": false, "yq '.a.payload | .environment' y": false, `yq '.jobs[] | select(.name == "payload")' y`: false, `yq '."a.b"."c"' y`: false, `yq '.a # load' y`: false, `yq '.a["b"] = "c"' y`: false, "jq '{payload, id}' y": false, `yq '.a = "1.2" + "b"' y`: false,
		"yq '.services.env' x": false, "yq e '.load' x": false, "gh pr list --json title -q '.[].title'": false,
		"awk 'BEGIN{print EN''VIRON[\"x\"]}'": true, "gawk 'BEGIN{print SYMTAB[\"x\"]}'": true, "awk '{print $1, \"ENVIRON\"}' x": false,
	} {
		if got := shell.Inspect(text).Commands[0].Beyond() != nil; got != beyond {
			t.Errorf("%q is outside of an allow: %v, want %v", text, got, beyond)
		}
	}
}
