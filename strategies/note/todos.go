package note

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// todos is the todo list of a session, in the state that the agent's own tool
// last gave it. It is carried word for word.
type todos struct {
	list []todo
	// asked are the calls to the tool that wait for their result, in order. What a tool refused changed nothing.
	asked    []asking
	answered bool // results say what came of calls
	// finished and open are how many there are beside the list, which a note had no room for.
	finished, open int
	below          bool // messages stay below, in which the agent may have changed it
}

// asking is a call to the tool. Stays: its message stays.
type asking struct {
	call  *abi.ToolCall
	stays bool
}

type todo struct {
	text  string
	state byte   // ' ', '-' under way, 'x' done, '~' dropped
	id    string // where single ones are changed by number
}

// Todos returns the list of tasks in its last state, a line for each as the note has
// it: "- [x] text". It is empty where no tool keeps one.
func (n *Note) Todos() string {
	lines := slices.Concat(leftOut(n.todos.finished, 0), lists.Map(n.todos.list, todo.String), leftOut(0, n.todos.open))
	if len(lines) == 0 {
		return ""
	}
	return "- " + strings.Join(lines, "\n- ")
}

// none reports whether no tool keeps a list.
func (ts *todos) none() bool { return len(ts.list)+ts.finished+ts.open == 0 }

// isOpen reports whether there is something left to do.
func (t todo) isOpen() bool { return t.state == ' ' || t.state == '-' }

// least is what the open ones and the number of the others cost under their head, in tokens.
func (ts *todos) least(count func(string) int) int {
	if ts.none() {
		return 0
	}
	n := ts.frame(count)
	for _, t := range ts.list {
		if t.isOpen() {
			n += t.cost(count)
		}
	}
	return n
}

// What stands for those that a note has no room for: "left out here: 3 finished".
const (
	leftOutMark  = "left out here: "
	finishedMark = " finished"
	openLeftMark = " open"
)

// frame is what stands around the todos of a note at most, in tokens.
func (ts *todos) frame(count func(string) int) int {
	finished, open := ts.finished, ts.open
	for _, t := range ts.list {
		if t.isOpen() {
			open++
		} else {
			finished++
		}
	}
	return count(ts.head()+"\n- "+strings.Join(leftOut(finished, open), "\n- ")) + 1
}

// head stands above the list.
func (ts *todos) head() string {
	if ts.below {
		return headTodos + "\n" + todosBelow
	}
	return headTodos
}

// leftOut are the lines that count what is left out.
func leftOut(finished, open int) (lines []string) {
	if finished > 0 {
		lines = append(lines, leftOutMark+strconv.Itoa(finished)+finishedMark)
	}
	if open > 0 {
		lines = append(lines, leftOutMark+strconv.Itoa(open)+openLeftMark)
	}
	return lines
}

// counted reads back what leftOut wrote.
func (ts *todos) counted(entry string) {
	rest, ok := strings.CutPrefix(entry, leftOutMark)
	if !ok {
		return
	}
	if n, err := strconv.Atoi(strings.TrimSuffix(rest, finishedMark)); err == nil {
		ts.finished = n
	} else if n, err := strconv.Atoi(strings.TrimSuffix(rest, openLeftMark)); err == nil {
		ts.open = n
	}
}

// todos adds the tasks in order: what is under way and what is open as far as there is room at all, and what is
// finished, the last first, as far as it fits into the budget, or into the tokens beside it. It counts what it leaves
// out, and returns what it took beside the budget.
func (p *parts) todos(ts *todos, budget, beside int) (took int) {
	left := p.left - ts.frame(p.count)
	if ts.none() || left < 0 {
		return 0
	}
	keep, finished, open := make([]bool, len(ts.list)), ts.finished, ts.open
	for _, state := range []byte{'-', ' '} {
		for i, t := range ts.list {
			if t.state != state {
				continue
			}
			if n := t.cost(p.count); n <= left {
				keep[i], left, budget = true, left-n, budget-n
			} else {
				open++
			}
		}
	}
	budget = min(budget-p.count(ts.head()), left)
	for i := len(ts.list) - 1; i >= 0; i-- {
		if ts.list[i].isOpen() {
			continue
		}
		switch n := ts.list[i].cost(p.count); {
		case n <= budget:
			keep[i], budget = true, budget-n
		case n <= beside-took:
			keep[i], took = true, took+n
		default:
			budget, beside = 0, 0
			finished++
		}
	}
	lines := leftOut(finished, 0)
	for i, t := range ts.list {
		if keep[i] {
			lines = append(lines, t.String())
		}
	}
	lines = append(lines, leftOut(0, open)...)
	p.left += took
	p.put(ts.head() + "\n- " + strings.Join(lines, "\n- "))
	return took
}

