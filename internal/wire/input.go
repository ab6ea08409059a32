package wire

import "github.com/kagewasm/kagewasm/abi"

var inputFields = []field[*abi.Input]{
	{"abi", func(d *decoder, in *abi.Input) { in.ABI = d.int() }},
	{"call", func(d *decoder, in *abi.Input) { in.Call = d.text() }},
	{"time", func(d *decoder, in *abi.Input) { in.Time = d.text() }},
	{"hook", func(d *decoder, in *abi.Input) { in.Hook = abi.Hook(d.text()) }},
	{"session", func(d *decoder, in *abi.Input) { object(d, &in.Session, sessionFields) }},
	{"trigger", func(d *decoder, in *abi.Input) { object(d, &in.Trigger, triggerFields) }},
	{"budget", func(d *decoder, in *abi.Input) { object(d, &in.Budget, budgetFields) }},
	{"config", func(d *decoder, in *abi.Input) { in.Config = rawMap(d) }},
	{"roles", func(d *decoder, in *abi.Input) {
		in.Roles = list(d, func(d *decoder, r *abi.PluginRole) { *r = abi.PluginRole(d.text()) })
	}},
	{"previous_summary", func(d *decoder, in *abi.Input) { in.PreviousSummary = d.text() }},
	{"messages", func(d *decoder, in *abi.Input) { in.Messages = list(d, message) }},
	{"record", func(d *decoder, in *abi.Input) { in.Record = pointer(d, recordFields) }},
}

var sessionFields = []field[*abi.Session]{
	{"id", func(d *decoder, s *abi.Session) { s.ID = d.text() }},
	{"agent_path", func(d *decoder, s *abi.Session) { s.AgentPath = d.text() }},
	{"model", func(d *decoder, s *abi.Session) { s.Model = d.text() }},
	{"context_window", func(d *decoder, s *abi.Session) {
		if !d.null() {
			s.ContextWindow = new(d.int())
		}
	}},
}

var triggerFields = []field[*abi.Trigger]{
	{"reason", func(d *decoder, t *abi.Trigger) { t.Reason = abi.TriggerReason(d.text()) }},
	{"tokens", func(d *decoder, t *abi.Trigger) { t.Tokens = d.int() }},
	{"fraction", func(d *decoder, t *abi.Trigger) { t.Fraction = d.float() }},
	{"upper", func(d *decoder, t *abi.Trigger) { t.Upper = d.float() }},
	{"lower", func(d *decoder, t *abi.Trigger) { t.Lower = d.float() }},
	{"forced", func(d *decoder, t *abi.Trigger) { t.Forced = d.bool() }},
	{"keep_last", func(d *decoder, t *abi.Trigger) { t.KeepLast = d.int() }},
	{"dry_run", func(d *decoder, t *abi.Trigger) { t.DryRun = d.bool() }},
	{"instructions", func(d *decoder, t *abi.Trigger) { t.Instructions = d.text() }},
}

var budgetFields = []field[*abi.Budget]{
	{"target_tokens", func(d *decoder, b *abi.Budget) { b.TargetTokens = d.int() }},
	{"summary_tokens", func(d *decoder, b *abi.Budget) { b.SummaryTokens = d.int() }},
}

