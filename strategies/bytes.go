package strategies

import "github.com/kagewasm/kagewasm/abi"

const (
	messageBytes = len(`{"role":"assistant","content":},`)
	callBytes    = len(`{"id":,"type":"function","function":{"name":,"arguments":}},`)
	linkBytes    = len(`,"tool_call_id":,"name":`)
)

// Bytes returns how many bytes a message adds to the body of a request in the OpenAI format: media in
// full, texts with their escapes. Other formats differ by a few bytes a message.
func Bytes(m *abi.Message) int {
	n := messageBytes
	if parts := m.Content.Parts(); m.Content.IsParts() {
		for _, p := range parts {
			if raw, err := p.MarshalJSON(); err == nil {
				n += len(raw) + 1
			}
		}
	} else {
		n += textBytes(m.Text())
	}
	if m.ToolCallID != "" || m.Name != "" {
		n += linkBytes + textBytes(m.ToolCallID) + textBytes(m.Name)
	}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		n += callBytes + textBytes(c.ID) + textBytes(c.Name) + textBytes(c.Arguments)
	}
	return n
}

// textBytes returns the length of s as a JSON string.
func textBytes(s string) int {
	n := len(s) + 2
	for i := range len(s) {
		n += int(escape[s[i]])
	}
	return n
}

// escape is how many more bytes a byte takes in a JSON string.
var escape = func() (t [256]uint8) {
	for c := range 0x20 {
		t[c] = 5
	}
	for _, c := range []byte("\"\\\n\r\t\b\f") {
		t[c] = 1
	}
	return t
}()
