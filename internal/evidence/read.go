package evidence

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Read reads the datasets of files, and of the .json files of folders. A file
// holds one conversation or a list of them: LoCoMo's or LongMemEval's as
// published, or in the plain form.
//
// Errors are *abi.Error with CodeBadInput.
func Read(paths ...string) ([]Dataset, error) {
	var list []Dataset
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return nil, badInput(err.Error(), err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, badInput(err.Error(), err)
			}
			read, err := parse(data)
			if err != nil {
				return nil, badInput(file+": "+err.Error(), err)
			}
			for i := range read {
				read[i].ID = cmp.Or(read[i].ID, strings.TrimSuffix(filepath.Base(file), ".json"))
			}
			list = append(list, read...)
		}
	}
	return list, nil
}

func badInput(message string, err error) error {
	return &abi.Error{Code: abi.CodeBadInput, Op: "read dataset", Message: message, Err: err,
		Hint: `a dataset is a file of LoCoMo or LongMemEval, or ` +
			`{"turns":[{"id","speaker","text"}],"questions":[{"question","evidence":[ids]}]}`}
}

func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	files, err := filepath.Glob(filepath.Join(path, "*.json"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no .json file in this folder", path)
	}
	return files, err
}

// parse reads the datasets of one document.
func parse(doc []byte) ([]Dataset, error) {
	docs := []json.RawMessage{doc}
	if bytes.HasPrefix(bytes.TrimSpace(doc), []byte("[")) {
		if err := json.Unmarshal(doc, &docs); err != nil {
			return nil, err
		}
	}
	var list []Dataset
	for i, doc := range docs {
		d, err := parseOne(doc)
		if err == nil {
			err = d.check()
		}
		if err != nil && len(docs) > 1 {
			err = fmt.Errorf("entry %d: %w", i, err)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

func parseOne(doc []byte) (Dataset, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(doc, &keys); err != nil {
		return Dataset{}, err
	}
	has := func(key string) bool { _, ok := keys[key]; return ok }
	switch {
	case has("turns"):
		return parsePlain(doc)
	case has("conversation") && has("qa"):
		return parseLoCoMo(doc)
	case has("haystack_sessions"):
		return parseLongMemEval(doc)
	}
	return Dataset{}, errors.New("neither turns nor a conversation nor haystack_sessions in it")
}

func parsePlain(doc []byte) (Dataset, error) {
	var file struct {
		ID    string
		Turns []struct {
			ID, Date, Speaker, Text, Caption string

			Session json.RawMessage
		}
		Questions []struct {
			Question string
			Category json.RawMessage
			Name     string `json:"category_name"`
			Date     string `json:"question_date"`
			Evidence []string
			Sessions []string `json:"evidence_sessions"`
		}
	}
	if err := json.Unmarshal(doc, &file); err != nil {
		return Dataset{}, err
	}
	d := Dataset{ID: file.ID}
	for _, t := range file.Turns {
		id := scalar(t.Session)
		if n := len(d.Sessions); n == 0 || d.Sessions[n-1].ID != id {
			d.Sessions = append(d.Sessions, Session{ID: id, Date: t.Date})
		}
		s := &d.Sessions[len(d.Sessions)-1]
		s.Turns = append(s.Turns, Turn{ID: t.ID, Speaker: t.Speaker, Said: t.Text, Caption: t.Caption})
	}
	for _, q := range file.Questions {
		d.Questions = append(d.Questions, Question{
			Text: q.Question, Date: q.Date, Category: cmp.Or(q.Name, scalar(q.Category)),
			Evidence: q.Evidence, Sessions: slices.Clone(q.Sessions),
		})
	}
	return d, nil
}

// scalar is a JSON string or number as text.
func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
