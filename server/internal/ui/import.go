package ui

import (
	"errors"
	"io"
	"net/http"

	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/transcript"
)

type importData struct{ Formats []transcript.Format }

func (p operatorPages) importForm(*http.Request) (*view, error) {
	return &view{template: "import.html", title: "Import a session", data: &importData{transcript.Formats()}}, nil
}

// importFile takes a session's log file.
func (p operatorPages) importFile(r *http.Request) (*view, error) {
	file, header, err := r.FormFile("file")
	if err != nil {
		return nil, bad("import", errors.New("no file came: choose one, or drop it on the page"))
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	name := fileName(header.Filename)
	row, err := p.s.Import(r.Context(), service.File{Name: name, Data: data, Format: r.PostFormValue("format"),
		Model: r.PostFormValue("model")})
	if err != nil {
		return nil, err
	}
	return after(to(row.Key), "imported"), nil
}
