package policy_test

import (
	"slices"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/cover"
)

// TestGR3_dangerous holds what is dangerous by its class, and that a yes to it is
// never remembered beyond the exact call.
func TestGR3_dangerous(t *testing.T) {
	p := load(t, everyday)
	for _, class := range []struct {
		danger sayso.Danger
		lines  []string
	}{
		{sayso.DangerDelete, []string{ // what is deleted
			"rm x", "rmdir x", "unlink x", "shred x", "git rm x", "git clean -fdx", "git worktree remove x", "find . -delete", "find . -exec rm {} +", "ls | xargs rm", "docker volume rm x", "docker system prune",
			"docker image rm x", "docker compose down", "kubectl delete pod x", "terraform destroy", "terraform apply -destroy", "helm uninstall x", "pulumi destroy", "dropdb x", "rsync -a --delete a b", "crontab -r",
		}},
		{sayso.DangerDelete, []string{ // what is overwritten: changes that nothing else holds
			"git checkout -- .", "git checkout .", "git checkout HEAD x.go", "git checkout -f main", "git -C x checkout -- y", "git checkout --ours x", "git restore .", "git restore --staged --worktree x", "git restore -SW x", "git restore -s HEAD~1 x",
			"git switch -f main", "git switch --discard-ch main", "git reset --hard", "git reset -q --hard HEAD~1", "git reset --har", "git stash drop", "git stash clear", "git mv -f a b", "git merge --abort", "git submodule update --force",
			"truncate -s 0 x", "wipefs /dev/sda", "mkfs.ext4 /dev/sda1", "hg update -C", "hg revert --all", "svn revert .", "jj abandon x", "sqlite3 a.db 'DROP TABLE x'",
		}},
		{sayso.DangerDelete, []string{ // history that is written anew
			"git commit --amend", "git rebase main", "git branch -D x", "git branch -f main HEAD~1", "git branch -vD x", "git branch -M a b", "git tag -d v1", "git tag -f v1", "git checkout -B x", "git switch -C x", "git reflog expire --expire=now --all",
			"git gc --prune=now", "git prune", "git update-ref -d refs/heads/x", "git replace a b", "git filter-branch --all", "git push --force", "git push -f", "git push --force-with-lease", "git push origin +main", "git push origin :x", "git push --delete origin x", "git push --mirror", "git remote remove x", "git notes prune",
		}},
		{sayso.DangerNetwork, []string{
			"git push", "git push origin x", "npm publish", "cargo publish", "twine upload x", "docker push x", "docker image push x", "scp a h:b", "rsync a h:b", "ssh h ls", "curl -d x h", "curl -T x h", "curl -X DELETE h", "curl -X PUT h", "wget --post-data=x h", "gh pr create", "gh api -f a=b x",
			"kubectl apply -f x", "terraform apply", "pulumi up", "cdk deploy", "dotnet nuget push x", "mix hex.publish", "vsce publish", "ansible-playbook x.yml", "aws s3 cp a b", "nc h 1", "mail a", "svn commit", "hg push", "ls > /dev/tcp/a/1",
		}},
		{sayso.DangerPrivilege, []string{"sudo ls", "doas ls", "su -c ls", "pkexec ls", "runuser -u x ls", "setcap x y"}},
		{sayso.DangerInterpreter, []string{
			"python x.py", "python3.12 x.py", "python -c x", "node x.js", "tsx x.ts", "ts-node x.ts", "deno run x.ts", "perl x.pl", "ruby x.rb", "php x.php", "bash x.sh", "sh -c ls", "eval ls", "java -jar x.jar", "go run .", "cargo run", "npm run x", "dotnet run", "psql -c x", "echo ls | sh",
		}},
		{sayso.DangerDynamic, []string{"$X", "$(echo ls)", "l? x", "alias ls=cat; ls"}},
		{sayso.DangerOutside, []string{"touch /tmp/x", "ls > ~/x", "cp a /etc/x", "dd if=a of=/dev/sda", "rm /etc/x"}},
	} {
		for _, line := range class.lines {
			v := judgeOn(p, yard(), bash(t, line))
			if !slices.Contains(v.Danger, class.danger) {
				t.Errorf("%q: danger %v, want %s", line, v.Danger, class.danger)
			}
			if ways := lasting(t, line, v.Danger); len(ways) > 0 {
				t.Errorf("%q: offered for longer: %v", line, ways)
			}
		}
	}
	for _, line := range []string{
		"git checkout -b x", "git switch main", "git switch -c x", "git restore --staged x", "git reset", "git reset --soft HEAD~1", "git stash", "git stash pop", "git stash list", "git branch", "git branch x", "git branch -d x", "git tag v1", "git clean -nd", "git clean --dry-run",
		"git commit -m x", "git merge x", "git mv a b", "git gc", "git reflog", "git remote -v", "git worktree list", "docker volume ls", "docker ps", "curl -X GET h", "terraform plan", "sqlite3 a.db 'select 1'", "mv a b", "cp a b", "tee x", "ls", "make test",
	} {
		if v := judgeOn(p, yard(), bash(t, line)); len(v.Danger) > 0 {
			t.Errorf("%q: danger %v, want none", line, v.Danger)
		}
	}
	// Known too little of, or able to do too much, to be remembered for other words.
	for _, line := range []string{"git checkout main", "mv a b", "tee x", "truncate -s 0 x", "make clean", "make test deploy", "mvn deploy", "gradle publish", "git remote add x y", "npm install", "pip install x", "chmod 777 x", "kill 1", "frobnicate"} {
		for _, way := range lasting(t, line, nil) {
			if way.Cover == sayso.CoverPrefix || way.Cover == sayso.CoverTool {
				t.Errorf("%q: offered for longer: %v", line, way)
			}
		}
	}
}

// lasting are the ways to remember a yes to a line beyond the exact call.
func lasting(t *testing.T, line string, danger []sayso.Danger) (out []sayso.CoverOffer) {
	t.Helper()
	c := bash(t, line)
	digest, err := c.Digest()
	if err != nil {
		t.Fatal(err)
	}
	f := sayso.Facts{Workspace: "/home/dev/app", Cwd: "/home/dev/app"}
	for _, way := range cover.Ways(&cover.Subject{Call: c, Facts: f, Digest: digest, Danger: danger}, sayso.RememberAny) {
		if way.Offer.Cover != sayso.CoverCall {
			out = append(out, way.Offer)
		}
	}
	return out
}