var recordFields = []field[*abi.Record]{
	{"id", func(d *decoder, r *abi.Record) { r.ID = d.text() }},
	{"time", func(d *decoder, r *abi.Record) { r.Time = d.text() }},
	{"success", func(d *decoder, r *abi.Record) { r.Success = d.bool() }},
	{"dry_run", func(d *decoder, r *abi.Record) { r.DryRun = d.bool() }},
	{"trigger", func(d *decoder, r *abi.Record) { r.Trigger = abi.TriggerReason(d.text()) }},
	{"instructions", func(d *decoder, r *abi.Record) { r.Instructions = d.text() }},
	{"strategy", func(d *decoder, r *abi.Record) { r.Strategy = d.text() }},
	{"source", func(d *decoder, r *abi.Record) { object(d, &r.Source, sourceFields) }},
	{"reason_code", func(d *decoder, r *abi.Record) { r.ReasonCode = abi.ReasonCode(d.text()) }},
	{"tokens_before", func(d *decoder, r *abi.Record) { r.TokensBefore = d.int() }},
	{"tokens_after", func(d *decoder, r *abi.Record) { r.TokensAfter = d.int() }},
	{"messages_before", func(d *decoder, r *abi.Record) { r.MessagesBefore = d.int() }},
	{"messages_after", func(d *decoder, r *abi.Record) { r.MessagesAfter = d.int() }},
	{"superseded", func(d *decoder, r *abi.Record) { r.Superseded = texts(d) }},
	{"inserted", func(d *decoder, r *abi.Record) { r.Inserted = texts(d) }},
	{"first_kept", func(d *decoder, r *abi.Record) { r.FirstKept = d.text() }},
	{"edited", func(d *decoder, r *abi.Record) { r.Edited = texts(d) }},
	{"summary", func(d *decoder, r *abi.Record) { r.Summary = d.text() }},
	{"audit_summary", func(d *decoder, r *abi.Record) { r.AuditSummary = d.text() }},
	{"files", func(d *decoder, r *abi.Record) { r.Files = pointer(d, filesFields) }},
	{"model", func(d *decoder, r *abi.Record) { r.Model = d.text() }},
	{"receipt", func(d *decoder, r *abi.Record) { r.Receipt = pointer(d, receiptFields) }},
	{"failures", func(d *decoder, r *abi.Record) { r.Failures = list(d, failure) }},
	{"flag", func(d *decoder, r *abi.Record) { r.Flag = d.text() }},
	{"notes", func(d *decoder, r *abi.Record) { r.Notes = d.text() }},
}

var filesFields = []field[*abi.Files]{
	{"read", func(d *decoder, f *abi.Files) { f.Read = texts(d) }},
	{"modified", func(d *decoder, f *abi.Files) { f.Modified = texts(d) }},
	{"deleted", func(d *decoder, f *abi.Files) { f.Deleted = texts(d) }},
}

var receiptFields = []field[*abi.Receipt]{
	{"freed_tokens", func(d *decoder, r *abi.Receipt) { r.FreedTokens = d.int() }},
	{"lost_prefix_tokens", func(d *decoder, r *abi.Receipt) {
		if !d.null() {
			r.LostPrefixTokens = new(d.int())
		}
	}},
	{"unit", func(d *decoder, r *abi.Receipt) { r.Unit = d.text() }},
	{"cost", func(d *decoder, r *abi.Receipt) { r.Cost = d.float() }},
	{"saved_per_call", func(d *decoder, r *abi.Receipt) { r.SavedPerCall = d.float() }},
	{"payback_calls", func(d *decoder, r *abi.Receipt) { r.PaybackCalls = d.int() }},
}

var sourceFields = []field[*abi.Source]{
	{"type", func(d *decoder, s *abi.Source) { s.Type = abi.SourceType(d.text()) }},
	{"name", func(d *decoder, s *abi.Source) { s.Name = d.text() }},
	{"version", func(d *decoder, s *abi.Source) { s.Version = d.text() }},
	{"digest", func(d *decoder, s *abi.Source) { s.Digest = d.text() }},
}

func failure(d *decoder, e **abi.Error) { *e = pointer(d, errorFields) }

var errorFields = []field[*abi.Error]{
	{"code", func(d *decoder, e *abi.Error) { e.Code = abi.Code(d.text()) }},
	{"op", func(d *decoder, e *abi.Error) { e.Op = d.text() }},
	{"plugin", func(d *decoder, e *abi.Error) { e.Plugin = d.text() }},
	{"hook", func(d *decoder, e *abi.Error) { e.Hook = abi.Hook(d.text()) }},
	{"phase", func(d *decoder, e *abi.Error) { e.Phase = abi.Phase(d.text()) }},
	{"message", func(d *decoder, e *abi.Error) { e.Message = d.text() }},
	{"hint", func(d *decoder, e *abi.Error) { e.Hint = d.text() }},
}
