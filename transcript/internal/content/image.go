package content

import (
	"strings"

	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Image is an image, or another file: its bytes in base 64, or where it is. It
// is empty where it is neither, as a file id means nothing to another provider.
type Image struct {
	Media, Data string // bytes
	URL         string // or a reference
}

// ImageOf reads an image part of any format.
func ImageOf(p abi.Part) (img Image, ok bool) {
	switch p.Type {
	case "image", "image_url", "input_image", "inlineData", "fileData":
	default:
		return Image{}, false
	}
	var part struct {
		Source struct {
			MediaType string `json:"media_type"`
			Data      string `json:"data"`
			URL       string `json:"url"`
		} `json:"source"`
		ImageURL   json.RawMessage `json:"image_url"`
		InlineData struct {
			MimeType string `json:"mimeType"`
			Data     string `json:"data"`
		} `json:"inlineData"`
		FileData struct {
			MimeType string `json:"mimeType"`
			FileURI  string `json:"fileUri"`
		} `json:"fileData"`
	}
	if json.Unmarshal(PartJSON(p), &part) != nil {
		return Image{}, true
	}
	switch p.Type {
	case "image":
		return Image{part.Source.MediaType, part.Source.Data, part.Source.URL}, true
	case "inlineData":
		return Image{Media: part.InlineData.MimeType, Data: part.InlineData.Data}, true
	case "fileData":
		return Image{Media: part.FileData.MimeType, URL: part.FileData.FileURI}, true
	}
	return imageAt(part.ImageURL), true
}

// imageAt reads the URL of an image, a string or {"url":...}.
func imageAt(raw []byte) Image {
	var at struct {
		URL string `json:"url"`
	}
	if len(raw) > 0 && raw[0] == '"' {
		at.URL = jsondoc.Unquote(raw)
	} else if json.Unmarshal(raw, &at) != nil {
		return Image{}
	}
	rest, ok := strings.CutPrefix(at.URL, "data:")
	if !ok {
		return Image{URL: at.URL}
	}
	head, data, _ := strings.Cut(rest, ",")
	media, ok := strings.CutSuffix(head, ";base64")
	if !ok {
		return Image{}
	}
	return Image{Media: media, Data: data}
}

// At is the image as a URL, empty for an empty image.
func (img Image) At() string {
	if img.Data != "" {
		return "data:" + img.Media + ";base64," + img.Data
	}
	return img.URL
}
