import { describe, expect, test } from 'claude-code/testing'
import { rowsAfter, shortened, toLines, toMessages } from './messages.js'

const call = (id: string) => ({ tool_use_id: id, tool: 'Bash', input: { command: `ls ${id}` } })
const result = (id: string) => ({ tool_use_id: id, text: `out ${id}`, isError: id === 'b' })
const talk = [
  { role: 'user', text: 'Fix it.', toolUses: [], handle: 'u1' },
  { role: 'assistant', text: '', toolUses: [], handle: 'thinking' },
  { role: 'assistant', text: 'I look.', toolUses: [], handle: 'a1' },
  { role: 'assistant', text: '', toolUses: [call('a'), call('b')], handle: 'a2' },
  { role: 'user', text: '', toolUses: [], toolResults: [result('b'), result('a')], handle: 'r1' },
  { role: 'user', text: 'And now?', toolUses: [], handle: 'u2' },
]

describe('messages', () => {
  test('each answer and each result is a line, and thinking alone is none', () => {
    const lines = toLines(talk)
    expect(lines.map(l => `${l.role} ${l.id}`)).toEqual(['user u1', 'assistant a1', 'tool r1/0', 'tool r1/1', 'user u2'])
    expect(lines[1].content).toBe('I look.')
    expect(lines[1].tool_calls.length).toBe(2)
  })

  test('what stayed reads the same in the next compaction', () => {
    const said = messages => toLines(messages).map(({ id, ...line }) => line)
    const answer = { role: 'assistant', text: 'And this.', toolUses: [], handle: 'a3' }
    const rows = [...talk.slice(0, 4), answer, ...talk.slice(4)]
    expect(said(toMessages(toLines(rows), rows))).toEqual(said(rows))
  })

  test('no answer and no result keeps its handle, words of a person do', () => {
    const back = toMessages(toLines(talk), talk)
    expect(back.filter(m => m.handle !== undefined).map(m => m.handle)).toEqual(['u1', 'u2'])
    expect(back.map(m => m.role)).toEqual(['user', 'assistant', 'user', 'user'])
    expect(back[1].toolUses.length).toBe(2)
    expect(back[2].toolResults).toEqual([result('b'), result('a')])
  })

  test('an image of a file is told with the way to see it again', () => {
    const image = { type: 'image', file: { base64: 'AA==', type: 'image/png' } }
    const shows = (tool: string) => [
      { role: 'assistant', text: '', toolUses: [{ ...call('a'), tool }], handle: 'a1' },
      { role: 'user', text: '', toolUses: [], toolResults: [{ ...result('a'), result: image }], handle: 'r1' },
    ]
    const back = (tool: string) => toMessages(toLines(shows(tool)), shows(tool))[1].toolResults[0].text
    expect(back('Read')).toBe('[image: no longer shown; Read shows the file again]')
    expect(back('Screenshot')).toBe('[image: no longer shown]')
  })

  test('a note is read as one', () => {
    const note = '<compaction_summary-0123456789abcdef from="kagewasm">\nsaid\n</compaction_summary-0123456789abcdef>'
    expect(toLines([{ role: 'user', text: note, toolUses: [], handle: 'n' }])[0].kind).toBe('compaction_summary')
  })

  test('what came after a compaction is found, and told from another conversation', () => {
    expect(rowsAfter(talk.slice(0, 4), talk)?.length).toBe(2)
    expect(rowsAfter([{ role: 'user', text: 'Other.', toolUses: [] }], talk)).toBe(undefined)
  })

  test('the middle of a long result is left out', () => {
    const block = { type: 'tool_result', tool_use_id: 'a', content: `begin${'x'.repeat(5000)}end` }
    const short = shortened(block, 100).content
    expect(short.length < 200 && short.startsWith('begin') && short.endsWith('end')).toBe(true)
    expect(shortened(block, 10_000)).toEqual(block)
  })
})