// finishedNeed is what those need that are finished, in tokens, up to a bound.
func (ts *todos) finishedNeed(count func(string) int) (need int) {
	for _, t := range ts.list {
		if !t.isOpen() {
			need += t.cost(count)
		}
	}
	return min(need, mostFinished)
}

// cost is what a line costs that tells it, in tokens.
func (t todo) cost(count func(string) int) int { return count("- "+t.String()) + 1 }

// mostFinished is what finished todos may cost beside the budget of a note, in tokens.
const mostFinished = 600

// maxTodos bounds the list.
const maxTodos = 50

// String is "[x] text", with the number in front where there is one.
func (t todo) String() string {
	if t.id != "" {
		return fmt.Sprintf("[%c] #%s %s", t.state, t.id, t.text)
	}
	return fmt.Sprintf("[%c] %s", t.state, t.text)
}

// parseTodo reads back what String wrote, and what people write.
func parseTodo(s string) (todo, bool) {
	if len(s) < 5 || s[0] != '[' || s[2] != ']' {
		return todo{}, false
	}
	t := todo{state: boxState(s[1]), text: strings.TrimSpace(s[3:])}
	if rest, ok := strings.CutPrefix(t.text, "#"); ok {
		if id, text, ok := strings.Cut(rest, " "); ok && id != "" && clip.Digits(id) == len(id) {
			t.id, t.text = id, text
		}
	}
	return t, t.text != ""
}

func boxState(c byte) byte {
	switch c {
	case 'x', 'X':
		return 'x'
	case '-', '~':
		return c
	}
	return ' '
}

// message takes the list over from what an agent asks of its tool, once the tool did it. Stays: the message stays. What
// is done in it is not open, and tasks that it makes stand in it alone, as the note after this one would take them over
// once more.
func (ts *todos) message(m *abi.Message, stays bool, h outcome.Harness) {
	if len(ts.asked) > 0 {
		for i := range m.ToolCalls { // what an earlier call of that id asked nobody answers any more
			ts.asked = slices.DeleteFunc(ts.asked, func(a asking) bool { return a.call.ID == m.ToolCalls[i].ID && ts.answered })
		}
	}
	for i := range m.ToolCalls {
		if c := &m.ToolCalls[i]; keepsTodos(c) {
			ts.asked = append(ts.asked, asking{c, stays})
		}
	}
	if m.Role != abi.RoleTool {
		return
	}
	for i, a := range ts.asked {
		if c := a.call; c.ID == m.ToolCallID {
			ts.asked, ts.answered = slices.Delete(ts.asked, i, i+1), true
			if o := h.Of(m, h.Does(c)); !o.Failed && !o.Dropped && !outcome.Rejected(m.Text()) {
				ts.made(a, m.Text())
			}
			return
		}
	}
}

// finish takes the list over from calls of a session that tells no results.
func (ts *todos) finish() {
	for _, a := range ts.asked {
		if !ts.answered {
			ts.made(a, "")
		}
	}
	ts.asked = nil
}

// made takes the list over from a call that was made, with this result.
func (ts *todos) made(a asking, result string) {
	if !a.stays || !ts.none() && !makesTodo(a.call) {
		ts.call(a.call, result)
	}
}

// takeOver takes the list that an earlier note tells, where it tells one.
func (ts *todos) takeOver(told *todos) {
	if !told.none() {
		ts.list, ts.finished, ts.open = told.list, told.finished, told.open
	}
}

// toolName is the name of a tool as it is compared.
func toolName(c *abi.ToolCall) string {
	return lower.Text(strings.ReplaceAll(strings.ReplaceAll(c.Name, "_", ""), "-", ""))
}

// planTools are tools that keep a list under another name.
var planTools = []string{"updateplan", "setplan"}

// keepsTodos reports whether a call is one to a tool that keeps a list: TodoWrite, write_todos, update_plan, TaskCreate
// and what is called alike.
func keepsTodos(c *abi.ToolCall) bool {
	name := toolName(c)
	return makesTodo(c) || strings.Contains(name, "taskupdate") ||
		strings.Contains(name, "todo") && !strings.Contains(name, "read") || toolcall.HasAny(name, planTools)
}

