package content

import (
	"crypto/sha256"
	"fmt"
	"regexp"

	"github.com/kagewasm/kagewasm/abi"
)

// OrdinalID is the id of the messages of one record: the record's own for the
// first, and with #2, #3, ... for the others.
func OrdinalID(id string, nth int) string {
	if id == "" || nth == 0 {
		return id
	}
	return fmt.Sprintf("%s#%d", id, nth+1)
}

// FunctionID is the id of a call that has none: it follows from the function's
// name, which pairs the call and its result.
func FunctionID(name string) string { return "function:" + name }

var uuidShape = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// UUID is the id itself where it is a uuid, and otherwise one that follows from
// it, so that the same compaction writes the same log.
func UUID(session, id string) string {
	if uuidShape.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte("kagewasm\x00" + session + "\x00" + id))
	sum[6] = sum[6]&0x0f | 0x80 // version 8: a layout of one's own
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// SessionUUID is the id of a session where it is a uuid, and otherwise one that
// follows from its messages.
func SessionUUID(id string, msgs []abi.Message) string {
	if uuidShape.MatchString(id) {
		return id
	}
	h := sha256.New()
	for i := range msgs {
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00", msgs[i].ID, msgs[i].Role, msgs[i].Text())
	}
	return UUID("session", string(h.Sum(nil)))
}
