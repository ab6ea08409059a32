package abi

// Exceeded is by how much a request did not fit its model, in the words of the
// provider that refused it. A number the provider does not give is 0.
type Exceeded struct {
	// Tokens is what the request takes, with the room for the answer where the
	// provider counts that too. Limit is what the model takes.
	Tokens, Limit int
	// Bytes says that the request has too many bytes, or characters, for the
	// provider's door. Tokens and Limit count those then.
	Bytes bool
}