// makesTodo reports whether a call makes a single one.
func makesTodo(c *abi.ToolCall) bool { return strings.Contains(toolName(c), "taskcreate") }

// call takes the list over from a call that was made, with this result.
func (ts *todos) call(c *abi.ToolCall, result string) {
	var doc any
	if json.Unmarshal([]byte(c.Arguments), &doc) != nil {
		return
	}
	single, _ := doc.(map[string]any)
	switch {
	case makesTodo(c):
		ts.create(single, result)
	case strings.Contains(toolName(c), "taskupdate"):
		ts.update(single)
	default:
		if list, ok := findList(doc, 0); ok {
			ts.finished, ts.open = 0, 0
			ts.list = ts.within(list)
		}
	}
}

// within leaves what is over the bound out of a list, and counts it: finished ones first.
func (ts *todos) within(list []todo) []todo {
	over := max(0, len(list)-maxTodos)
	list = slices.DeleteFunc(list, func(t todo) bool {
		goes := ts.finished < over && !t.isOpen()
		if goes {
			ts.finished++
		}
		return goes
	})
	ts.open = max(0, len(list)-maxTodos)
	return list[:len(list)-ts.open]
}

// create adds one, with the number that its result tells: "Task #3 created".
func (ts *todos) create(doc map[string]any, result string) {
	t, ok := todoOf(doc)
	if !ok || len(ts.list) >= maxTodos {
		return
	}
	if _, rest, ok := strings.Cut(result, "#"); ok {
		t.id = rest[:clip.Digits(rest)]
	}
	ts.list = append(ts.list, t)
}

// update changes one.
func (ts *todos) update(doc map[string]any) {
	id := fmt.Sprint(firstOf(doc, "taskId", "task_id", "id"))
	for i := range ts.list {
		if ts.list[i].id != id {
			continue
		}
		if s, ok := firstOf(doc, "status", "state").(string); ok {
			ts.list[i].state = stateOf(s)
		}
		if s, ok := firstOf(doc, "subject", "content").(string); ok && s != "" {
			ts.list[i].text = oneLine(s, maxEntry)
		}
	}
}

// findList is the first list in a document whose members read as todos. An
// empty list is one, too: all is done and cleared.
func findList(doc any, depth int) ([]todo, bool) {
	switch v := doc.(type) {
	case []any:
		list := []todo{}
		for _, e := range v {
			if t, ok := todoOf(e); ok {
				list = append(list, t)
			}
		}
		return list, len(list) > 0 || len(v) == 0
	case map[string]any:
		for _, key := range []string{"todos", "plan", "items", "tasks", "todo_list", "todoList", "todo", "list", "content"} {
			if e, ok := v[key]; ok && depth < 3 {
				if list, ok := findList(e, depth+1); ok {
					return list, true
				}
			}
		}
	case string: // a checklist in markdown
		var list []todo
		for line := range strings.Lines(v) {
			line, _ = listItem(strings.TrimSpace(line))
			if t, ok := parseTodo(line); ok {
				list = append(list, t)
			}
		}
		return list, len(list) > 0
	}
	return nil, false
}

// todoOf reads one member of a list.
func todoOf(v any) (todo, bool) {
	switch v := v.(type) {
	case string:
		v = oneLine(v, maxEntry)
		if t, ok := parseTodo(v); ok {
			return t, true
		}
		return todo{text: v, state: ' '}, v != ""
	case map[string]any:
		text, _ := firstOf(v, "content", "step", "subject", "text", "title", "task", "description", "name").(string)
		t := todo{text: oneLine(text, maxEntry), state: ' '}
		switch s := firstOf(v, "status", "state", "completed", "done", "checked").(type) {
		case string:
			t.state = stateOf(s)
		case bool:
			if s {
				t.state = 'x'
			}
		}
		return t, t.text != ""
	}
	return todo{}, false
}

func stateOf(s string) byte {
	switch lower.Text(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s)) {
	case "completed", "complete", "done", "finished", "closed":
		return 'x'
	case "inprogress", "active", "doing", "started", "running":
		return '-'
	case "cancelled", "canceled", "deleted", "skipped", "dropped":
		return '~'
	}
	return ' '
}

func firstOf(doc map[string]any, keys ...string) any {
	for _, k := range keys {
		if v, ok := doc[k]; ok {
			return v
		}
	}
	return nil
}
