// Compaction of Claude Code by kagewasm. What fails here leaves the work to Claude Code.
import { policy, program, socket, state, version } from './command.js'
import { rowsAfter, shortened, toLines, toMessages } from './messages.js'

const parse = jsonl => jsonl.split('\n').filter(line => line !== '').map(line => JSON.parse(line))
const jsonl = lines => lines.map(line => JSON.stringify(line)).join('\n')
const same = (a, b) => a.length === b.length && jsonl(a) === jsonl(b)

// bodyOf is what its server is asked.
const bodyOf = (lines, { session, window, instructions, reason }, more) => {
  const settings = { plug: 'claude-code', plug_version: version, format: 'neutral', record: true, ...more }
  return JSON.stringify({ ...settings, id: session, context_window: window, instructions, reason, messages: lines })
}

// post asks its server.
const post = async ($, operation, body) => {
  const headers = { 'content-type': 'application/json' }
  const to = { method: 'POST', socketPath: socket, headers, body }
  const answer = await $.http.fetch(`http://localhost/api/v1/${operation}`, to)
  const made = JSON.parse(answer.text)
  if (!answer.ok) throw new Refused(`${made.detail}. ${made.hint ?? ''}`)
  return made
}

class Refused extends Error {}

const startServer = $ => $.process.run([program, 'serve', '--background', ...state], { timeoutMs: 5000 })

// served are the lines as kagewasm's server compacts them, which is started where none runs.
const served = async ($, lines, settings, signal) => {
  const body = bodyOf(lines, settings, { force: true })
  const made = await post($, 'compact', body).catch(async error => {
    if (error instanceof Refused || signal?.aborted) throw error
    await startServer($)
    return post($, 'compact', body)
  })
  if (made.record_error) $.ui.log(`kagewasm compacted, and there is nothing to undo: ${made.record_error}`)
  return made.messages
}

const flagsOf = ({ session, window, instructions, reason }) => {
  const flags = ['--format', 'neutral', '--session', session, '--window', String(window)]
  if (instructions) flags.push('--instructions', instructions)
  if (reason) flags.push('--reason', reason)
  return [...flags, ...policy, ...state]
}

// command is what kagewasm's command prints.
const command = async ($, args, lines) => {
  const done = await $.process.run([program, ...args], { stdin: jsonl(lines), timeoutMs: 8000 })
  if (done.exitCode !== 0 || done.isStdoutTruncated) throw new Error(done.stderr || 'its answer is too long')
  return done.stdout
}

// run are the lines as the command compacts them.
const run = async ($, lines, settings) =>
  parse(await command($, ['compact', '-', '--force', '--quiet', ...flagsOf(settings)], lines))

// alone reports whether no server can be asked.
const alone = async $ => socket === '' || Boolean(await $.env.get('CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC'))

// compact are the lines as kagewasm compacts them, by its server where that can be. Nothing more is started where a
// person interrupts it.
const compact = async ($, lines, settings, signal) => {
  if (await alone($)) return run($, lines, settings)
  return served($, lines, settings, signal).catch(error => {
    if (signal?.aborted) throw error
    $.ui.log(`kagewasm's server did not compact, so its command does: ${error.message}`)
    return run($, lines, settings)
  })
}

// ended is what came of the end of a turn: whether a plugin listens, and the compaction that one wants.
const ended = async ($, lines, settings) => {
  const byCommand = async () => JSON.parse(await command($, ['turn-end', '-', ...flagsOf(settings)], lines))
  if (await alone($)) return byCommand()
  return post($, 'turn-end', bodyOf(lines, settings)).catch(async error => {
    const told = await byCommand()
    if (!(error instanceof Refused) && told.listening) await startServer($) // for the next turn
    return told
  })
}

const silence = 300_000 // milliseconds in which nobody is asked again who listens to ends of turns
let silentUntil = 0
let telling // ends when plugins have heard of the last turn
let wanted // the compaction that a plugin or the agent wants, while Claude Code makes it

// turnOver tells plugins that a turn is over, and has Claude Code compact where one of them wants it, by its command: of a
// compaction that a mod starts itself its own hook does not hear.
const turnOver = async $ => {
  if (Date.now() < silentUntil) return
  silentUntil = Date.now() + silence
  const { context } = await $.session.usage()
  const settings = { session: await $.session.id(), window: context.window }
  const told = await ended($, toLines(await $.session.messages()), settings)
  if (told.listening) silentUntil = 0
  if (!['plugin', 'agent'].includes(told.wanted?.reason)) return
  wanted = told.wanted
  const { instructions } = wanted
  await $.command.run({ command: 'compact', args: instructions ?? '' }).finally(() => (wanted = undefined))
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
    const by = e.trigger === 'manual' ? wanted?.reason : undefined
    const reason = e.trigger === 'manual' ? by : 'threshold' // no person asked
    const settings = { session, window: context.window, instructions: e.instructions, reason }
    const left = await compact($, lines, settings, next.signal).catch(error => {
      if (next.signal?.aborted) return
      $.ui.log(`kagewasm did not compact${by ? '' : ', so Claude Code does'}: ${error.message}`)
    })
    if (next.signal?.aborted) return { skip: 'kagewasm: the compaction was interrupted' }
    if (left !== undefined && !same(left, lines)) return { messages: toMessages(left, e.messages) }
    if (by) return { skip: 'kagewasm: a plugin wanted a compaction, and there is nothing to supersede yet' }
    if (left === undefined) return next(e)
    return e.trigger === 'manual' ? { skip: 'kagewasm: there is nothing to supersede yet' } : next(e)
  }).catch(($, e, next) => next(e))

  // A giant result is shortened before it is stored, so that no prompt cache ever holds it.
  on('session.append', ($, e, next) => {
    const most = options.shrinkResultsOver
    if (!(most > 0) || e.door !== 'tool-result' || !Array.isArray(e.message.content)) return next(e)
    return next({ ...e, message: { ...e.message, content: e.message.content.map(block => shortened(block, most)) } })
  }).catch(($, e, next) => next(e))

  // Nobody waits for what plugins do at the end of a turn, but who leaves.
  on('turn.complete', ($, e, next) => {
    if (e.agentId === undefined && e.reason === 'answer') telling = turnOver($).catch(() => {})
    return next(e)
  }).catch(($, e, next) => next(e))

  on('session.end', async ($, e, next) => {
    await telling
    return next(e)
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
