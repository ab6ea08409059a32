package check

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
	Output   string      `xml:"system-out,omitempty"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
	Skipped *junitSkipped `xml:"skipped"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// JUnit writes the report as JUnit XML: one suite, a case for each rule, the
// findings as its output.
func (r *Verdict) JUnit(w io.Writer) error {
	suite := junitSuite{Name: "kagewasm verify " + r.Plugin, Tests: len(r.Rules), Failures: r.Broken, Skipped: r.Skipped,
		Time: seconds(r.MS)}
	for _, rule := range r.Rules {
		c := junitCase{Name: rule.Rule, Class: "kagewasm.verify." + r.Plugin, Time: seconds(rule.MS)}
		switch rule.Outcome {
		case Broken:
			kind := cmp.Or(string(rule.Code), "rule")
			text := fmt.Sprintf("%s\nwhy: %s\nfix: %s\n", rule.Broken, rule.Explanation, rule.Fix)
			if rule.Hint != "" {
				text += "host: " + rule.Hint + "\n"
			}
			message, _, _ := strings.Cut(rule.Broken, "\n")
			c.Failure = &junitFailure{Message: message, Type: kind, Text: text}
		case Skipped:
			c.Skipped = &junitSkipped{rule.Skipped}
		}
		suite.Cases = append(suite.Cases, c)
	}
	for _, f := range r.Findings {
		suite.Output += fmt.Sprintf("%s: %s\n  fix: %s\n", f.Name, f.Message, f.Fix)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Tests: suite.Tests, Failures: suite.Failures, Time: suite.Time,
		Suites: []junitSuite{suite}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(ms float64) string { return fmt.Sprintf("%.3f", ms/1000) }
