package transcript

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/transcript/internal/anthropic"
	"github.com/kagewasm/kagewasm/transcript/internal/claudecode"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/codex"
	"github.com/kagewasm/kagewasm/transcript/internal/gemini"
	"github.com/kagewasm/kagewasm/transcript/internal/geminicli"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
	"github.com/kagewasm/kagewasm/transcript/internal/neutral"
	"github.com/kagewasm/kagewasm/transcript/internal/openai"
	"github.com/kagewasm/kagewasm/transcript/internal/openhands"
	"github.com/kagewasm/kagewasm/transcript/internal/pi"
	"github.com/kagewasm/kagewasm/transcript/internal/responses"
	"github.com/kagewasm/kagewasm/transcript/internal/sweagent"
)

// formats are all formats, in the order in which detection tries them: the most
// particular come first.
var formats = []*codec.Format{
	&codex.Format, &pi.Format, &claudecode.Format, &geminicli.Format, &sweagent.Format, &openhands.Format,
	&gemini.Format, &anthropic.Format, &responses.Format, &openai.Format, &neutral.Format,
}

// Format is the name of a session format: see [Formats].
type Format string

const (
	// Auto finds the format out from the content; for reading only.
	Auto Format = "auto"
	// Same is the format a session was read in; for writing only. The empty
	// format means Auto when reading and Same when writing.
	Same Format = "same"
	// Neutral is the project's own format.
	Neutral Format = "neutral"
)

// Formats returns the formats that can be read and written.
func Formats() []Format {
	return lists.Map(formats, func(f *codec.Format) Format { return Format(f.Name) })
}

func formatOf(name Format) (*codec.Format, error) {
	var names []string
	for _, f := range formats {
		if f.Name == string(name) {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return nil, &abi.Error{
		Code: abi.CodeUsage, Op: "transcript",
		Message: "format " + jsondoc.Quoted(string(name)) + ": unknown",
		Hint:    "use one of " + strings.Join(names, ", "),
	}
}

// detect returns the first format that a file fits.
func detect(file *codec.File) (*codec.Format, error) {
	if file.Inspect(); file.Err() != nil {
		return nil, file.Err()
	}
	var whys []string
	names := make(map[string][]string) // by why not
	for _, f := range formats {
		why := "not one JSON object a line"
		if file.Lined || !f.Lines {
			why = f.Detect(file)
		}
		if why == "" {
			return f, nil
		}
		if names[why] == nil {
			whys = append(whys, why)
		}
		names[why] = append(names[why], f.Name)
	}
	for i, why := range whys {
		whys[i] = strings.Join(names[why], ", ") + ": " + why
	}
	return nil, file.Bad(file.First.Start,
		"convert the file to one of these formats, or name the format to see what is wrong with it",
		"not a session in a known format (%s)", strings.Join(whys, "; "))
}
