package hooks

import "github.com/kagewasm/kagewasm/abi"

// hint returns what to do about a failure that does not say so itself.
func hint(code abi.Code) string {
	switch code {
	case abi.CodeCanceled, abi.CodeDeadline:
		return "the caller gave up: give it more time"
	case abi.CodePinned, abi.CodeCurrentTurn:
		return "return pinned messages and the current turn as {\"ref\": id}"
	case abi.CodeSplitUnit:
		return "keep or supersede all messages of one unit together"
	case abi.CodeUnknownID, abi.CodeDuplicateID, abi.CodeForged, abi.CodeOrder:
		return "name messages of the input once and in order; give new ones no id, role user, and kind compaction_summary " +
			"or injected"
	case abi.CodeEdit:
		return "edit nothing but tool output and tool-call arguments"
	case abi.CodeUnaccounted:
		return "return each message or name it in superseded"
	case abi.CodeGrew, abi.CodeOverTarget:
		return "keep to budget.target_tokens and budget.summary_tokens of the input"
	case abi.CodeBadOutput:
		return "answer with null or an object as in the abi"
	case abi.CodeUsage:
		return "the host called a plugin it cannot call: load it again"
	case abi.CodeState:
		return "look at the disk, and at kagewasm memory check; what went is still in the session as it was"
	case abi.CodeInternal:
		return "run it again with kagewasm run; if it happens there too, report it"
	case abi.CodeContextLength:
		return "ask the model for less at a time; the plugin is tried again"
	case abi.CodeModel, abi.CodeRateLimited, abi.CodeOverloaded, abi.CodeUnauthorized:
		return "look at the model's provider; the plugin is tried again"
	}
	return "the fault is in the plugin: run it again with kagewasm run"
}
