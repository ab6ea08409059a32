package ui_test

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/transcript"
)

// line is a statement of a note with the link to its message.
var line = regexp.MustCompile(`<p class="(quote)?[^"]*"><span>([^<]*)</span>(?: <a class="src \w+" href="/s/[^/]+/m/([^"]+)")?`)

// TestNoteLinks: each statement of a note leads to a message that went and says it: what is
// quoted stands there word for word, and of the others four in five have one.
func TestNoteLinks(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/demo.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	file, err := transcript.Read("demo", data, transcript.Auto)
	if err != nil {
		t.Fatal(err)
	}
	said := make(map[string]string)
	for i := range file.Messages {
		m := &file.Messages[i]
		said[m.ID] = strings.Join(strings.Fields(m.Text()), " ")
	}
	s := serve(t, agent())
	row, err := s.Service.Import(t.Context(), service.File{Name: "demo.jsonl", Data: data})
	if err != nil {
		t.Fatal(err)
	}
	var out service.Compacted
	s.Must(200, "POST", "/sessions/"+url.PathEscape(row.Key)+"/compact", map[string]any{"target_tokens": 9000}, &out)
	gone := make(map[string]bool)
	for _, id := range out.Record.Superseded {
		gone[id] = true
	}
	_, page := get(t, s, "/s/"+url.PathEscape(row.Key)+"/c/"+out.Record.ID)
	_, note, _ := strings.Cut(page, `<div class="note panel">`)
	quotes, linked := 0, 0
	for _, m := range line.FindAllStringSubmatch(note, -1) {
		text, id := html.UnescapeString(m[2]), m[3]
		if id != "" {
			if linked++; !gone[id] {
				t.Errorf("%q leads to %s, which did not go", text, id)
			}
		}
		if m[1] == "" || strings.Contains(text, "[...]") || len(strings.TrimSpace(text)) < 4 {
			continue
		}
		quotes++
		if id == "" || !strings.Contains(said[id], strings.Join(strings.Fields(text), " ")) {
			t.Errorf("%q leads to %q, which says %.200q", text, id, said[id])
		}
	}
	statements := regexp.MustCompile(`(\d+) of (\d+) statements linked`).FindStringSubmatch(page)
	if statements == nil || quotes < 5 || linked < 30 {
		t.Fatalf("%d quotes, %d links: %v", quotes, linked, statements)
	}
	of, all := number(t, statements[1]), number(t, statements[2])
	if of < all*4/5 {
		t.Error(statements[0])
	}
}

// TestOddNames: sessions of agents below the main one, and ids with signs of addresses, have
// their pages.
func TestOddNames(t *testing.T) {
	s := serve(t, agent())
	for _, n := range []service.NewSession{{ID: "a/b?c=d&e", Window: 400}, {ID: "x", Agent: "main/reviewer", Window: 400},
		{ID: "50% off", Window: 400},
		{ID: "ünï", Window: 400}} {
		row, err := s.Service.Create(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Service.Append(t.Context(), row.Key, servetest.Chat(30), service.Terms{}); err != nil {
			t.Fatal(err)
		}
		at := "/s/" + url.PathEscape(row.Key)
		r := post(t, s, at+"/compact", nil)
		if r.Status != 200 || !strings.Contains(string(r.Body), "The session is compacted.") {
			t.Errorf("%s: %d %.300s", row.Key, r.Status, r.Body)
		}
		_, list := get(t, s, "/")
		link := regexp.MustCompile(`class="name" href="([^"]*)"`).FindAllStringSubmatch(list, -1)
		if status, body := get(t, s, html.UnescapeString(link[0][1])); status != 200 || !strings.Contains(body, "Compacted") {
			t.Errorf("%s: %s: %d", row.Key, link[0][1], status)
		}
	}
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLongNote: where more went than can be searched while a reader waits, the page of a
// compaction has the note without links and the address of the one with them. Of long runs
// it lists some messages and says how many more there are.
func TestLongNote(t *testing.T) {
	s := serve(t, agent())
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 100_000}, nil)
	var msgs []abi.Message
	for i := range 1200 {
		msgs = append(msgs, message(i))
	}
	msgs[3].Content = abi.Text(msgs[3].Text() + strings.Repeat(" And so on.", 100_000))
	msgs[600].Content = abi.Text("Never restart the server of the tests, and always keep port 7433 for it.")
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": msgs}, nil)
	var out service.Compacted
	s.Must(200, "POST", "/sessions/a/compact", map[string]any{"target_tokens": 20_000}, &out)
	at := "/s/a/c/" + out.Record.ID
	_, page := get(t, s, at)
	if !strings.Contains(page, `hx-get="`+at+`/note"`) || strings.Contains(page, "linked to the message") {
		t.Errorf("%s", page)
	}
	for _, want := range []string{fmt.Sprintf("%d messages superseded", len(out.Record.Superseded)),
		fmt.Sprintf("and %d more", len(out.Record.Superseded)-200), "line 0 of message 3 "} {
		if !strings.Contains(strings.ReplaceAll(page, ",", ""), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	_, note := get(t, s, at+"/note")
	for _, m := range line.FindAllStringSubmatch(note, -1) {
		if m[3] != "" {
			return // it has links
		}
	}
	t.Errorf("no links: %s", note)
}
