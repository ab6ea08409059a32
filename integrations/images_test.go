package integrations_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/agenttest"
)

// picture is an image in the project, as a request has it and as a note names it.
type picture struct{ path, data, named string }

// picture makes one of so many dots a side, by chance that is always the same.
func (a *chatAgent) picture(t *testing.T, name string, side int) picture {
	t.Helper()
	dots := image.NewGray(image.Rect(0, 0, side, side))
	rand.NewChaCha8([32]byte{byte(side)}).Read(dots.Pix)
	var file bytes.Buffer
	path := filepath.Join(a.Project, name)
	err := png.Encode(&file, dots)
	if err == nil {
		err = os.WriteFile(path, file.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString(file.Bytes())
	return picture{path, data, fmt.Sprintf("%d KB in message ", (file.Len()+500)/1000)}
}

// work fills the window by turns that show files, until the model is given a note.
func (a *chatAgent) work(t *testing.T, window int, run func(prompt string)) {
	t.Helper()
	for n := range 12 {
		file := filepath.Join(a.Project, fmt.Sprintf("%d.txt", n))
		text := strings.Repeat(fmt.Sprintf("line of file %d\n", n), window/40)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		a.model.Say(agenttest.Answer{Text: "I look.", Calls: []agenttest.Call{bashCommand(file)}},
			agenttest.Answer{Text: fmt.Sprintf("File %d is about depots.", n)})
		run(fmt.Sprintf("What is in file %d?", n))
		if a.model.Last(t).Says("compaction_summary-") {
			return
		}
	}
	t.Fatal("nothing was compacted")
}

// sees fails where a picture is neither in a request nor named in its note, or is both.
func sees(t *testing.T, r agenttest.Request, p picture) (shown bool) {
	t.Helper()
	shown = r.Says(p.data)
	if named := r.Says("image image/png") && r.Says(p.named); named == shown {
		t.Errorf("%s: shown %v, named %v behind the compaction:\n%s", filepath.Base(p.path), shown, named,
			noteIn(r))
	}
	return shown
}

// noteIn is the message of a request that has a note.
func noteIn(r agenttest.Request) string {
	for _, m := range r.Messages {
		if strings.Contains(string(m), "compaction_summary-") {
			return string(m)
		}
	}
	return "no note"
}

// TestOpenCodeImages: an image that a person sent, or a tool returned, is in the requests behind a compaction that
// keeps it, and is named in the note of one that does not.
func TestOpenCodeImages(t *testing.T) {
	a := newOpenCode(t)
	a.Must(t, a.kagewasm, "install", "opencode")
	a.writeSettings(t, "opencode", "compaction: {recent: {messages: 6}}\n")
	sent, read, last := a.picture(t, "sent.png", 40), a.picture(t, "read.png", 60), a.picture(t, "last.png", 80)
	a.opencode(t, "Draw the depots of the parcel service on a map.")
	a.model.Say(agenttest.Answer{Text: "A map. I look at the other one.",
		Calls: []agenttest.Call{{Name: "read", Input: map[string]any{"filePath": read.path}}}},
		agenttest.Answer{Text: "Two maps."})
	a.Must(t, a.program, "run", "Is this one right?", "-f", sent.path, "-c")
	if r := a.model.Last(t); !r.Says(sent.data) || !r.Says(read.data) {
		t.Fatalf("%d requests, the last: %.9000s", len(a.model.Requests()), r.Body)
	}
	a.work(t, 32_000, func(prompt string) { a.opencode(t, prompt) })
	a.Must(t, a.program, "run", "And this one?", "-f", last.path, "-c")
	a.opencode(t, "go on")
	now := a.model.Last(t)
	sees(t, now, sent)
	if sees(t, now, read) || !now.Says(last.data) {
		t.Errorf("of the result: %v; the last one: %v; %s", now.Says(read.data), now.Says(last.data), noteIn(now))
	}
	for i, r := range a.model.Requests() {
		chatPairsWhole(t, i, r)
	}
}

// TestPiImages: as in opencode, but what a person said before what stays is told in pi's summary, which is text.
func TestPiImages(t *testing.T) {
	for version, made := range map[string]func(*testing.T) *chatAgent{"0.74": newPi, "0.87": nextPi} {
		t.Run(version, func(t *testing.T) {
			a := made(t)
			a.Must(t, a.kagewasm, "install", "pi")
			a.writeSettings(t, "pi", "compaction: {prune: {protect_tokens: 100000}}\n") // so that there is a compaction
			sent, read, last := a.picture(t, "sent.png", 40), a.picture(t, "read.png", 60), a.picture(t, "last.png", 80)
			a.pi(t, "Draw the depots of the parcel service on a map.")
			a.model.Say(agenttest.Answer{Text: "A map. I look at the other one.",
				Calls: []agenttest.Call{{Name: "read", Input: map[string]any{"path": read.path}}}},
				agenttest.Answer{Text: "Two maps."})
			a.pi(t, "Is this one right?", "-c", "@"+sent.path)
			if r := a.model.Last(t); !r.Says(sent.data) || !r.Says(read.data) {
				t.Fatalf("%d requests, the last: %.9000s", len(a.model.Requests()), r.Body)
			}
			a.work(t, window, func(prompt string) { a.pi(t, prompt) })
			a.pi(t, "And this one?", "-c", "@"+last.path)
			a.pi(t, "go on")
			now := a.model.Last(t)
			if now.Says(sent.data) || sees(t, now, read) || !now.Says(last.data) {
				t.Errorf("%.6000s", noteIn(now))
			}
			for i, r := range a.model.Requests() {
				chatPairsWhole(t, i, r)
			}
		})
	}
}
