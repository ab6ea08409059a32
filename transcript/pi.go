package transcript

import "strconv"

// pi is the session of pi: a line that names the session, and entries that
// form a tree by parentId. The last entry is the leaf; the messages are those
// on the way from the root to it. Other branches are carried along. Sessions
// of version 1 have neither ids nor branches. A message's id is its entry's.
//
// bashExecution messages have the kind bash, or display_only where the model
// does not see them, and the text that pi shows the model. An extension's
// custom_message has the kind that its customType names, if it is one that
// [abi.Kind] knows, and is synthetic otherwise, as is a branch_summary.
// Thinking and images are parts as the Messages API writes them.
//
// A compaction entry is a compaction_summary. Of several the latest counts:
// pi shows the model its summary, then what was from firstKeptEntryId on, then
// what follows. Everything before, and earlier summaries, are superseded.
//
// See piDoc for what is written back. A system message, for which pi has no
// place, becomes a custom_message of customType system_prompt, which reads as
// a system message again.
type pi struct{}

func (pi) format() Format { return Pi }

func (pi) detect(src *source) string {
	if !src.lines {
		return "not one JSON object a line"
	}
	o := src.object(src.first, "the line")
	if o.str("type") == "session" && o.is("id", '"') {
		return ""
	}
	return "the first line is not of type session"
}

var (
	piLineKeys = []string{"type", "version", "id", "parentId", "timestamp", "message", "summary", "firstKeptEntryId",
		"firstKeptEntryIndex", "customType", "content", "targetId", "modelId"}
	piMessageKeys = []string{"role", "content", "model", "toolCallId", "toolName", "isError", "command", "output",
		"exitCode", "cancelled", "truncated", "fullOutputPath", "excludeFromContext", "customType", "summary"}
	piBlockKeys = []string{"type", "text", "thinking", "thinkingSignature", "id", "name", "arguments", "data", "mimeType"}
)

// piLine is one entry of a session.
type piLine struct {
	typ, id, parent, time string
	parentAt              span // the value of parentId, empty where there is none
	up                    int  // the line that the parent is, or -1
	path                  bool // on the way to the leaf
	target                string
	kept                  string // of a compaction: the id or the index of the first entry kept
	keptAt                span
}

func (pi) decode(src *source) (*decoded, error) {
	doc := &piDoc{recordDoc: recordDoc{src: src, layout: linesOf(src), arg: objectArgument, result: piResult}}
	doc.hold = make([]holding, len(doc.recs))
	d := &decoded{doc: doc}
	for i, at := range doc.recs {
		if err := src.check(at); err != nil {
			return nil, err
		}
		o := src.object(at, "the line", piLineKeys...)
		l := piHeader(o)
		switch {
		case i == 0 && l.typ != "session":
			o.fail(at.start, `the first line is {"type":"session","id":...}`, "the session's own line is not there")
		case i == 0:
			d.session, d.model = l.id, o.str("modelId")
			version, _ := strconv.Atoi(o.scalar("version"))
			doc.tree = version >= 2
		}
		if o.err != nil {
			return nil, o.err
		}
		doc.lines = append(doc.lines, l)
	}
	doc.session = d.session
	doc.link()
	r := piReader{doc: doc, d: d}
	for i := range doc.lines {
		if doc.lines[i].path {
			if err := r.line(i); err != nil {
				return nil, err
			}
		}
	}
	d.gone = doc.supersede()
	return d, nil
}

// piHeader reads what an entry says outside its message.
func piHeader(o *object) piLine {
	l := piLine{typ: o.str("type"), id: o.str("id"), parent: o.str("parentId"), time: o.scalar("timestamp"), up: -1}
	l.parentAt, _ = o.raw("parentId")
	switch l.typ {
	case "label":
		l.target = o.str("targetId")
	case "compaction":
		key := "firstKeptEntryId"
		if o.has("firstKeptEntryIndex") {
			key = "firstKeptEntryIndex"
		}
		l.kept = o.scalar(key)
		l.keptAt, _ = o.raw(key)
	}
	return l
}
