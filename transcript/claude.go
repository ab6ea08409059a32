package transcript

import "bytes"

// claudeCode is the log of Claude Code: one entry a line, of which those of
// type user and assistant hold messages. A message's id is the uuid of its
// line.
//
// The log splits one answer of the model over several lines with the same
// message.id, a block each; they are one message here, with the id of the
// first line, as long as nothing but tool results stands between them. A user
// line is one message for each tool_result and one for each run of other
// blocks between them; from the second on the ids are UUID#2, UUID#3, ...
// Thinking blocks are parts that are kept as they are.
//
// isCompactSummary makes a message a compaction_summary, isMeta a meta one; an
// assistant message that no model made is synthetic. Messages from before a
// compact_boundary are messages like the others, and so are those of a branch
// that was left by rewinding: the log is the whole session, in its own order.
// The former are superseded, but for those that the boundary preserves.
//
// Entries of a subagent (isSidechain) are another conversation and are carried
// along, unless the log has no others: then it is the subagent's own.
//
// See claudeDoc for what is written back.
type claudeCode struct{}

func (claudeCode) format() Format { return ClaudeCode }

func (claudeCode) detect(src *source) string {
	if !src.lines {
		return "not one JSON object a line"
	}
	for _, at := range src.split(0) {
		line := src.bytes(at)
		if line[0] != '{' || !bytes.Contains(line, []byte(`"message"`)) || src.check(at) != nil {
			continue
		}
		o := src.object(at, "the line")
		if t := o.str("type"); (t == "user" || t == "assistant") && o.is("message", '{') &&
			(o.has("uuid") || o.has("parentUuid") || o.has("sessionId")) {
			return ""
		}
	}
	return `no line with a "message" and a "uuid"`
}

// claudeLine is one entry of the log.
type claudeLine struct {
	user, assistant bool // it holds a message of that role
	side            bool // it belongs to a subagent
	meta, summary   bool
	kept            *claudeKept
	system          bool // a system message that another format was converted from
	boundary        bool // Claude Code's own compaction: the chain begins anew

	uuid, parent string
	// parentAt is the value of parentUuid, empty where there is none; logical
	// is the parent across a boundary.
	parentAt span
	logical  string
	ref      string // of a snapshot: the uuid of the message it was taken for
	time     string
	message  span
}

var (
	claudeLineKeys = []string{"type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "message", "messageId",
		"isSidechain", "isMeta", "isCompactSummary", "compactMetadata", systemMark, "sessionId", "timestamp"}
	claudeMessageKeys = []string{"role", "content", "id", "model"}
)

func (claudeCode) decode(src *source) (*decoded, error) {
	doc := &claudeDoc{recordDoc: recordDoc{src: src, layout: linesOf(src), arg: objectArgument}}
	doc.hold = make([]holding, len(doc.recs))
	d := &decoded{doc: doc}
	mine := false // there are messages that are not of a subagent
	for _, at := range doc.recs {
		if err := src.check(at); err != nil {
			return nil, err
		}
		o := src.object(at, "the line", claudeLineKeys...)
		l := claudeHeader(o)
		if d.session == "" {
			d.session = o.str("sessionId")
		}
		if o.err != nil {
			return nil, o.err
		}
		mine = mine || (l.user || l.assistant) && !l.side
		doc.lines = append(doc.lines, l)
	}
	r := newClaudeReader(doc, d)
	for i := range doc.lines {
		l := &doc.lines[i]
		l.side = l.side && mine
		if (l.user || l.assistant) && !l.side {
			if err := r.line(i); err != nil {
				return nil, err
			}
		}
	}
	r.close()
	doc.session = d.session
	doc.link()
	d.gone = doc.supersede()
	return d, nil
}

// claudeHeader reads what an entry says outside its message.
func claudeHeader(o *object) claudeLine {
	typ := o.str("type")
	l := claudeLine{
		user: typ == "user", assistant: typ == "assistant",
		side: o.flag("isSidechain"), meta: o.flag("isMeta"), system: o.flag(systemMark), summary: o.flag("isCompactSummary"),
		boundary: typ == "system" && o.str("subtype") == "compact_boundary",
		uuid:     o.str("uuid"), parent: o.str("parentUuid"), logical: o.str("logicalParentUuid"),
		time: o.scalar("timestamp"),
	}
	l.parentAt, _ = o.raw("parentUuid")
	if l.boundary {
		l.kept = o.claudeKept()
	}
	if typ == "file-history-snapshot" {
		l.ref = o.str("messageId")
	}
	if l.user || l.assistant {
		var ok bool
		if l.message, ok = o.value("message"); !ok {
			o.fail(o.at.start, `an entry of type user or assistant has a "message"`, "no message in an entry of type %s", typ)
		}
	}
	return l
}
