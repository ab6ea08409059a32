package transcript

// A recording is a list of exchanges with a provider, or one of them:
// {"request":{...},"response":{...}}. Its session is the latest exchange that
// carries messages: the messages of the request, and the response as the last
// one where it is an object (the text of a stream is not read). What the
// exchanges before it said, the latest says again; what a server remembers for
// its client (a conversation, a previous response) is not part of it.
//
// A recording says what was sent. So it is written as it was read, or, where
// messages changed, it is the request that is written: a body to send, with
// the response's message as the last of the list.

// bodyLists are the keys under which request bodies hold their messages.
var bodyLists = []string{"messages", "input", "contents"}

// unwrap finds the body to read in a recording.
func (s *source) unwrap() {
	exchanges := []span{s.first}
	if s.data[s.first.start] == '[' {
		exchanges = s.elements(s.first)
	}
	for i := len(exchanges) - 1; i >= 0; i-- {
		if s.data[exchanges[i].start] != '{' {
			return
		}
		o := s.object(exchanges[i], "an exchange")
		body, ok := o.raw("request")
		response, answered := o.raw("response")
		if !ok || !answered {
			return
		}
		if !s.carriesMessages(body) {
			continue
		}
		s.exchange, s.first, s.lines, s.recorded = exchanges[i], body, false, true
		if s.data[response.start] == '{' {
			s.response = response
		}
		return
	}
}

func (s *source) carriesMessages(body span) bool {
	if s.data[body.start] != '{' {
		return false
	}
	o := s.object(body, "the request")
	for _, key := range bodyLists {
		if o.is(key, '[') || key == "input" && o.is(key, '"') {
			return true
		}
	}
	return false
}

// frame is the piece of the source that is a document of its own.
func (s *source) frame() span {
	if s.recorded {
		return s.first
	}
	return span{0, len(s.data)}
}

// document makes sure that nothing follows the first value, and opens it where
// it is an object.
func (s *source) document(known ...string) (*object, error) {
	if err := s.look(); err != nil {
		return nil, err
	}
	s.lines = false
	if whole := s.whole(); !s.recorded && whole != s.first {
		return nil, s.check(whole)
	}
	if s.data[s.first.start] != '{' {
		return &object{src: s, at: s.first}, nil
	}
	o := s.object(s.first, "the document", known...)
	return o, o.err
}

// answer opens the response of a recording.
func (s *source) answer(known ...string) (*object, bool) {
	if s.response.end == 0 {
		return nil, false
	}
	o := s.object(s.response, "the response", known...)
	return o, o.err == nil
}
