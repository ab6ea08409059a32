// Package cassette records and replays the host calls of plugins that lead out of the host: HTTP
// requests and completions. Give a [Recorder], or the [Player] that [Read] returns, to
// runtime.PluginOptions as its Cassette. A plugin that makes such calls is then tested offline, in the
// same way every time.
//
// A recording is JSON lines, to be read, edited and kept beside the plugin:
//
//	{"op":"http","request":{"url":"https://example.com","headers":{"Key":"{{secret:key}}"}},"response":{"status":200}}
//	{"op":"model.complete","request":{"prompt":"…"},"response":{"text":"…","input_tokens":12,"output_tokens":3}}
//	{"op":"http","request":{"url":"https://api.example.com/down"},"error":{"code":"network","message":"…"}}
//
// Requests are as the plugin made them, with the placeholders of secrets, and responses as it got them,
// with secrets cut out.
//
// A call is matched by its op and its request, whatever the order and the spacing of the request's
// fields. Equal calls are answered in the order in which they stand, and by the last of them from then
// on, so that what was recorded once can be asked a hundred times. A call that was not recorded is an
// error of code not_recorded to the plugin, and [Player.Missed] says what it differs in from the
// nearest one that was.
package cassette
