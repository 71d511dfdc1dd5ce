package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
)

// drive is how a host is made to ask our model what to do next, without a
// terminal and without a word to anybody else.
type drive struct {
	shell   string // its tool that runs a line of bash
	member  string // of that tool's arguments, for the line; command if empty
	args    []string
	model   func(url string) ([]string, error) // arguments before those, that say where the model is; nil for none
	environ func(url string) []string
	blocked string // what it tells its model of a call that a hook stopped
}

// provokeGemini runs gemini once, with a copy of the person's settings in which
// one thing is another: it does not sign in.
func (d *doctor) provokeGemini(ctx context.Context, program string) (proof, error) {
	dir, err := os.MkdirTemp("", "sayso-doctor-") // made with mode 0700
	if err != nil {
		return proof{}, err
	}
	defer os.RemoveAll(dir)
	if err := d.copyGemini(dir); err != nil {
		return proof{}, err
	}
	return d.provoke(ctx, program, drive{
		shell: "run_shell_command", blocked: "Tool execution blocked",
		args: []string{"-m", "gemini-2.5-flash", "--yolo", "--skip-trust", "-p", "go"},
		environ: func(url string) []string {
			return []string{
				"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_HOME=" + dir,
				"GOOGLE_GENAI_USE_VERTEXAI=", "GOOGLE_GENAI_USE_GCA=",
			}
		},
	})
}

// copyGemini copies the person's settings into a home of its own.
func (d *doctor) copyGemini(dir string) error {
	path, err := d.about.Place(d.about.Places(d.getenv, dir), install.ScopeUser)
	if err != nil {
		return err
	}
	text, err := install.Read(path)
	if err != nil {
		return err
	}
	settings := map[string]jsontext.Value{}
	if len(text) > 0 {
		if err := jcs.Unmarshal(text, &settings); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	settings["security"] = jsontext.Value(`{"auth":{"selectedType":"gemini-api-key"}}`)
	if text, err = jcs.Marshal(settings); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, ".gemini"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ".gemini", "settings.json"), text, 0o600)
}

// provokeCopilot runs copilot once.
func (d *doctor) provokeCopilot(ctx context.Context, program string) (proof, error) {
	return d.provoke(ctx, program, drive{
		shell: "bash", blocked: "Denied by preToolUse hook",
		args: []string{"-p", "go", "--allow-all-tools", "--allow-all-paths"},
		environ: func(url string) []string {
			return []string{
				"COPILOT_PROVIDER_BASE_URL=" + url, "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=x",
				"COPILOT_MODEL=claude-sonnet-5", "COPILOT_OFFLINE=true",
			}
		},
	})
}

// provokeOpencode runs opencode once, with a database of its own and the person's
// own settings, in which one thing is another: which model is asked.
func (d *doctor) provokeOpencode(ctx context.Context, program string) (proof, error) {
	dir, err := os.MkdirTemp("", "sayso-doctor-") // made with mode 0700
	if err != nil {
		return proof{}, err
	}
	defer os.RemoveAll(dir)
	return d.provoke(ctx, program, drive{
		shell: "bash", blocked: "Denied by policy",
		args: []string{"run", "-m", "anthropic/claude-sonnet-4-5", "go"},
		environ: func(url string) []string {
			config := `{"small_model":"anthropic/claude-sonnet-4-5","provider":{"anthropic":{"options":{"baseURL":"` + url + `/v1","apiKey":"x"}}}}`
			return []string{
				"OPENCODE_CONFIG_CONTENT=" + config, "OPENCODE_DB=" + filepath.Join(dir, "opencode.db"), "OPENCODE_AUTH_CONTENT={}",
				"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
				"npm_config_offline=true", // else it fetches what it offers to plugins, and waits for it
			}
		},
	})
}

// provoke runs a host once. The call would touch a marker, and is denied by a rule
// that no policy lifts, whatever the person's policy says: it answers a request.
func (d *doctor) provoke(ctx context.Context, program string, by drive) (proof, error) {
	dir, err := os.MkdirTemp("", "sayso-doctor-") // made with mode 0700
	if err != nil {
		return proof{}, err
	}
	defer os.RemoveAll(dir)
	marker := filepath.Join(dir, "marker")
	arguments := map[string]string{cmp.Or(by.member, "command"): "touch " + marker + " && sayso approve " + canary}
	if by.member == "" {
		arguments["description"] = "sayso doctor" // which such tools want
	}
	input, err := jcs.Marshal(arguments)
	if err != nil {
		return proof{}, err
	}
	stub := modelstub.New(modelstub.Use(modelstub.Call{ID: "toolu_sayso_doctor", Name: by.shell, Input: string(input)}))
	url, stop, err := stub.Listen()
	if err != nil {
		return proof{}, err
	}
	defer stop()
	args := by.args
	if by.model != nil {
		where, err := by.model(url)
		if err != nil {
			return proof{}, err
		}
		args = append(where, args...)
	}
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(slices.Clone(d.environ), by.environ(url)...), 5*time.Second
	out, err := cmd.CombinedOutput()
	var p proof
	for _, r := range stub.Results() {
		p.asked, p.told = true, firstLineOf(r.Content)
		p.stopped = strings.Contains(r.Content, by.blocked) && strings.Contains(r.Content, "Denied by policy")
	}
	if _, missing := os.Stat(marker); !errors.Is(missing, fs.ErrNotExist) {
		p.ran = true
	}
	if !p.ran && !p.asked {
		if err != nil {
			return p, fmt.Errorf("%w: %s", err, firstLineOf(string(out)))
		}
		p.told = firstLineOf(string(out))
	}
	return p, nil
}
