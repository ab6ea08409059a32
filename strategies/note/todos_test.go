package note_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// inFours counts a token for four bytes.
func inFours(s string) int { return (len(s) + 3) / 4 }

// todosOf are the entries below the heading of todos in a note.
func todosOf(text string) []string {
	_, list, found := strings.Cut(text, note.HeadTodos+"\n")
	if !found {
		return nil
	}
	list, _, _ = strings.Cut(list, "\n\n")
	list = strings.TrimPrefix(list, "This is the list at the end of the messages below.\n")
	return strings.Split(list, "\n")
}

// TestOpenTodosOfSessions: todo state is preserved mechanically. In a note of any session that
// has some, and of any size from 500 tokens on, each one that is open stands in its last words,
// however many names there are; from 1,000 tokens on each that is finished stands or is counted.
func TestOpenTodosOfSessions(t *testing.T) {
	features.Proves(t, "A6")
	lists := 0
	for _, path := range shared.Sessions(t) {
		n := build(gone(shared.Messages(t, path)))
		all := strings.Split(n.Todos(), "\n")
		if n.Todos() == "" {
			continue
		}
		lists++
		for _, budget := range []int{500, 700, 1000, 1500, 2500, 4000} {
			text := n.Render(note.Options{Budget: budget, Count: inFours})
			told, missing := todosOf(text), 0
			for _, todo := range all {
				switch finished := strings.HasPrefix(todo, "- [x]") || strings.HasPrefix(todo, "- [~]"); {
				case slices.Contains(told, todo):
				case finished:
					missing++
				default:
					t.Errorf("%s, %d tokens: %q is missing of\n%s", filepath.Base(path), budget, todo, strings.Join(told, "\n"))
				}
			}
			count := fmt.Sprintf("- left out here: %d finished", missing)
			if missing > 0 && budget >= 1000 && !slices.Contains(told, count) {
				t.Errorf("%s, %d tokens: %q does not stand in\n%s", filepath.Base(path), budget, count, strings.Join(told, "\n"))
			}
			if cost := inFours(text); cost > budget {
				t.Errorf("%s: a note of %d tokens, %d allowed", filepath.Base(path), cost, budget)
			}
		}
	}
	if lists < 3 {
		t.Errorf("%d sessions with a list of todos", lists)
	}
}

// TestTodosThatDoNotFit: where there is no room for all that is open, what is under way stands
// first, what comes next before what comes later, and the note counts what it leaves out. The
// notes after it count on, until the agent writes its list again.
func TestTodosThatDoNotFit(t *testing.T) {
	features.Proves(t, "A6", "complaint 8")
	const answer = ": answer it in the hand of the one who wrote it, and lay it by the door for the evening"
	var list []string
	for i := range 20 {
		list = append(list, fmt.Sprintf("chapter %d: read it, note who speaks in it and where it is set", i), "completed")
	}
	for i := range 30 {
		state := map[bool]string{true: "in_progress", false: "pending"}[i == 29]
		list = append(list, fmt.Sprintf("letter %d%s", i, answer), state)
	}
	msgs := session("Go through the book.", todoWrite(list...), run("cat a/b.go", "see foo_bar", false))
	for round := range 3 {
		text := render(msgs, note.Options{Budget: 700, Count: inFours})
		told := todosOf(text)
		if len(told) < 5 || len(told) > 30 || told[0] != "- left out here: 20 finished" ||
			told[1] != "- [ ] letter 0"+answer ||
			told[len(told)-2] != "- [-] letter 29"+answer ||
			told[len(told)-1] != fmt.Sprintf("- left out here: %d open", 30-(len(told)-2)) {
			t.Fatalf("round %d:\n%s", round, strings.Join(told, "\n"))
		}
		msgs = session(summary(text))
	}
	again := session(msgs, todoWrite("print it", "pending"))
	if got := todosOf(render(again, note.Options{})); !slices.Equal(got, []string{"- [ ] print it"}) {
		t.Errorf("a new list: %q", got)
	}
}

// TestTodosThatChangeInWhatStays: a task that what stays has done is not told as open, whether the list was written
// again or one of it was changed, in the note and in those after it.
func TestTodosThatChangeInWhatStays(t *testing.T) {
	features.Proves(t, "A6", "complaint 8")
	create := func(text, number string) []abi.Message {
		return called("TaskCreate", map[string]any{"subject": text}, "Task #"+number+" created", false)
	}
	update := called("TaskUpdate", map[string]any{"taskId": "1", "status": "completed"}, "ok", false)
	for _, tc := range []struct {
		why         string
		goes, stays []abi.Message
		want, after []string
	}{
		{"the list is written again", todoWrite("move it", "in_progress", "run tests", "pending"),
			todoWrite("move it", "completed", "run tests", "in_progress"), []string{"- [x] move it", "- [-] run tests"}, nil},
		{"it is cleared", todoWrite("move it", "in_progress"), todoWrite(), nil, nil},
		{"one is changed", session(create("move it", "1"), create("run tests", "2")), update,
			[]string{"- [x] #1 move it", "- [ ] #2 run tests"}, nil},
		{"one is made", create("move it", "1"), session(update, create("run tests", "2")), []string{"- [x] #1 move it"},
			[]string{"- [x] #1 move it", "- [ ] #2 run tests"}},
		{"all of it stays", run("ls", "a.go", false), todoWrite("move it", "pending"), nil, []string{"- [ ] move it"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			head := session("Move it.", tc.goes)
			text := write(goneUpTo(len(head), session(head, tc.stays)), note.Options{})
			if got := todosOf(text); !slices.Equal(got, tc.want) {
				t.Errorf("%q, not %q", got, tc.want)
			}
			after := tc.after
			if after == nil {
				after = tc.want
			}
			if got := todosOf(render(session(summary(text), tc.stays), note.Options{})); !slices.Equal(got, after) {
				t.Errorf("%q after the next one, not %q", got, after)
			}
		})
	}
}

