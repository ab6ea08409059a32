import { describe, expect, test } from 'claude-code/testing'

const talk = [
  { role: 'user', text: 'Fix it.', toolUses: [], handle: 'u1' },
  { role: 'assistant', text: 'I look.', toolUses: [], handle: 'a1' },
  { role: 'user', text: 'And now?', toolUses: [], handle: 'u2' },
]
const note = `{"id":"n","role":"user","kind":"compaction_summary","content":"what went"}
{"id":"u2","role":"user","content":"And now?"}
`
const same = talk.map(m => JSON.stringify({ id: m.handle, role: m.role, content: m.text })).join('\n')
const builtIn = [{ role: 'user', text: 'what Claude Code says itself', toolUses: [] }]

// compacted dispatches a compaction over a kagewasm that ends so.
const compacted = async ($: any, on: any, trigger: string, ends: object) => {
  let calls = 0
  let reason: string | undefined
  on('session.id', () => ({ value: 'talk' }))
  on('session.usage', () => ({ value: { context: { window: 100_000 } } }))
  on('env.get', () => ({ value: undefined }))
  on('ui.log', () => ({ value: undefined }))
  on('session.compact', () => ({ messages: builtIn }))
  on('process.run', (_: any, e: any) => {
    calls++
    reason = e.argv[e.argv.indexOf('--reason') + 1 || e.argv.length]
    return { value: { exitCode: 0, stdout: '', stderr: '', isStdoutTruncated: false, isStderrTruncated: false, ...ends } }
  })
  const made = await $.session.compact({ trigger, messages: talk })
  return { made, calls, reason }
}

for (const trigger of ['precompute', 'auto', 'manual', 'plugin']) {
  describe(trigger, () => {
    test('is made by kagewasm', async ($, on) => {
      const { made, calls } = await compacted($, on, trigger, { stdout: note })
      expect(made.messages.map((m: any) => m.text)).toEqual(['what went', 'And now?'])
      expect(calls).toBe(1)
    })

    test('is a person\'s where one asked, and else for the size', async ($, on) => {
      const { reason } = await compacted($, on, trigger, { stdout: note })
      expect(reason).toBe(trigger === 'manual' ? undefined : 'threshold')
    })

    test('is left to Claude Code where kagewasm fails', async ($, on) => {
      const { made } = await compacted($, on, trigger, { exitCode: 1, stderr: 'killed' })
      expect(made.messages).toEqual(builtIn)
    })

    test('says so where nothing goes yet and a person asked, and else is left to Claude Code', async ($, on) => {
      const { made } = await compacted($, on, trigger, { stdout: same })
      if (trigger === 'manual') expect(made.skip).toBe('kagewasm: there is nothing to supersede yet')
      else expect(made.messages).toEqual(builtIn)
    })
  })
}

// turned dispatches the end of a turn over a kagewasm that answers so, and counts what it was asked.
const turned = async ($: any, on: any, e: object, ends: object) => {
  const asked: string[] = []
  const commands: any[] = []
  on('session.id', () => ({ value: 'talk' }))
  on('session.usage', () => ({ value: { context: { window: 100_000 } } }))
  on('session.messages', () => ({ value: talk }))
  on('env.get', () => ({ value: '1' }))
  on('ui.log', () => ({ value: undefined }))
  on('turn.complete', (_: any, e: any) => ({ text: e.answer }))
  on('session.end', (_: any, e: any) => ({ sessionId: e.sessionId }))
  on('command.run', (_: any, e: any) => (commands.push(e), { text: '' }))
  on('process.run', (_: any, e: any) => {
    asked.push(e.argv[1])
    const ran = { exitCode: 0, stdout: '', stderr: '', isStdoutTruncated: false, isStderrTruncated: false }
    return { value: { ...ran, ...(e.argv[1] === 'turn-end' ? ends : { stdout: note }) } }
  })
  const turn = { answer: 'Done.', durationMs: 1, isAborted: false, reason: 'answer', turnId: 't1', ...e }
  const { text } = await $.turn.complete(turn)
  await $.session.end({ reason: 'other', sessionId: 'talk', resume: {} })
  return { text, asked, commands }
}

const wants = { stdout: JSON.stringify({ listening: true, wanted: { reason: 'plugin', instructions: 'the ports' } }) }

describe('the end of a turn', () => {
  test('is told to plugins, and compacts where one of them wants it', async ($, on) => {
    const { text, asked, commands } = await turned($, on, {}, wants)
    expect(text).toBe('Done.')
    expect(asked).toEqual(['turn-end'])
    expect(commands.map(e => [e.command, e.args])).toEqual([['compact', 'the ports']])
  })

  test('compacts where the agent alone wants it', async ($, on) => {
    const { commands } = await turned($, on, {}, { stdout: wants.stdout.replace('plugin', 'agent') })
    expect(commands.map(e => [e.command, e.args])).toEqual([['compact', 'the ports']])
  })

  for (const e of [{ reason: 'aborted', isAborted: true }, { reason: 'error' }, { agentId: 'a1' }]) {
    test(`is not told of ${JSON.stringify(e)}`, async ($, on) => {
      expect((await turned($, on, e, wants)).asked).toEqual([])
    })
  }

  test('goes on where kagewasm fails', async ($, on) => {
    const { text, commands } = await turned($, on, {}, { exitCode: 1, stderr: 'killed' })
    expect(text).toBe('Done.')
    expect(commands).toEqual([])
  })
})
