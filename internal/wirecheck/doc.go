// Package wirecheck says what a provider's API would refuse of a request body
// with status 400, before anything is sent: tests run it over what the project
// writes.
//
// [OpenAI], [Responses], [Anthropic] and [Gemini] each take a whole request
// body and return the faults found, one a line of text that begins with where
// it is; none where the body would be accepted. They judge the conversation
// alone: roles and their order, content that is empty, calls and results that
// have no partner, ids. Whether a model, a parameter or a schema exists is not
// theirs to say, and neither is what depends on the account.
//
// The rules are what is known of the APIs as of 2026 and what recordings of them
// show, not a provider's word: a body that passes may still be refused, and a
// provider may be laxer. In doubt the stricter reading counts.
package wirecheck