// TestTodosOfACallThatFailed: todo state is what the tool keeps: a call that it refused changes nothing.
func TestTodosOfACallThatFailed(t *testing.T) {
	features.Proves(t, "A6")
	list := func(name string) map[string]any {
		return map[string]any{"todos": []any{map[string]any{"content": name, "status": "pending"}}}
	}
	unanswered := called("TodoWrite", list("Ship it."), "", false)[:1]
	for why, refused := range map[string][]abi.Message{
		"by the mark of an error": called("TodoWrite", list("Ship it."), "not now", true),
		"by its words":            called("TodoWrite", list("Ship it."), "Error: invalid status", false),
		"in a document":           called("TodoWrite", list("Ship it."), `{"error":"invalid"}`, false),
		"by a person": called("TodoWrite", list("Ship it."),
			"The user doesn't want to proceed with this tool use. The tool use was rejected", false),
		"as another call failed": called("TodoWrite", list("Ship it."),
			"<tool_use_error>Sibling tool call errored</tool_use_error>", false),
		"not at all": unanswered,
	} {
		kept := called("TodoWrite", list("Write the parser."), "ok", false)
		text := render(session("Mend it.", kept, refused, said("Done.")), note.Options{})
		if got := todosOf(text); !slices.Equal(got, []string{"- [ ] Write the parser."}) {
			t.Errorf("%s: %q", why, got)
		}
	}
}

// TestTodosOfCallsAtOnce: of calls that an agent makes at once each is made or refused by itself.
func TestTodosOfCallsAtOnce(t *testing.T) {
	features.Proves(t, "A6")
	made := session(called("TaskCreate", map[string]any{"subject": "Move it."}, "Task #1 created", false),
		called("TaskCreate", map[string]any{"subject": "Run it."}, "Task #2 created", false))
	done := func(id string, failed bool) []abi.Message {
		return called("TaskUpdate", map[string]any{"taskId": id, "status": "completed"}, "as asked", failed)
	}
	first, second := done("1", true), done("2", false)
	first[0].ToolCalls[0].ID, first[1].ToolCallID = "one", "one"
	second[0].ToolCalls[0].ID, second[1].ToolCallID = "two", "two"
	both := first[0]
	both.ToolCalls = append(slices.Clone(both.ToolCalls), second[0].ToolCalls...)
	text := render(session("Mend it.", made, []abi.Message{both, second[1], first[1]}, said("Done.")), note.Options{})
	if got := todosOf(text); !slices.Equal(got, []string{"- [ ] #1 Move it.", "- [x] #2 Run it."}) {
		t.Errorf("%q", got)
	}
}

// TestTodosWithoutResults: a recording that tells no results of the tool has the list all the same.
func TestTodosWithoutResults(t *testing.T) {
	features.Proves(t, "A6")
	text := render(session("Mend it.", todoWrite("Move it.", "pending")[:1], todoWrite("Move it.", "completed")[:1],
		said("Done.")), note.Options{})
	if got := todosOf(text); !slices.Equal(got, []string{"- [x] Move it."}) {
		t.Errorf("%q", got)
	}
}

// TestFinishedTodosHaveRoom: todo state is preserved: what is finished stands in a note that is full too, with the room
// beside the budget that the note says it needs.
func TestFinishedTodosHaveRoom(t *testing.T) {
	features.Proves(t, "A6")
	var list []string
	for i := range 12 {
		state := map[bool]string{true: "completed", false: "pending"}[i < 7]
		list = append(list, fmt.Sprintf("chapter %d: read it, note who speaks in it and where it is set", i), state)
	}
	msgs := session("Go through the book.", todoWrite(list...))
	for i := range 40 {
		msgs = session(msgs, run(fmt.Sprintf("cat a/b%d.go", i), "see foo_bar", false),
			said(fmt.Sprintf("Chapter %d has many people in it, and I read all that they say.", i)), fmt.Sprintf("Now %d.", i))
	}
	for round := range 3 {
		went := goneUpTo(len(msgs), session(msgs, said("On with it.")))
		text := write(went, note.Options{Budget: 500, Beside: went.NeedBeside(t.Context(), inFours, false), Count: inFours})
		if got := todosOf(text); len(got) != 12 {
			t.Fatalf("round %d: %q in\n%s", round, got, text)
		}
		msgs = session(summary(text))
	}
}
