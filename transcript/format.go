package transcript

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Format is the name of a session format.
type Format string

const (
	// Auto finds the format out from the content; for reading only.
	Auto Format = "auto"
	// Same is the format a session was read in; for writing only. The empty
	// format means Auto when reading and Same when writing.
	Same Format = "same"

	Neutral         Format = "neutral"
	OpenAI          Format = "openai"
	OpenAIResponses Format = "openai-responses"
	Anthropic       Format = "anthropic"
	Gemini          Format = "gemini"
	GeminiCLI       Format = "gemini-cli"
	ClaudeCode      Format = "claude-code"
	Codex           Format = "codex"
	Pi              Format = "pi"
	SWEAgent        Format = "swe-agent"
	OpenHands       Format = "openhands"
)

// codec is one format. To add one, write these four methods and name it in
// codecs: decode finds the records (linesOf, listOf), reads each message with
// an object, and notes in a recordDoc where it stands and where its slots are;
// the recordDoc then writes it back.
type codec interface {
	format() Format
	// detect says why src is not in this format, or "" where it is. It is
	// called for sources whose first value is in order.
	detect(src *source) (why string)
	// decode reads all of src.
	decode(src *source) (*decoded, error)
	// compose writes a whole file, of messages that came from elsewhere.
	compose(s *Session, msgs []abi.Message) []byte
}

// decoded is what a codec makes of a source.
type decoded struct {
	messages []abi.Message // with the ids of the source, empty where it has none
	tools    []byte
	model    string
	session  string
	// gone are the messages, by index, that the log's own compaction took from
	// the model.
	gone []int
	doc  document
}

// document is a source that can be written again.
type document interface {
	rewrite(changes []change) []byte
}

// codecs are all formats, in the order in which detection tries them: those
// that are most particular come first.
func codecs() []codec {
	return []codec{codex{}, pi{}, claudeCode{}, geminiCLI{}, sweAgent{}, openHands{},
		gemini{}, anthropic{}, responses{}, openAI{}, neutral{}}
}

// Formats returns the formats that can be read and written.
func Formats() []Format {
	var names []Format
	for _, c := range codecs() {
		names = append(names, c.format())
	}
	return names
}

func codecOf(f Format) (codec, error) {
	var names []string
	for _, c := range codecs() {
		if c.format() == f {
			return c, nil
		}
		names = append(names, string(c.format()))
	}
	return nil, &abi.Error{
		Code: abi.CodeUsage, Op: "transcript",
		Message: "format " + quoted(string(f)) + ": unknown",
		Hint:    "use one of " + strings.Join(names, ", "),
	}
}

// detect returns the first codec that src fits.
func detect(src *source) (codec, error) {
	if err := src.look(); err != nil {
		return nil, err
	}
	var whys []string
	formats := make(map[string][]string) // by why not
	for _, c := range codecs() {
		why := c.detect(src)
		if why == "" {
			return c, nil
		}
		if formats[why] == nil {
			whys = append(whys, why)
		}
		formats[why] = append(formats[why], string(c.format()))
	}
	for i, why := range whys {
		whys[i] = strings.Join(formats[why], ", ") + ": " + why
	}
	return nil, src.bad(src.first.start, "convert the file to one of these formats, or name the format to see what is wrong with it",
		"not a session in a known format (%s)", strings.Join(whys, "; "))
}
