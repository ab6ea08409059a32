package features

// Row is one thing that the project promises.
type Row struct {
	// ID is a letter and a number, or "complaint " and a number.
	ID string
	// Text says what it is, in a line.
	Text string
	// Planned rows are not built yet, or not all of it, and may stand without a
	// test.
	Planned bool
}

// File is where the table stands, below the project's root.
const File = "docs/features.md"

const complaint = "complaint "

// Rows are all rows, in the order of the table.
func Rows() []Row {
	return []Row{
		{ID: "K1", Text: "The host compacts, where it makes the list for each model call; nothing is trimmed in silence"},
		{ID: "K2", Text: "Over 0.85 of the window it starts, at 0.60 it is done, and a second look changes nothing; both per agent"},
		{ID: "K3", Text: "A request refused as too long is compacted and sent once more, not where nothing changed; such errors are not stored"},
		{ID: "K4", Text: "Four strategies: drop (the default and the floor), summarize, delegate, checkpoint"},
		{ID: "K5", Text: "Each agent has its policy, window and compactions; subagents take over what they do not set"},
		{ID: "K6", Text: "Plugins observe, compact or both; one compactor for an agent; role and roles are both read"},
		{ID: "K7", Text: "A compactor that fails, traps or hangs is followed by drop; one event has the whole chain"},
		{ID: "K8", Text: "Compaction runs between calls; a call waits for the one in flight"},
		{ID: "K9", Text: "A tool call and all its results stay or go together, also where ids are reused or answers missing"},
		{ID: "K10", Text: "System prompt, first message of a person, what plugins mark and what the operator says are never touched"},
		{ID: "K11", Text: "Originals stay stored; a rollback past a compaction brings back exactly what it superseded"},
		{ID: "K12", Text: "The operator can see every message, the model only the compacted list"},
		{ID: "K13", Text: "A page with figures, knobs, history, judgement, manual runs and previews", Planned: true},
		{ID: "K14", Text: "What the compactor costs is a line of its own, failed calls included"},
		{ID: "K15", Text: "Audit events for triggered, completed, failed, flagged and no-op, with what each was", Planned: true},
		{ID: "K16", Text: "Whatever the page can do, the HTTP interface can", Planned: true},
		{ID: "K17", Text: "Each compaction is a stored record that takes a judgement and notes", Planned: true},
		{ID: "K18", Text: "Tokens are estimated before a call; the operator's figures win over the catalog's; providers have aliases"},
		{ID: "K19", Text: "pre_compact before the strategy, post_compact after it; compactors transform, observers read"},
		{ID: "K20", Text: "Old tool output is pruned first, newest 40,000 tokens and read and skill excepted, where 20,000 are saved; no record, no hook"},
		{ID: "K21", Text: "An unknown window is taken for 128,000 tokens, and reported as null"},
		{ID: "K22", Text: "A strategy that supersedes nothing leaves no record but a no-op event; a dry run always leaves one"},
		{ID: "K23", Text: "Drop asks a model for a summary first where there is one; where that fails it drops, and says so"},
		{ID: "K24", Text: "A default prompt of seven sections ships, is written where it is missing, and is the operator's from then on"},
		{ID: "K25", Text: "Summaries by default: the agent's own model, 20 messages at least, the newest 10 stay, 1,500 tokens at most"},
		{ID: "K26", Text: "A compaction asked for may differ in strategy, summary, thresholds and prompt, and changes no configuration"},
		{ID: "K27", Text: "Knobs of plugins: ranges, enums, texts, booleans, model aliases, checked against their schema"},
		{ID: "K28", Text: "Reference plugins: hindsight observes and compacts, markdown observes"},
		{ID: "K29", Text: "Checkpoint: the session pauses, the operator approves or rejects; what is applied is what was shown"},
		{ID: "K30", Text: "Observers answer with facts to retain and a text to inject, compactors with a list, ids and a summary"},

		{ID: "I1", Text: "What stands before the summary stays the same to the byte; how much of the last request that is, is counted"},
		{ID: "I2", Text: "Regions: a reserve for the answer, a recent window by tokens or exchanges, tool output in it cut short"},
		{ID: "I3", Text: "Thresholds by model family, by name or by the model"},
		{ID: "I4", Text: "A summary of eight sections, each filled or marked empty; failed approaches and errors stay word for word"},
		{ID: "I5", Text: "Three triggers: the agent by a tool, the threshold, a person"},
		{ID: "I6", Text: "Background: asked for and polled without waiting, taken with the next call, nothing that arrived is lost"},
		{ID: "I7", Text: "Before a model: long output to head and tail, then old output to a reference"},
		{ID: "I8", Text: "What to keep, what to keep by reference, what to leave out"},
		{ID: "I9", Text: "A fast model in the background, the full one where a person asked, and for a hand-over to a new session"},
		{ID: "I10", Text: "Measured: compression, cache hits, failures kept, sections complete, the next call accepted"},

		{ID: "T1", Text: "Looked at after each turn too; can be switched off; by reserve (8,192) with the last 16,384 tokens kept"},
		{ID: "T2", Text: "What a plugin asks for in a turn runs when it is over"},
		{ID: "T3", Text: "By hand only while nothing runs, and at once refused otherwise"},
		{ID: "T4", Text: "What goes is found without a model, without side effects; nothing where the last entry is a compaction"},
		{ID: "T5", Text: "A cut inside a turn makes two summaries, side by side or one after the other, joined under a heading"},
		{ID: "T6", Text: "The last summary goes into the next"},
		{ID: "T7", Text: "Files read and modified stand below a summary, since the first compaction, and in the record"},
		{ID: "T8", Text: "Instructions for one compaction"},
		{ID: "T9", Text: "After a compaction the list is counted, not remembered"},
		{ID: "T10", Text: "A hook may cancel, or give the result, and no model is asked; afterwards a hook sees the entry"},
		{ID: "T11", Text: "Settings are read live"},

		{ID: "O1", Text: "An observer before a compaction holds nobody up"},
		{ID: "O2", Text: "A plugin may give just the summary: no model is asked, the last one wins, the record names it; one veto counts"},
		{ID: "O3", Text: "After three vetoes in a row the compaction runs; the counts are bounded"},
		{ID: "O4", Text: "A plugin asks at the end of a turn, with instructions; it cannot block the session"},
		{ID: "O5", Text: "Tokens before and the previous summary are really there"},
		{ID: "O6", Text: "Plugins and the model have the same time"},
		{ID: "O7", Text: "The hook after a compaction runs whichever way it went"},
		{ID: "O8", Text: "Hooks that nobody registered cost nothing"},
		{ID: "O9", Text: "Recall of about 0.9 at 12% of the tokens"},

		{ID: "A1", Text: "Duplicate synthetic messages go at half of the window"},
		{ID: "A2", Text: "Fractions or numbers of tokens, the number wins; for trimming too"},
		{ID: "A3", Text: "The last 10 messages stay; what is only shown, a bookmark or metadata does not count"},
		{ID: "A4", Text: "The summarizer is not given synthetic, internal or ephemeral messages or thinking, and 200 characters of a result"},
		{ID: "A5", Text: "The new list: system prompt, summary, what stays"},
		{ID: "A6", Text: "Checklists word for word, names exact, decisions as stated, contradictions noted; the tasks carried over mechanically"},
		{ID: "A7", Text: "A configured window wins, and is set at Ollama; strictly, an unknown one is an error"},
		{ID: "A8", Text: "Who summarizes: the named prompt, a dedicated agent, the default; else pruning alone, without hooks or errors"},
		{ID: "A9", Text: "In parts, each summary feeding the next, pairs whole, the tasks with the last"},
		{ID: "A10", Text: "Tried again with less of the tool results, the whole sequence each time"},
		{ID: "A11", Text: "Where it does not fit fewer messages stay, down to none; then a warning and an error; without a compactor at once"},
		{ID: "A12", Text: "The hooks are given what they need to decide and to report, on success and on failure"},
		{ID: "A13", Text: "Long arguments of old calls are cut: never, at every call, or when compacting"},

		{ID: "N1", Text: "Plugins of any language in a sandbox, everything they use bounded"},
		{ID: "N2", Text: "Whatever a plugin or a model returns, the transcript's rules hold or it is refused"},
		{ID: "N3", Text: "Recorded sessions replayed through strategies, side by side", Planned: true},
		{ID: "N4", Text: "A proxy for agents that cannot be changed", Planned: true},
		{ID: "N5", Text: "History that shows tampering, with exact undo and redo", Planned: true},
		{ID: "N6", Text: "A kit for authors of plugins"},
		{ID: "N7", Text: "Memory measured without a model, on public conversations"},
		{ID: "N8", Text: "Every compaction carries a ranked ledger of exact names, commands, numbers and errors"},
		{ID: "N9", Text: "What was superseded can be searched, where the operator allows it; answers say where they are from"},
		{ID: "N10", Text: "A receipt says what a compaction costs and when it pays; a gate refuses those that do not"},

		{ID: "complaint 1", Text: "Loops that free nothing"},
		{ID: "complaint 2", Text: "Orphaned tool calls or results, which providers refuse for ever"},
		{ID: "complaint 3", Text: "Rules lost"},
		{ID: "complaint 4", Text: "The compactor's own request is too long"},
		{ID: "complaint 5", Text: "A giant message at the end; arguments not counted"},
		{ID: "complaint 6", Text: "Bytes and images"},
		{ID: "complaint 7", Text: "A failed, empty, cut or longer summary replaces history"},
		{ID: "complaint 8", Text: "The second compaction loses what the first kept"},
		{ID: "complaint 9", Text: "Stale counts trigger again"},
		{ID: "complaint 10", Text: "No undo"},
		{ID: "complaint 11", Text: "The provider's cache thrown away"},
		{ID: "complaint 12", Text: "Hidden cost, hidden model"},
		{ID: "complaint 13", Text: "Nothing to see of it"},
		{ID: "complaint 14", Text: "Hooks that can say too little, hang, or veto for ever"},
		{ID: "complaint 15", Text: "Orders in a summary, invented or injected"},
		{ID: "complaint 16", Text: "Secrets in a summary"},
		{ID: "complaint 17", Text: "It blocks, and what arrived meanwhile is lost"},
		{ID: "complaint 18", Text: "Summaries that grow with each compaction"},
	}
}
