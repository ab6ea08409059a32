// Package summarize lets a model write what stands for the messages that go
// (FEATURES K4). It is the one strategy that calls somebody, and in three
// steps of which two are pure:
//
//	p, err := summarize.Prepare(view, cfg, cfg.Recent()) // what goes, and what the model reads of it
//	r, err := summarize.Run(ctx, model, p, cfg, count)   // the model's answer, checked
//	plan := summarize.MakePlan(p, r)                     // for the firewall
//
// What the model reads is a transcript inside a frame that marks it as data,
// never more than [Config.InputTokens] with all around it: history that does
// not fit is read in parts, each summary feeding the next. What it answers is
// checked before anybody sees it. An answer that is empty, cut off, longer than
// what it replaces, not in the form asked for, or no summary at all is refused
// with [abi.CodeBadSummary], and asked for again with shorter tool results, a
// bounded number of times.
//
// On any error the caller has the session as it was, an [abi.Error], and what
// was spent; it goes on to the floor, strategies.Drop.
package summarize
