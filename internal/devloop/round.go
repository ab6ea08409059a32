package devloop

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugindiff"
	"github.com/kagewasm/kagewasm/internal/survey"
	"github.com/kagewasm/kagewasm/kit"
)

// Round is one turn of the loop: a build where the plugin changed, and a survey.
type Round struct {
	Number int `json:"round"` // from 1
	// Changed are the files for which it was made; none in the first round.
	Changed []string `json:"changed,omitempty"`
	// Error says why there is no survey: the build failed, the module was refused,
	// a session could not be read. The last good module stays, and the next round
	// is compared with that.
	Error *abi.Error `json:"error,omitempty"`
	// Plugin is the module that was surveyed, built in this round or before.
	Plugin *kit.Result `json:"plugin,omitempty"`
	// Withheld are capabilities that the plugin asks for and is not granted.
	Withheld []string `json:"withheld,omitempty"`
	// BuildMS is the time of building and loading, 0 where nothing was built;
	// SurveyMS that of the survey.
	BuildMS  float64 `json:"build_ms"`
	SurveyMS float64 `json:"survey_ms"`
	// Samples: there are no sessions, so those of the kit are used.
	Samples bool             `json:"samples,omitempty"`
	Skipped []survey.Skipped `json:"skipped,omitempty"`
	Survey  *survey.Survey   `json:"survey,omitempty"`
	// Update and Change are what is different from the last good round: of the
	// plugin, where it was built again, and of what it does. nil in the first.
	Update *plugindiff.Update `json:"update,omitempty"`
	Change *survey.Comparison `json:"change,omitempty"`
}
