package toolserver

import (
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// unanswered are the requests that were read and have no answer yet. Who sends some and closes its end wants the
// answers all the same, and the SDK gives up what it works on at the end of its input: so the end is not told before.
type unanswered struct {
	mu    sync.Mutex
	ids   map[jsonrpc.ID]bool
	given chan struct{} // closed with the next answer, where somebody waits for it
	over  chan struct{} // closed with the connection
	once  sync.Once
}

func newUnanswered() *unanswered {
	return &unanswered{ids: make(map[jsonrpc.ID]bool), over: make(chan struct{})}
}

// asked takes in a message that was read.
func (u *unanswered) asked(m jsonrpc.Message) {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.ids[r.ID] = true
	}
}

// answered takes in a line that was written, or could not be.
func (u *unanswered) answered(line []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.ids) == 0 {
		return
	}
	for _, one := range messagesOf(line) {
		if m, err := jsonrpc.DecodeMessage(one); err == nil {
			if r, ok := m.(*jsonrpc.Response); ok {
				delete(u.ids, r.ID)
			}
		}
	}
	if u.given != nil {
		close(u.given)
		u.given = nil
	}
}

// wait returns when all have their answers, or nobody wants them any more.
func (u *unanswered) wait() {
	for {
		u.mu.Lock()
		if len(u.ids) == 0 {
			u.mu.Unlock()
			return
		}
		if u.given == nil {
			u.given = make(chan struct{})
		}
		given := u.given
		u.mu.Unlock()
		select {
		case <-given:
		case <-u.over:
			return
		}
	}
}

// end says that nobody wants the answers any more.
func (u *unanswered) end() { u.once.Do(func() { close(u.over) }) }

// messagesOf are the messages of a line: itself, or those of the list that it is.
func messagesOf(line []byte) (list []json.RawMessage) {
	if len(line) > 0 && line[0] == '[' {
		_ = json.Unmarshal(line, &list)
		return list
	}
	return []json.RawMessage{line}
}
