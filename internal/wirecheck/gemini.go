package wirecheck

import (
	"encoding/json"
	"fmt"
)

type geminiPart struct {
	Text             *string
	Call             *geminiFunction `json:"functionCall"`
	CallSnake        *geminiFunction `json:"function_call"`
	Response         *geminiFunction `json:"functionResponse"`
	ResponseSnake    *geminiFunction `json:"function_response"`
	Type             *string
	InlineData       json.RawMessage
	FileData         json.RawMessage
	ExecutableCode   json.RawMessage
	ExecutionResult  json.RawMessage `json:"codeExecutionResult"`
	InlineSnake      json.RawMessage `json:"inline_data"`
	FileSnake        json.RawMessage `json:"file_data"`
	ThoughtSignature string
}

type geminiFunction struct {
	ID, Name string
	Args     json.RawMessage
	Response json.RawMessage
}

func (p *geminiPart) call() *geminiFunction {
	if p.Call != nil {
		return p.Call
	}
	return p.CallSnake
}

func (p *geminiPart) response() *geminiFunction {
	if p.Response != nil {
		return p.Response
	}
	return p.ResponseSnake
}

type geminiContent struct {
	Role  string
	Parts []geminiPart
}

// Gemini checks a body of POST models/NAME:generateContent. Contents of one
// role may follow each other; a call has to follow the user or a response.
func Gemini(body []byte) []string {
	var doc struct{ Contents []geminiContent }
	f := read(body, &doc)
	if f != nil {
		return f
	}
	if len(doc.Contents) == 0 {
		f.add("contents", "is empty")
	}
	var open []*geminiFunction // the calls of the content before
	for i := range doc.Contents {
		c, at := &doc.Contents[i], fmt.Sprintf("contents[%d]", i)
		var calls, responses []*geminiFunction
		for k := range c.Parts {
			p := &c.Parts[k]
			f.geminiPart(fmt.Sprintf("%s.parts[%d]", at, k), p)
			if p.call() != nil {
				calls = append(calls, p.call())
			}
			if p.response() != nil {
				responses = append(responses, p.response())
			}
		}
		if len(c.Parts) == 0 {
			f.add(at, "no parts")
		}
		switch c.Role {
		case "user", "function", "":
			if len(calls) > 0 {
				f.add(at, "a call in role %q", c.Role)
			}
		case "model":
			if len(responses) > 0 {
				f.add(at, "a response in role model")
			}
			if len(calls) > 0 && (i == 0 || doc.Contents[i-1].Role == "model") {
				f.add(at, "a call that follows neither the user nor a response")
			}
		default:
			f.add(at, "role %q", c.Role)
		}
		f.geminiPairs(at, open, responses)
		open = calls
	}
	f.geminiPairs("contents", open, nil)
	return f
}

// geminiPairs checks that each call is answered in the next content, by id or,
// where it has none, by name, and nothing else is.
func (f *faults) geminiPairs(at string, calls, responses []*geminiFunction) {
	left := append([]*geminiFunction(nil), calls...)
	for _, r := range responses {
		found := -1
		for k, c := range left {
			if c.Name == r.Name && (c.ID == r.ID || c.ID == "" || r.ID == "") && found < 0 {
				found = k
			}
		}
		if found < 0 {
			f.add(at, "a response of %s (%q), which the content before did not call", r.Name, r.ID)
			continue
		}
		left = append(left[:found], left[found+1:]...)
	}
	for _, c := range left {
		f.add(at, "no response for the call of %s (%q) before it", c.Name, c.ID)
	}
}

func (f *faults) geminiPart(at string, p *geminiPart) {
	n := 0
	for _, there := range []bool{
		p.Text != nil, p.call() != nil, p.response() != nil, isObject(p.InlineData) || isObject(p.InlineSnake),
		isObject(p.FileData) || isObject(p.FileSnake), isObject(p.ExecutableCode), isObject(p.ExecutionResult),
	} {
		if there {
			n++
		}
	}
	if n != 1 || p.Type != nil {
		f.add(at, "%d kinds of data in one part, or a key that there is not", n)
	}
	if c := p.call(); c != nil {
		if !geminiName.MatchString(c.Name) {
			f.add(at, "name %q", c.Name)
		}
		if isSet(c.Args) && !isObject(c.Args) {
			f.add(at, "args that are no object")
		}
	}
	if r := p.response(); r != nil && !isObject(r.Response) {
		f.add(at, "a response that is no object")
	}
}
