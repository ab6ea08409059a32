package transcript

import (
	"strings"

	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
)

// image is an image, or another file, as the providers' formats hold it: its
// bytes in base 64, or where it is.
type image struct {
	media, data string // bytes
	url         string // or a reference
}

// imageOf reads an image part of any format. One that is neither bytes nor a
// URL (a file id means nothing to another provider) is an empty image.
func imageOf(p abi.Part) (img image, ok bool) {
	switch p.Type {
	case "image", "image_url", "input_image", "inlineData", "fileData":
	default:
		return image{}, false
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
	if json.Unmarshal(partJSON(p), &part) != nil {
		return image{}, true
	}
	switch p.Type {
	case "image":
		return image{part.Source.MediaType, part.Source.Data, part.Source.URL}, true
	case "inlineData":
		return image{media: part.InlineData.MimeType, data: part.InlineData.Data}, true
	case "fileData":
		return image{media: part.FileData.MimeType, url: part.FileData.FileURI}, true
	}
	return imageAt(part.ImageURL), true
}

// imageAt reads the URL of an image, a string or {"url":...}.
func imageAt(raw []byte) image {
	var at struct {
		URL string `json:"url"`
	}
	if len(raw) > 0 && raw[0] == '"' {
		at.URL = unquote(raw)
	} else if json.Unmarshal(raw, &at) != nil {
		return image{}
	}
	rest, ok := strings.CutPrefix(at.URL, "data:")
	if !ok {
		return image{url: at.URL}
	}
	head, data, _ := strings.Cut(rest, ",")
	media, ok := strings.CutSuffix(head, ";base64")
	if !ok {
		return image{}
	}
	return image{media: media, data: data}
}

// at is the image as a URL.
func (img image) at() string {
	if img.data != "" {
		return "data:" + img.media + ";base64," + img.data
	}
	return img.url
}

// noImage stands for an image that cannot be written.
const noImage = "[image]"

func (img image) claude() []byte {
	switch {
	case img.data != "":
		source := new(builder).str("type", "base64").str("media_type", img.media).str("data", img.data)
		return new(builder).str("type", "image").raw("source", source.bytes()).bytes()
	case img.url != "":
		source := new(builder).str("type", "url").str("url", img.url)
		return new(builder).str("type", "image").raw("source", source.bytes()).bytes()
	}
	return textPart(noImage)
}

func (img image) openAI() []byte {
	if img.at() == "" {
		return textPart(noImage)
	}
	return new(builder).str("type", "image_url").raw("image_url", new(builder).str("url", img.at()).bytes()).bytes()
}

func (img image) responses() []byte {
	return new(builder).str("type", "input_image").str("image_url", img.at()).bytes()
}

// pi writes an image for pi, which holds the bytes alone.
func (img image) pi() []byte {
	if img.data == "" {
		return textPart(noImage)
	}
	return new(builder).str("type", "image").str("data", img.data).str("mimeType", img.media).bytes()
}

func (img image) gemini() []byte {
	switch {
	case img.data != "":
		return new(builder).raw("inlineData", new(builder).str("mimeType", img.media).str("data", img.data).bytes()).bytes()
	case img.url != "":
		return new(builder).raw("fileData", new(builder).maybe("mimeType", img.media).str("fileUri", img.url).bytes()).bytes()
	}
	return geminiText(noImage)
}
