package redact

import "strings"

// knownPrograms begin command lines. A word after an option is never hidden if
// it is one of them: nobody's password is rm.
var knownPrograms = set(`rm sh bash zsh dash ksh fish curl wget http https xh sudo doas su env export set setenv
	python python3 perl ruby node deno bun php dd mkfs chmod chown mv cp ln cat tee sed awk grep find xargs
	git gh glab npm npx yarn pnpm pip pip3 cargo go make docker podman kubectl helm terraform ansible
	ansible-playbook aws az gcloud gsutil vault openssl gpg ssh scp sftp rsync sshpass ssh-keygen zip unzip 7z 7za
	keytool jarsigner mysql mysqldump mysqladmin mariadb psql pg_dump pg_restore createdb mongo mongosh mongodump
	redis-cli ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami smbclient nc ncat netcat socat tar nohup
	timeout nice eval exec command kill pkill killall reboot shutdown halt poweroff systemctl service crontab
	mount umount iptables nft useradd userdel usermod passwd chpasswd htpasswd twine heroku fly flyctl vercel
	netlify s3cmd mc rclone lftp ftp svn hg mosquitto_pub mosquitto_sub sqlcmd bcp plink security snmpwalk
	echo printf cd ls apt apt-get yum dnf brew install truncate shred insmod chroot unshare`)

// subcommands are known programs that are also words of other programs.
var subcommands = set(`set go make install service command exec find kill export env mount security http https eval sh bash`)

var keywords = set(`if then else elif fi for while until do done case esac function time coproc`)

// promptLen returns the length of a shell prompt or list sign at the start of
// a line of a transcript or script.
func promptLen(s string) int {
	for _, p := range []string{"$ ", "% ", "> ", "+ ", "- run: ", "run: ", "RUN ", "- "} {
		if strings.HasPrefix(s, p) {
			return len(p)
		}
	}
	return 0
}

// commandLike reports whether a line of text reads as a command with
// arguments.
func commandLike(s string, prompted bool) bool {
	s = strings.TrimLeft(s, " \t")
	n := span0(s[:min(len(s), 200)], func(c byte) bool { return isName(c) || c == '/' })
	if n == 0 || n >= len(s) || !isBlank(s[n]) {
		return false
	}
	rest := strings.TrimLeft(s[n:], " \t")
	if rest == "" || rest[0] == '=' || rest[0] == ':' {
		return false
	}
	program := base(s[:n])
	if program == "export" && declares[rest[:span0(rest, isAlpha)]] {
		return false
	}
	return knownPrograms[program] && (prompted || program != "set" && program != "go" && program != "make" || rest[0] == '-')
}

// declares are the words behind the export of a module, which is not that of a
// shell.
var declares = set(`const let var default type interface class function async abstract declare enum`)

// commandFollows reports whether s, which stands after a sign that may join
// commands, begins with one.
func commandFollows(s string) bool {
	s = strings.TrimLeft(s, ";|& \t")
	if s == "" {
		return false
	}
	if strings.HasPrefix(s, "$(") || s[0] == '`' || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") ||
		strings.HasPrefix(s, "~/") || s[0] == '/' {
		return true
	}
	n := span0(s[:min(len(s), 64)], isName)
	return n > 0 && (n == len(s) || s[n] != '=') && (knownPrograms[s[:n]] || keywords[s[:n]])
}
