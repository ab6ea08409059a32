package content

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Image is an image, or another file: its bytes in base 64, or its URL. It is
// empty for a file id, which means nothing to another provider.
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
	o := jsondoc.Parse(PartJSON(p))
	switch p.Type {
	case "image":
		source := o.Sub("source")
		img = Image{source.Str("media_type"), source.Str("data"), source.Str("url")}
	case "inlineData":
		data := o.Sub("inlineData")
		img = Image{Media: data.Str("mimeType"), Data: data.Str("data")}
	case "fileData":
		file := o.Sub("fileData")
		img = Image{Media: file.Str("mimeType"), URL: file.Str("fileUri")}
	default: // a URL, or {"url":...}
		if o.Is("image_url", '"') {
			img = imageAt(o.Str("image_url"))
		} else {
			img = imageAt(o.Sub("image_url").Str("url"))
		}
	}
	if o.Err() != nil {
		return Image{}, true
	}
	return img, true
}

// imageAt reads the URL of an image, which may hold its bytes.
func imageAt(url string) Image {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return Image{URL: url}
	}
	head, data, _ := strings.Cut(rest, ",")
	media, ok := strings.CutSuffix(head, ";base64")
	if !ok {
		return Image{}
	}
	return Image{Media: media, Data: data}
}

// At returns the image as a URL, empty for an empty image.
func (img Image) At() string {
	if img.Data != "" {
		return "data:" + img.Media + ";base64," + img.Data
	}
	return img.URL
}
