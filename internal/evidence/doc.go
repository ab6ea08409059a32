// Package evidence measures memory without a model: of the turns that a
// question needs, how many does a memory bring back.
//
// [Read] takes the files of LoCoMo and LongMemEval as they are published, or
// the plain form of [Dataset]. [Measure] gives every conversation to a [Memory]
// session by session, asks it every question, and compares what comes back
// with the labelled evidence. [Ranking] is the project's own search;
// [Plugin] is any memory plugin, through its hooks alone: what pre_compact
// retains, and what a later pre_compact injects.
//
// Recall at k of a question is |evidence in the top k| / |evidence|; a figure
// is the mean over all questions that have evidence, as in Maharana et al.,
// "Evaluating Very Long-Term Conversational Memory of LLM Agents" (2024). A
// turn's text is
//
//	SPEAKER said, "TEXT" and shared CAPTION
//
// A budget is filled with whole turns, or by [UnitPassage] with the passages that
// were brought back: of a long turn the part that bears on the question, which
// then counts as the turn.
//
// At a share of the conversation, or at a budget of tokens, the top k is as
// many of the best as fit. For sessions, any at k says whether one of the
// sessions with evidence is among the first k, and all at k whether all are:
// Wu et al., "LongMemEval" (2024).
package evidence
