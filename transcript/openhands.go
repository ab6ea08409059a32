package transcript

import "github.com/kagewasm/kagewasm/abi"

// openHands is the event log of OpenHands (its first generation, to 1.0): a
// list of actions and observations, or a document that holds it under
// "history", "trajectory" or "events". A message's id is that of its event.
//
// A call's message is the answer that its action says it came from
// (tool_call_metadata); the actions of one answer are one message as long as
// nothing but results stands between them. Where a log has no such metadata an
// action is a call named as itself, with the id event:ID, which its
// observation names as its cause. success false makes a result an error.
//
// A command that the person ran is of kind bash, its output console_output; an
// error outside any call is synthetic; what a recall found is instructions.
// Changes of state and the like are no messages and are carried along. Other
// kinds stand in the key "kind" of the event, which OpenHands passes over.
//
// A condensation with a summary is a compaction_summary. The events that it
// forgets and earlier summaries are superseded; OpenHands shows the model the
// latest summary, at the place that the condensation names. See handsDoc for
// what is written back.
type openHands struct{}

func (openHands) format() Format { return OpenHands }

func (openHands) detect(src *source) string {
	list, ok := handsList(src, src.first)
	if !ok {
		return "no list of events"
	}
	els := src.elements(list)
	if len(els) == 0 {
		return "no events"
	}
	o := src.object(els[0], "the first event")
	if o.is("source", '"') && (o.is("action", '"') || o.is("observation", '"')) {
		return ""
	}
	return "the first element is no event"
}

// handsLists are the keys under which a document may hold its events.
var handsLists = []string{"history", "trajectory", "events"}

func handsList(src *source, at span) (span, bool) {
	switch src.data[at.start] {
	case '[':
		return at, true
	case '{':
		o := src.object(at, "the document")
		for _, key := range handsLists {
			if o.is(key, '[') {
				return o.raw(key)
			}
		}
	}
	return span{}, false
}

var (
	handsDocKeys   = []string{"history", "trajectory", "events", "instance_id"}
	handsEventKeys = []string{"id", "timestamp", "source", "action", "args", "observation", "content", "extras", "cause",
		"tool_call_metadata", "success", "kind"}
	handsArgKeys = []string{"content", "command", "thought", "final_thought", "summary", "forgotten_event_ids",
		"forgotten_events_start_id", "forgotten_events_end_id", "tools", "image_urls"}
)

func (openHands) decode(src *source) (*decoded, error) {
	o, err := src.document(handsDocKeys...)
	if err != nil {
		return nil, err
	}
	list, ok := handsList(src, src.first)
	if !ok {
		return nil, src.bad(src.first.start, `put the events in a list, or in one under "history"`, "no list of events")
	}
	doc := &handsDoc{recordDoc: recordDoc{src: src, layout: listOf(src, list), result: func(c abi.Content, _ slot) []byte { return handsText(c) }}}
	doc.arg = doc.argument
	doc.hold = make([]holding, len(doc.recs))
	doc.lines = make([]handsLine, len(doc.recs))
	r := &handsReader{doc: doc, d: &decoded{doc: doc}}
	if r.d.session = o.scalar("instance_id"); o.err != nil {
		return nil, o.err
	}
	for i, at := range doc.recs {
		o := src.object(at, "the event", handsEventKeys...)
		if r.event(i, o); o.err != nil {
			return nil, o.err
		}
	}
	r.d.gone = doc.supersede()
	return r.d, nil
}

// handsText writes a content as text, which is all that an event can hold.
func handsText(c abi.Content) []byte { return quote(plainText(c)) }
