// Claude Code's messages as lines of kagewasm's neutral format, and back.

// ownKind tells a note or a summary from the words of a person.
const ownKind = text =>
  /^<(compaction_summary|injected)-[0-9a-f]{16} /.exec(text)?.[1] ??
  (text.startsWith('This session is being continued from a previous conversation') ? 'compaction_summary' : undefined)

const resultContent = ({ text, result }) =>
  result?.type === 'image' && result.file?.base64 !== undefined
    ? [{ type: 'image', source: { type: 'base64', media_type: result.file.type, data: result.file.base64 } }]
    : text

const idOf = (message, index) => message.handle ?? `row-${index}`

// joins reports whether a text or a call belongs to the answer before it: Claude Code has a row for each block of an
// answer, and makes one row of what a compaction returns. A text behind calls is an answer of its own.
const joins = (last, text) => last?.role === 'assistant' && (text === '' || last.toolUses.length === 0)

const joined = (last, text, toolUses) => ({
  ...last,
  text: [last.text, text].filter(t => t !== '').join('\n\n'),
  toolUses: [...last.toolUses, ...toolUses],
})

// answers are rows with those of one answer in one. Rows that hold thinking alone are left out: Claude Code drops them too.
const answers = messages => {
  const rows = []
  messages.forEach((m, index) => {
    const last = rows[rows.length - 1]
    if (m.role !== 'assistant') rows.push({ ...m, id: idOf(m, index) })
    else if (m.text === '' && m.toolUses.length === 0) return
    else if (joins(last, m.text)) rows[rows.length - 1] = joined(last, m.text, m.toolUses)
    else rows.push({ ...m, id: idOf(m, index) })
  })
  return rows
}

// toLines has a line for each message, and for each result.
export const toLines = messages =>
  answers(messages).flatMap(m => {
    const { id } = m
    if (m.role === 'assistant') {
      const calls = m.toolUses.map(u => ({ id: u.tool_use_id, name: u.tool, arguments: u.input }))
      return [{ id, role: 'assistant', content: m.text, tool_calls: calls.length > 0 ? calls : undefined }]
    }
    const results = (m.toolResults ?? []).map((r, n) => ({
      id: `${id}/${n}`,
      role: 'tool',
      tool_call_id: r.tool_use_id,
      content: resultContent(r),
      is_error: r.isError || undefined,
    }))
    const said = m.text !== '' || results.length === 0
    return said ? [...results, { id, role: 'user', content: m.text, kind: ownKind(m.text) }] : results
  })

const textOf = (content, again = '') =>
  typeof content === 'string' ? content : content.map(p => p.text ?? `[${p.type}: no longer shown${again}]`).join('\n')

// toMessages rebuilds what stayed. No answer and no result keeps its handle: with one of them the whole conversation is
// back after --resume. Words of a person keep theirs, and with it their images. What is rebuilt is text, and Claude Code
// takes no new image into a row: a result that was one says how it can be seen again.
export const toMessages = (lines, before) => {
  const rows = new Map(before.map((m, index) => [idOf(m, index), m]))
  const files = new Set(lines.flatMap(l => l.tool_calls ?? []).filter(c => c.name === 'Read').map(c => c.id))
  const out = []
  for (const line of lines) {
    const last = out[out.length - 1]
    const text = textOf(line.content, files.has(line.tool_call_id) ? '; Read shows the file again' : '')
    if (line.role === 'tool') {
      const result = { tool_use_id: line.tool_call_id, text, isError: line.is_error === true }
      if (last?.toolResults) last.toolResults.push(result)
      else out.push({ role: 'user', text: '', toolUses: [], toolResults: [result] })
    } else if (line.role === 'assistant') {
      const toolUses = (line.tool_calls ?? []).map(c => ({ tool_use_id: c.id, tool: c.name, input: argumentsOf(c) }))
      if (joins(last, text)) out[out.length - 1] = joined(last, text, toolUses)
      else out.push({ role: 'assistant', text, toolUses })
    } else {
      const row = rows.get(line.id)
      out.push(row?.text === text && row.toolResults === undefined ? row : { role: 'user', text, toolUses: [] })
    }
  }
  return out
}

const argumentsOf = call => (typeof call.arguments === 'string' ? { arguments: call.arguments } : call.arguments)

// rowsAfter are the messages that follow a list in the conversation; undefined where it does not begin with it.
export const rowsAfter = (list, messages) => {
  const begins = list.every((m, i) => messages[i]?.role === m.role && messages[i].text === m.text)
  return begins ? messages.slice(list.length) : undefined
}

// shortened is a block of a message, the middle of a long tool result left out.
export const shortened = (block, most) => {
  if (block.type !== 'tool_result') return block
  const { content } = block
  if (typeof content === 'string') return { ...block, content: cut(content, most) }
  if (!Array.isArray(content)) return block
  return { ...block, content: content.map(p => (p.type === 'text' ? { ...p, text: cut(p.text, most) } : p)) }
}

const cut = (text, most) => {
  if (text.length <= most) return text
  const half = Math.max(1, Math.floor(most / 2))
  return `${text.slice(0, half)}\n[kagewasm: ${text.length - 2 * half} characters left out]\n${text.slice(-half)}`
}
