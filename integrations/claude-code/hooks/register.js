// Compaction of Claude Code by kagewasm. What fails here leaves the work to Claude Code.
import { policy, program, socket, state, version } from './command.js'
import { rowsAfter, shortened, toLines, toMessages } from './messages.js'

const parse = jsonl => jsonl.split('\n').filter(line => line !== '').map(line => JSON.parse(line))
const jsonl = lines => lines.map(line => JSON.stringify(line)).join('\n')

// served are the lines as kagewasm's server compacts them, which is started where none runs.
const served = async ($, lines, { session, window, instructions }) => {
  const settings = { plug: 'claude-code', plug_version: version, format: 'neutral', force: true, record: true }
  const body = JSON.stringify({ ...settings, id: session, context_window: window, instructions, messages: lines })
  const headers = { 'content-type': 'application/json' }
  const ask = () => $.http.fetch('http://localhost/api/v1/compact', { method: 'POST', socketPath: socket, headers, body })
  const answer = await ask().catch(async () => {
    await $.process.run([program, 'serve', '--background', ...state], { timeoutMs: 5000 })
    return ask()
  })
  const made = JSON.parse(answer.text)
  if (!answer.ok) throw new Error(`${made.detail}. ${made.hint ?? ''}`)
  return made.messages
}

// run are the lines as the command compacts them.
const run = async ($, lines, { session, window, instructions }) => {
  const stdin = jsonl(lines)
  const flags = ['--format', 'neutral', '--force', '--quiet', '--session', session, '--window', String(window)]
  if (instructions) flags.push('--instructions', instructions)
  const done = await $.process.run([program, 'compact', '-', ...flags, ...policy, ...state], { stdin, timeoutMs: 8000 })
  if (done.exitCode !== 0 || done.isStdoutTruncated) throw new Error(done.stderr || 'its answer is too long')
  return parse(done.stdout)
}

// compact are the lines as kagewasm compacts them, by its server where that can be.
const compact = async ($, lines, settings) => {
  const offline = await $.env.get('CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC') // no socket can be asked then
  if (socket === '' || offline) return run($, lines, settings)
  return served($, lines, settings).catch(error => {
    $.ui.log(`kagewasm's server did not compact, so its command does: ${error.message}`)
    return run($, lines, settings)
  })
}

// keyOf names a conversation in kagewasm's store. A subagent has one of its own.
const keyOf = (session, agentId) => (agentId === undefined ? session : `${session}.${agentId}`)

const usage = `/kagewasm status: what was compacted in this conversation
/kagewasm lost [PATTERN]: what the model does not see any more
/compact undo: bring back what the last compaction took`

export const register = (on, options) => {
  on('session.compact', async ($, e, next) => {
    const session = keyOf(await $.session.id(), e.agentId)
    if (e.trigger === 'manual' && e.instructions?.trim() === 'undo') {
      const left = await $.process.run([program, 'sessions', 'context', session, ...state])
      const later = left.exitCode === 0 ? rowsAfter(toMessages(parse(left.stdout), []), e.messages) : undefined
      if (later === undefined) return { skip: left.stderr || 'kagewasm: the conversation is another one by now' }
      const undo = await $.process.run([program, 'undo', session, ...state])
      const back = await $.process.run([program, 'sessions', 'context', session, ...state])
      if (undo.exitCode !== 0 || back.exitCode !== 0) return { skip: undo.stderr || back.stderr }
      return { messages: [...toMessages(parse(back.stdout), []), ...toMessages(toLines(later), later)] }
    }
    const { context } = await $.session.usage()
    const lines = toLines(e.messages)
    const settings = { session, window: context.window, instructions: e.instructions }
    const left = await compact($, lines, settings).catch(error => {
      $.ui.log(`kagewasm did not compact, so Claude Code does: ${error.message}`)
    })
    if (left === undefined) return next(e)
    if (jsonl(left) !== jsonl(lines)) return { messages: toMessages(left, e.messages) }
    return e.trigger === 'manual' ? { skip: 'kagewasm: there is nothing to supersede yet' } : next(e)
  }).catch(($, e, next) => next(e))

  // A giant result is shortened before it is stored, so that no prompt cache ever holds it.
  on('session.append', ($, e, next) => {
    const most = options.shrinkResultsOver
    if (!(most > 0) || e.door !== 'tool-result' || !Array.isArray(e.message.content)) return next(e)
    return next({ ...e, message: { ...e.message, content: e.message.content.map(block => shortened(block, most)) } })
  }).catch(($, e, next) => next(e))

  on('session.start', async ($, e, next) => {
    const description = 'Show what kagewasm compacted'
    await $.command.register({ name: 'kagewasm', description, argumentHint: '[status|lost PATTERN]' })
    return next(e)
  }).catch(($, e, next) => next(e))

  on('command.run', { command: 'kagewasm' }, async ($, e) => {
    const session = await $.session.id()
    const [verb = 'status', ...rest] = e.args.split(/\s+/).filter(word => word !== '')
    const shows = { status: ['sessions', 'show', session], lost: ['lost', session, '--grep', rest.join(' ')] }
    if (shows[verb] === undefined) return { text: usage }
    const run = await $.process.run([program, ...shows[verb], ...state])
    return { text: run.exitCode === 0 ? run.stdout.slice(0, 10_000) : run.stderr }
  }).catch(() => ({ text: 'kagewasm did not answer: kagewasm doctor claude-code says why' }))
}
