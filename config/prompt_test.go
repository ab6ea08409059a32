package config_test

import (
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

const defaultPrompt = ".kagewasm/prompts/compaction-summary.md"

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDefaultPrompt: it is written where it is missing, and is the
// operator's afterwards.
func TestDefaultPrompt(t *testing.T) {
	features.Proves(t, "K24")
	path := project(t, "")
	prompt := filepath.Join(filepath.Dir(path), defaultPrompt)

	c, err := config.Load(path)
	if err != nil || c.Policy("").Summarize.Prompt != strategies.DefaultPrompt() {
		t.Fatalf("reading: %v, prompt %q", err, c.Policy("").Summarize.Prompt)
	}
	if _, err := os.Stat(prompt); !os.IsNotExist(err) {
		t.Fatalf("reading wrote: %v", err)
	}

	err = c.WriteDefaultPrompt()
	if err != nil || read(t, prompt) != strategies.DefaultPrompt() {
		t.Fatalf("it is not written when missing: %v", err)
	}
	if c, err = config.Load(path); err != nil || c.Policy("").Summarize.Prompt != strategies.DefaultPrompt() {
		t.Fatalf("once it is written: %v", err)
	}

	write(t, prompt, "Mine now.\n")
	if err := c.WriteDefaultPrompt(); err != nil {
		t.Errorf("where it is written: %v", err)
	}
	c, err = config.Load(path)
	if err != nil || c.Policy("").Summarize.Prompt != "Mine now.\n" || read(t, prompt) != "Mine now.\n" {
		t.Errorf("the operator's: %v, %q", err, c.Policy("").Summarize.Prompt)
	}
	write(t, prompt, "")
	if c, err := config.Load(path); err != nil || c.Policy("").Summarize.Prompt != strategies.DefaultPrompt() || read(t,
		prompt) != "" {
		t.Errorf("emptied: %v", err)
	}
	write(t, prompt, "Mine now.\n")
	os.Remove(path)
	if wrote, err := config.Init(filepath.Dir(path)); err != nil || len(wrote) != 2 || read(t, prompt) != "Mine now.\n" {
		t.Errorf("init over the operator's prompt: wrote %q, %v", wrote, err)
	}
}

// TestDigest: it is another one when the file changes or a prompt that some
// agent writes with, and not when the default prompt is written as it ships.
func TestDigest(t *testing.T) {
	path := project(t, "agents: {a: {prompt: Short}}", ".kagewasm/prompts/Short.md", "by name")
	dir := filepath.Dir(path)
	digest := func() string {
		t.Helper()
		c, err := config.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return c.Digest
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WriteDefaultPrompt(); err != nil || read(t, filepath.Join(dir,
		defaultPrompt)) != strategies.DefaultPrompt() {
		t.Fatalf("the default prompt: %v", err)
	}
	last := c.Digest
	if len(last) != 64 || digest() != last {
		t.Errorf("digest %q, then %q with the default prompt written", last, digest())
	}
	for _, change := range []struct{ file, text string }{
		{defaultPrompt, "Mine now."}, {".kagewasm/prompts/Short.md", "another"}, {config.FileName,
			"agents: {a: {prompt: Short}} # and more"},
	} {
		t.Run(change.text, func(t *testing.T) {
			write(t, filepath.Join(dir, change.file), change.text)
			if got := digest(); got == last {
				t.Errorf("%s was changed, and the digest stays", change.file)
			} else {
				last = got
			}
		})
	}
	write(t, filepath.Join(dir, defaultPrompt), "Mine still.")
	if err := c.WriteDefaultPrompt(); err != nil || read(t, filepath.Join(dir, defaultPrompt)) != "Mine still." {
		t.Errorf("over the operator's: %v", err)
	}
}

// TestNoPlaceForPrompt: where nothing can be written the prompt that ships
// is used.
func TestNoPlaceForPrompt(t *testing.T) {
	features.Proves(t, "K24")
	c := load(t, "", ".kagewasm", "a file in the folder's place")
	if err := c.WriteDefaultPrompt(); err == nil {
		t.Error("it was written")
	}
	if c.Policy("").Summarize.Prompt != strategies.DefaultPrompt() {
		t.Error("without a prompt")
	}
}

// TestPromptPaths: project:/ and config:/ override the prompt, a name is one of
// config:/prompts.
func TestPromptPaths(t *testing.T) {
	features.Proves(t, "K24")
	files := []string{"docs/p.md", "from the project", ".kagewasm/q.md", "from the folder", ".kagewasm/prompts/Short.md",
		"by name"}
	for ref, want := range map[string]string{
		"project:/docs/p.md": "from the project", "config:/q.md": "from the folder", "Short": "by name",
		"config:/prompts/Short.md": "by name",
		"project:/.kagewasm/q.md":  "from the folder",
	} {
		t.Run(ref, func(t *testing.T) {
			c := load(t, "compaction: {summarize: {prompt: \""+ref+"\"}}", files...)
			if got := c.Policy("").Summarize.Prompt; got != want {
				t.Errorf("%s: %q, want %q", ref, got, want)
			}
		})
	}
}

// TestPathsCannotEscape: nothing outside of the project is read.
func TestPathsCannotEscape(t *testing.T) {
	features.Proves(t, "K24")
	secret := filepath.Join(t.TempDir(), "secret.md")
	write(t, secret, "outside")
	for _, ref := range []string{
		"project:/../secret.md", "config:/../../secret.md", "project:/a/../../secret.md", "config:/prompts/../../../x",
		"project:/" + secret, "config:/" + secret, "project://" + secret, secret, "/etc/passwd", "../secret.md",
		"project:/..", "project:/.", "config:/",
		"project:/a\\..\\b", "file:///etc/passwd", "project:/C:/x/../../..", "prompts/x.md", "./x", "..",
	} {
		ps := problems(t, "compaction: {summarize: {prompt: '"+ref+"'}}")
		wantProblem(t, ps, 1, 34, "prompt")
	}
}

func TestLinksCannotEscape(t *testing.T) {
	features.Proves(t, "K24")
	if goruntime.GOOS == "windows" {
		t.Skip("links need a privilege on windows; os.Root refuses them the same way")
	}
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.md"), "outside")
	write(t, filepath.Join(outside, "prompts", "secret.md"), "outside")
	for why, c := range map[string]struct{ ref, link, target string }{
		"a link to a file":                 {"project:/p.md", "p.md", filepath.Join(outside, "secret.md")},
		"a link to a folder":               {"project:/d/secret.md", "d", outside},
		"the folder itself is a link":      {"config:/secret.md", ".kagewasm", outside},
		"the folder of prompts is a link":  {"secret", ".kagewasm/prompts", filepath.Join(outside, "prompts")},
		"a link up and out":                {"project:/p.md", "p.md", "../../../../../../../../etc/hostname"},
		"a link to nothing, for a default": {config.DefaultPrompt, defaultPrompt, filepath.Join(outside, "new.md")},
	} {
		t.Run(why, func(t *testing.T) {
			path := project(t, "")
			before, err := config.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, "compaction: {summarize: {prompt: '"+c.ref+"'}}")
			link := filepath.Join(filepath.Dir(path), c.link)
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(c.target, link); err != nil {
				t.Fatal(err)
			}
			_ = before.WriteDefaultPrompt()
			if c, err := config.Load(path); err == nil {
				t.Errorf("%s: prompt %q", why, c.Policy("").Summarize.Prompt)
			}
		})
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 2 {
		t.Errorf("outside there is %v now (%v)", entries, err)
	}
	// A link that stays inside is fine.
	path := project(t, "prompt: project:/p.md", "real.md", "inside")
	if err := os.Symlink("real.md", filepath.Join(filepath.Dir(path), "p.md")); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(path); err != nil || c.Policy("").Summarize.Prompt != "inside" {
		t.Errorf("a link inside: %v", err)
	}
}

func TestBadPrompts(t *testing.T) {
	for why, c := range map[string]struct{ text, says string }{
		"empty":     {" \n", "empty"},
		"not text":  {"\xff\xfe", "UTF-8"},
		"too long":  {strings.Repeat("x", 300<<10), "longer"},
		"not there": {"", "prompt project:/p.md: "},
	} {
		t.Run(why, func(t *testing.T) {
			files := []string{"p.md", c.text}
			if c.text == "" {
				files = nil
			}
			ps := problems(t, "agents:\n  a: {prompt: project:/p.md}\n  b: {prompt: project:/p.md}\n", files...)
			wantProblem(t, ps, 2, 15, c.says)
		})
	}
	wantProblem(t, problems(t, "prompt: project:/d", "d/x", ""), 1, 9, "not a regular file")
	// Whoever never asks a model needs no prompt.
	load(t, "compaction: {summarize: {off: true, prompt: Gone}}")
}
