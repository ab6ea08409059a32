package abi

// HTTPRequest is the request of http. It needs the capability http, and goes
// to hosts the operator granted, and to no other: neither by a redirect nor by
// a name that leads to another address.
type HTTPRequest struct {
	// Method is GET (default), HEAD, POST, PUT, PATCH or DELETE.
	Method string `json:"method,omitempty"`
	// URL is absolute, http or https, at most 8 KiB, without user and
	// password. The host is written in ASCII; an address in its usual form.
	URL string `json:"url"`
	// Headers by name, at most 64 and 16 KiB in all. Those of the connection
	// (Host, Content-Length, Accept-Encoding, Proxy-...) are the host's own.
	//
	// {{secret:NAME}} in a value stands for a secret of the manifest: the host
	// writes it into the request, and the plugin never sees it. A redirect to
	// another origin takes along Accept, Accept-Language and Content-Type
	// alone.
	Headers map[string]string `json:"headers,omitempty"`
	// Body is text. Bytes that are no text travel in BodyBase64 instead.
	Body       string `json:"body,omitempty"`
	BodyBase64 []byte `json:"body_base64,omitempty"`
	// TimeoutMS bounds this one request in milliseconds. Default 30,000. In any
	// case the request ends before the last tenth of the call's time, so that
	// the guest can still answer without the server.
	TimeoutMS int `json:"timeout_ms,omitempty"`
}

// HTTPResponse answers http, whatever the status. Bodies are as they came over
// the wire: compressed where the server compressed though it was asked not to.
type HTTPResponse struct {
	Status int `json:"status"`
	// Headers by name in lower case, at most 16 KiB; several values of one
	// name are joined by ", ". Cookies and the connection's own are left out.
	Headers map[string]string `json:"headers,omitempty"`
	// Body, or BodyBase64 where it is not UTF-8.
	Body       string `json:"body,omitempty"`
	BodyBase64 []byte `json:"body_base64,omitempty"`
}

// Bytes returns the body, whichever way it travels.
func (r *HTTPRequest) Bytes() []byte { return eitherBody(r.Body, r.BodyBase64) }

// Bytes returns the body, whichever way it travels.
func (r *HTTPResponse) Bytes() []byte { return eitherBody(r.Body, r.BodyBase64) }

func eitherBody(text string, data []byte) []byte {
	if len(data) > 0 {
		return data
	}
	return []byte(text)
}
