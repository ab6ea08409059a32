package redact_test

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// TestMay: what is told by a few bytes finds the secrets that the expressions find, and no others.
func TestMay(t *testing.T) {
	const bot = "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWsAbCd"
	all := redact.Untold()
	check := func(t interface{ Errorf(string, ...any) }, text string) {
		want, n := all.Redact(text)
		if got, m := redact.Known().Redact(text); got != want || m != n {
			t.Errorf("%d secrets for %d: %q is %q, want %q", m, n, text, got, want)
		}
	}
	pieces := []string{" ", "\n", "\t", `\n`, "'", `"`, "`", ":", "：", "-", "->", "→", "_", ".", "/", "@", "://", "a",
		"x9Qz7Lw2Kp", "login", "Login", "password", "PASSWORD", "credentials", "creds", "zugangsdaten", "is", "are", "sind",
		"bob", "bob@example.com", "token", "Token", "secret", "SECRET", "api", "access", "auth", "private", "bearer", "key",
		"\u212aey", "for", "to", "of", "the", "für", "von", "now", "ist", "lautet", "auf", "à", "на", "是", "は", "'s ",
		"k9Qz7Lw2Kpv5Rt8YbN3m", "AbCdEf12GhIj34KlMn56Op", bot, "https://bob:x9Qz7Lw2Kp@host/",
		"https://k9Qz7Lw2Kpv5Rt8YbN3m@host"}
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), ""))
	})
	for _, told := range []string{"the token for the staging api is x9Qz7Lw2Kp", "api key: k9Qz7Lw2Kpv5Rt8YbN3m",
		"secret-token is x9Qz7Lw2Kp", "token → x9Qz7Lw2Kp", "token是x9Qz7Lw2Kp", "auth_token was x9Qz7Lw2Kp",
		"key k9Qz7Lw2Kpv5Rt8YbN3m", "secret `k9Qz7Lw2Kpv5Rt8YbN3m`", "machine host login bob\n  password x9Qz7Lw2Kp",
		`login bob\npassword x9Qz7Lw2Kp`, "login: bob / x9Qz7Lw2Kp", "creds are bob:x9Qz7Lw2Kp",
		"redis://:x9Qz7Lw2Kp@host", "https://k9Qz7Lw2Kpv5Rt8YbN3m@host/a", bot} {
		check(t, told)
		if _, n := redact.Known().Redact(told); n != 1 {
			t.Errorf("%d secrets in %q", n, told)
		}
	}
	for _, path := range shared.Glob(t, "data", "sessions", "*.jsonl") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			check(t, line)
		}
	}
}
